#!/bin/sh
# Every source file is formatted as .clang-format says.
cd "$1" || exit 1
command -v clang-format >/dev/null || { echo "clang-format is not installed"; exit 77; }
find include src cli serve tests examples -name '*.[ch]' -print0 |
    xargs -0 clang-format --dry-run --Werror
