#!/bin/bash
# mutate.sh N [SEED]: N mutated files of every format through every command that reads it, with the
# program that WFRE names (a build with sanitizers shows most). Counts
#
#   crashes   a signal, or a sanitizer's report
#   hangs     more than 5 seconds
#   silent    damage that must be noticed and was not: a file with checksums, or gzip data, that was
#             changed and still gave exit 0 and another output than the whole file
#
# and fails if there is one of them. A mutated file is kept in the folder KEEP, if that is set. Files
# without checksums may become other files that are right; of those only crashes and hangs count.
set -u
: "${WFRE:?is not set: name the wfre program}"
count=${1:-20}
RANDOM=${2:-1}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export LC_ALL=C.UTF-8 WFRE_PROGRESS=never ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 \
    UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1
crashes=0 hangs=0 silent=0 runs=0 refused=0

# ---- the whole files ------------------------------------------------------------------------------

awk 'BEGIN { for (i = 0; i < 20; i++) for (r = 0; r < 2; r++)
    printf "e%d\tr%d\te%d\n", i, r, (i * (r + 1) + r) % 20 }' >t.tsv
gzip -kn t.tsv
awk '{ printf "<http://x/%s> <http://x/%s> <http://x/%s> .\n", $1, $2, $3 }' t.tsv >t.nt
{ echo '@prefix x: <http://x/> .'; awk '{ printf "x:%s x:%s x:%s .\n", $1, $2, $3 }' t.tsv; } >t.ttl
"$WFRE" import t.tsv -o g.kg --holdout 0.2 >/dev/null || exit 1
small="--dim 10 --bases 1 --batch 4 --negatives 2 --validate 0"
"$WFRE" train g.kg -o m.safetensors $small --steps 2 >/dev/null 2>&1 || exit 1
"$WFRE" sample g.kg -o q.tsv --types 1p,2i --queries 2 >/dev/null 2>&1 ||
    "$WFRE" sample g.kg -o q.tsv >/dev/null 2>&1
[ -s q.tsv ] || printf '1p\t(p,#0,(e,#0))\t\t1\n2i\t(i,(p,#0,(e,#1)),(p,#2,(e,#2)))\t\t0\n' >q.tsv
awk -F'\t' '!/^#/ { for (e = 0; e < 3; e++) printf "%d\t%d\t%d.5\n", n, e, e; n++ }' q.tsv >s.tsv
cp -r "$(dirname "${BASH_SOURCE[0]}")/data/family-betae" betae 2>/dev/null ||
    cp -r "$OLDPWD/tests/data/family-betae" betae 2>/dev/null

# ---- mutations ------------------------------------------------------------------------------------

# mutate FROM TO: one to four changes: a byte, a bit, a stretch of zeros, a cut, a copy of a stretch.
mutate() {
    local size at length changes
    cp "$1" "$2"
    size=$(stat -c %s "$1")
    [ "$size" -gt 0 ] || return
    changes=$((1 + RANDOM % 4))
    while [ $((changes--)) -gt 0 ]; do
        at=$(((RANDOM * 32768 + RANDOM) % size))
        length=$((1 + RANDOM % 16))
        case $((RANDOM % 6)) in
        0 | 1 | 2) printf "\\x$(printf %02x $((RANDOM % 256)))" |
            dd of="$2" bs=1 seek=$at conv=notrunc status=none ;;
        3) head -c $length /dev/zero | dd of="$2" bs=1 seek=$at conv=notrunc status=none ;;
        4) truncate -s $at "$2" ;;
        5) dd if="$1" bs=1 skip=$((RANDOM % size)) count=$length status=none |
            dd of="$2" bs=1 seek=$at conv=notrunc status=none ;;
        esac
    done
}

# attempt EXPECTED COMMAND...: EXPECTED is a file with the output of the whole one, or "any".
attempt() {
    local expected=$1 code
    shift
    runs=$((runs + 1))
    timeout -s KILL 5 "$@" >out 2>err </dev/null
    code=$?
    if [ $code -eq 137 ]; then
        hangs=$((hangs + 1)) && echo "hang: $*"
    elif [ $code -ge 128 ] || grep -q 'Sanitizer\|runtime error' err; then
        crashes=$((crashes + 1)) && echo "crash ($code): $*" && head -n 5 err
    elif [ $code -ne 0 ]; then
        refused=$((refused + 1))
        return
    elif [ "$expected" = any ] || sed 's/ in [0-9.]* m\?s//' out | cmp -s - "$expected"; then
        return
    else
        silent=$((silent + 1)) && echo "silent: $*"
    fi
    [ -z "${KEEP:-}" ] || cp "$file" "$KEEP/$runs-$file"
}

# whole NAME COMMAND...: keeps what the command says of the whole file.
whole() {
    local name=$1
    shift
    "$@" 2>/dev/null </dev/null | sed 's/ in [0-9.]* m\?s//' >"$name.expected"
}

ask='?x : r0(?y, ?x) & r1(e2, ?y) & !r0(e3, ?x)'
seal=${SEAL:-} # a program that makes the checksums of a file fit again
whole ask "$WFRE" ask g.kg "$ask"
whole info "$WFRE" info g.kg --hierarchy
whole predict "$WFRE" ask g.kg m.safetensors "$ask" --top 2
whole eval "$WFRE" eval g.kg m.safetensors q.tsv --csv
cp g.kg x.kg && whole infox "$WFRE" info x.kg --hierarchy
for ((i = 0; i < count; i++)); do
    file=x.kg && mutate g.kg x.kg
    attempt ask.expected "$WFRE" ask x.kg "$ask"
    WFRE_CHECK=use attempt ask.expected "$WFRE" ask x.kg "$ask"
    WFRE_CHECK=use attempt infox.expected "$WFRE" info x.kg --hierarchy
    if [ -n "$seal" ] && "$seal" x.kg; then
        for check in open use; do
            WFRE_CHECK=$check attempt any "$WFRE" ask x.kg "$ask"
            WFRE_CHECK=$check attempt any "$WFRE" info x.kg --hierarchy --triangles 10
            WFRE_CHECK=$check attempt any "$WFRE" sample x.kg -o y.tsv --types 1p,2i --queries 2
        done
        attempt any "$WFRE" train x.kg -o y.safetensors $small --steps 1
    fi
    file=x.safetensors && mutate m.safetensors x.safetensors
    attempt predict.expected "$WFRE" ask g.kg x.safetensors "$ask" --top 2
    attempt any "$WFRE" info --check x.safetensors
    cmp -s m.safetensors x.safetensors || ! "$WFRE" info --check x.safetensors >/dev/null 2>&1 ||
        { silent=$((silent + 1)) && echo "silent: info --check x.safetensors"; }
    if [ -n "$seal" ] && "$seal" x.safetensors; then
        attempt any "$WFRE" ask g.kg x.safetensors "$ask" --top 2
        attempt any "$WFRE" eval g.kg x.safetensors q.tsv --csv
        attempt any "$WFRE" export x.safetensors -o y.safetensors
    fi
    file=x.tsv.gz && mutate t.tsv.gz x.tsv.gz
    attempt any "$WFRE" import x.tsv.gz -o y.kg
    if "$WFRE" import x.tsv.gz -o y.kg >/dev/null 2>&1 && ! gzip -tq x.tsv.gz 2>/dev/null &&
        [ "$(head -c 2 x.tsv.gz | od -An -tx1)" = " 1f 8b" ]; then
        silent=$((silent + 1)) && echo "silent: import x.tsv.gz"
    fi
    for format in t.tsv t.nt t.ttl; do
        file=x.${format#t.} && mutate $format "$file"
        attempt any "$WFRE" import "$file" -o y.kg
        [ ! -s y.kg ] || attempt any "$WFRE" info --check y.kg
        rm -f y.kg
    done
    file=xq.tsv && mutate q.tsv xq.tsv
    attempt any "$WFRE" info xq.tsv
    attempt any "$WFRE" eval g.kg m.safetensors xq.tsv --csv
    file=xs.tsv && mutate s.tsv xs.tsv
    attempt any "$WFRE" eval g.kg q.tsv --scores xs.tsv --csv
    if [ -d betae ]; then
        rm -rf xbetae && cp -r betae xbetae
        for name in betae/*.pkl; do
            [ $((RANDOM % 2)) = 0 ] || mutate "$name" "x$name"
        done
        file=xbetae/id2ent.pkl
        attempt any "$WFRE" import xbetae -o y.kg
        attempt any "$WFRE" queries xbetae -o y.tsv --split valid
    fi
done
echo "$runs runs on mutated files: $refused refused, $crashes crashes, $hangs hangs, $silent silent"
[ $((crashes + hangs + silent)) -eq 0 ]
