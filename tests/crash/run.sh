#!/bin/bash
# run.sh NAME: runs NAME.sh in an empty folder. It prints what it counted, and fails if a promise of
# docs/RELIABILITY.md was broken. STRIDE (default 20) says how many of the cases are taken: one
# of so many, from a random one on.
set -u
: "${WFRE:?is not set: name the wfre program}" "${SHIM:?}" "${POWERLOSS:?}"
here=$(cd "$(dirname "$0")" && pwd)
if ldd "$WFRE" | grep -qE 'lib(a|t)san'; then
    echo "skipped: a sanitizer must come first, and so must the library that makes calls fail"
    exit 77
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
where=out
[ "$1" = power ] && where=. # powerloss.c knows one folder
export LC_ALL=C.UTF-8 WFRE_PROGRESS=never STRIDE=${STRIDE:-20} PATH="$(dirname "$WFRE"):$PATH"
[ "${SEED:=$RANDOM}" ] && RANDOM=$SEED && echo "seed $SEED"
cd "$folder" && . "$here/common.sh" && . "$here/$1.sh" </dev/null
