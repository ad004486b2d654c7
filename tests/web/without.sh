#!/bin/sh
# Without node the program is built all the same, and says what is missing.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
for tool in cat sh mkdir cksum; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
PATH="$work/bin" "$1/web/build.sh" "$1/web" "$work/out" "$work/none.c" no 2>"$work/said"
grep -q 'not built: node is not installed' "$work/said"
grep -q 'wfre_web_asset_count = 0' "$work/none.c"
grep -q 'built without its page: node is not installed' "$work/none.c"
cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$1/web" -c "$work/none.c" -o "$work/none.o"
# Where it is required, the build fails instead.
! PATH="$work/bin" "$1/web/build.sh" "$1/web" "$work/out" "$work/none.c" yes 2>/dev/null
