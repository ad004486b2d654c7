#!/bin/bash
# Runs tests/cli/NAME.sh in an empty folder and compares what it prints (standard output and error)
# with NAME.out. `update NAME` writes NAME.out anew; read the difference before committing it.
# Times that a command took stand there as T: they are never the same twice.
set -u
: "${WFRE:?is not set: name the wfre program}"
here=$(cd "$(dirname "$0")" && pwd)
update=no
[ "${1:-}" = update ] && { update=yes; shift; }
name=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export LC_ALL=C.UTF-8 WFRE_PROGRESS=never HERE=$here PATH="$(dirname "$WFRE"):$PATH"

# show COMMAND...: prints the command line, its output and its exit code.
show() {
    echo "\$ $*"
    "$@"
    local code=$?
    [ $code -eq 0 ] || echo "[exit $code]"
}
export -f show

# Signals are as usual even if whoever runs the tests ignores some, as nohup does.
(cd "$folder" && env --default-signal=HUP,INT,TERM,PIPE bash "$here/$name.sh") >"$folder.out" 2>&1 </dev/null
code=$?
[ $code -eq 77 ] && { cat "$folder.out"; rm -f "$folder.out"; exit 77; }
[ $code -eq 0 ] || echo "[script exit $code]" >>"$folder.out"
sed -E -i 's/( in )[0-9.]+ (ms|s)\b/\1T \2/; s/("seconds": ?)[0-9.e+-]+/\1T/g' "$folder.out"
if [ $update = yes ]; then
    mv "$folder.out" "$here/$name.out"
    exit 0
fi
diff -u "$here/$name.out" "$folder.out"
code=$?
rm -f "$folder.out"
exit $code
