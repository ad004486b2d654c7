#!/bin/bash
# mutate.sh N [SEED [PATTERN]]: N mutated files of every format through every command that reads it.
# WFRE names the program, MUTATE the program of mutate.c, which says what counts; builds with
# sanitizers show most. Formats whose names do not match PATTERN are left out. Mutated files that
# broke something are kept in the folder KEEP, if that is set.
set -u
: "${WFRE:?is not set: name the wfre program}" "${MUTATE:?is not set: name the mutate program}"
here=$(cd "$(dirname "$0")" && pwd)
shm=/dev/shm && [ -w $shm ] || shm=${TMPDIR:-/tmp} # in memory, since every output is synced
folder=$(mktemp -d -p $shm) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export LC_ALL=C.UTF-8 WFRE_PROGRESS=never ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:quarantine_size_mb=16 \
    UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1

# ---- the whole files ------------------------------------------------------------------------------

small="--dim 10 --bases 1 --batch 4 --negatives 2 --validate 0 --calibrate 0 -j 1"
make_graphs() {
    awk 'BEGIN { for (i = 0; i < 20; i++) for (r = 0; r < 2; r++)
        printf "e%d\tr%d\te%d\n", i, r, (i * (r + 1) + r) % 20 }' >t.tsv
    gzip -kn t.tsv
    tr '\t' ',' <t.tsv | sed '1i head,relation,tail\n"a ""b""",r0,"c,d"' >t.csv
    awk '{ printf "<http://x/%s> <http://x/%s> <http://x/%s> .\n", $1, $2, $3 }
        NR % 5 == 0 { printf "<http://x/%s> <http://x/p> \"%d\"^^<http://x/t> .\n", $1, NR }' t.tsv >t.nt
    gzip -kn t.nt
    sed 's/ \.$/ <http:\/\/x\/g> ./' t.nt >t.nq
    {
        echo '@prefix x: <http://x/> .'
        echo '@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .'
        echo 'x:e1 rdfs:label "one", "eins"@de ; x:p 12, 1.5, true, "\u00e9\n" ; x:q [ x:p (1 2) ] .'
        awk '{ printf "x:%s x:%s x:%s .\n", $1, $2, $3 }' t.tsv
    } >t.ttl
    { echo '@prefix x: <http://x/> . x:g {'; tail -n +4 t.ttl; echo '}'; } >t.trig
    printf 'e1\tone\ta number\ne2\ttwo\n' >labels.tsv
    "$WFRE" import t.tsv -o g.kg --holdout 0.2 --labels labels.tsv &&
        "$WFRE" import t.ttl -o r.kg && cp "$here/data/old/g.kg" old.kg &&
        cp "$here/data/version1.snapshot" one.kg && cp "$here/data/old/m.safetensors" old.safetensors
}
make_models() {
    "$WFRE" train g.kg -o m.safetensors $small --steps 2 &&
        "$WFRE" sample g.kg -o q.tsv --types 1p,2p,2in --count 2 --protocol strict &&
        "$WFRE" export m.safetensors -o b.safetensors --bf16 || return 1
    awk -F'\t' '!/^#/ { for (e = 0; e < 3; e++) printf "%d\t%d\t%d.5\n", n, e, e; n++ }' q.tsv >s.tsv
    "$MUTATE" written train g.kg -o c.safetensors $small --steps 3 --checkpoint 0.000001s
    cp c.checkpoint s.checkpoint && cp m.log.jsonl l.jsonl || return 1
    printf 'n1\tr0\te1\ne2\tr1\tn1\n' >new.tsv
    "$WFRE" sweep g.kg q.tsv -o sweep --seeds 1 --steps 1 --set dim=10 --set bases=1 --set batch=4 \
        --set negatives=2 --set lift=no --set edges=no -j 1 || return 1
    cp sweep/settings.txt settings.txt && cp sweep/*.standings one.standings
    mkdir swept && cp -r sweep/* swept
    "$MUTATE" interrupted eval g.kg m.safetensors q.tsv --exhaustive -j 1
    partial=$(echo m.safetensors.*.partial) && cp "$partial" p.partial
}
make_folders() {
    mkdir wordnet
    cat >wordnet/data.noun <<'END'
00000001 03 n 01 animal 0 001 ~ 00000002 n 0000 | a living organism
00000002 03 n 02 Dog 0 domestic_dog 0 001 @ 00000001 n 0000 | a canine
END
    printf '%s\n' 'animal n 1 1 ~ 1 1 00000001  ' 'dog n 1 1 @ 1 1 00000002  ' \
        'domestic_dog n 1 1 @ 1 0 00000002  ' >wordnet/index.noun
    for part in verb adj adv; do
        : >wordnet/data.$part
        : >wordnet/index.$part
    done
    cp -r wordnet xwordnet && cp -r "$here/data/family-betae" betae && cp -r betae xbetae
    cp "$here/fuzz/corpus/torch/plain" plain.ckpt && cp "$here/fuzz/corpus/torch/half" half.ckpt
    printf '%s\t%s\t%s\n' 0 a 1 2 b 3 4 c 5 6 a 7 8 b 9 >ten.tsv
    "$WFRE" import ten.tsv -o ten.kg
    echo '[{"left": [1,0,0,0,0], "right": [0,1,0,0,0]},' \
        '{"left": [0.2,0.4], "right": [0.2,0.4], "block": 2, "radius": 3}]' >cases.json
    echo "?x : r0(?y, ?x) & (r1(e2, ?y) | r1('e3', ?y)) & !r0(e3, ?x)" >logic.txt
    echo '(i,(p,r0,(u,(e,e1),(e,e2))),(n,(p,r1^-1,(e,e3))))' >tree.txt
    cat >query.rq <<'END'
PREFIX x: <http://x/>
SELECT ?s (COUNT(?o) AS ?n) { ?s x:r0/x:r1* ?o OPTIONAL { ?s x:p ?p FILTER(?p > 1 || REGEX(STR(?p), "^a")) } }
GROUP BY ?s HAVING (COUNT(?o) >= 1) ORDER BY DESC(?n) LIMIT 5
END
}
for make in make_graphs make_models make_folders; do
    $make >made 2>&1 || { cat made; exit 1; }
done

# ---- what is done with them -----------------------------------------------------------------------

pattern=${3:-.}
chosen=yes
line() { local IFS=$'\t'; [ $chosen = no ] || echo "$*" >>plan; }
file() { [[ "$*" =~ $pattern ]] && chosen=yes || chosen=no; line file "$@"; }
sealed() { [[ "sealed $*" =~ $pattern ]] && chosen=yes || chosen=no; line sealed "$@"; }
run() { line run "$@"; }
ask='?x : r0(?y, ?x) & r1(e2, ?y) & !r0(e3, ?x)'
select='SELECT * { ?s ?p ?o . OPTIONAL { ?o ?q ?z } } LIMIT 30'

# Snapshots, looked at when they are opened and part by part. What is derived from a snapshot is the
# same or not made.
use_graph() { # CHECK FILE
    local check
    for check in open use; do
        run "$1" WFRE_CHECK=$check ask $2 "$ask" -j 1
        run "$1" WFRE_CHECK=$check ask $2 "$select" --format csv
        run "$1" WFRE_CHECK=$check info $2 --hierarchy --triangles 10 -j 1
        run "$1" WFRE_CHECK=$check export $2 -o y.nt
    done
    run "$1" info $2 --check
    run "$1" ask $2 m.safetensors "$ask" --top 2 -j 1
    run "$1" sample $2 -o - --types 1p,2in --count 2 --protocol strict -j 1
    run "$1" add $2 m.safetensors new.tsv -o y.kg y.safetensors -j 1
    run "$1" eval $2 m.safetensors q.tsv --csv -j 1
    run "$1" train $2 -o y.safetensors $small --steps 1
}
file g.kg x.kg && use_graph same x.kg
sealed g.kg x.kg && use_graph any x.kg
for kind in file sealed; do
    $kind r.kg xr.kg
    [ $kind = file ] && check=same || check=any
    for way in open use; do
        run $check WFRE_CHECK=$way ask xr.kg "$select" --format json
        run $check WFRE_CHECK=$way ask xr.kg --file query.rq --format csv
        run $check WFRE_CHECK=$way export xr.kg -o y.ttl
    done
    run $check info xr.kg --check
done
file old.kg xold.kg
run same ask xold.kg '?x : r0(e3, ?x)'
run same WFRE_CHECK=use ask xold.kg '?x : r0(e3, ?x)'
run any info xold.kg --check
file one.kg xone.kg
run any info xone.kg --check
run any WFRE_CHECK=use ask xone.kg '?x : !(?x = ?x)'

# Models.
use_model() { # CHECK FILE
    run "$1" ask g.kg $2 "$ask" --top 2 -j 1
    run "$1" ask g.kg $2 "$ask" --only predicted --explain --exhaustive -j 1
    run "$1" eval g.kg $2 q.tsv --csv -j 1
    run "$1" eval g.kg $2 q.tsv --by edges --csv -j 1
    run "$1" export $2 -o y.safetensors --bf16 -j 1
    run "$1" add g.kg $2 new.tsv -o y.kg y.safetensors -j 1
    run "$1" train g.kg --from $2 -o y.safetensors --steps 1 --validate 0 --calibrate 0 -j 1
}
file m.safetensors x.safetensors
run refused info --check x.safetensors
use_model same x.safetensors
sealed m.safetensors x.safetensors
run any info --check x.safetensors
use_model any x.safetensors
file b.safetensors xb.safetensors
run refused info --check xb.safetensors
run same ask g.kg xb.safetensors "$ask" --top 2 -j 1
file old.safetensors xold.safetensors
run any info --check xold.safetensors
run any ask old.kg xold.safetensors '?x : r0(e3, ?x)' -j 1

# Unfinished work.
resume() { # CHECK
    line copy c.unfinished.safetensors x.unfinished.safetensors
    line copy l.jsonl x.log.jsonl
    line copy s.checkpoint x.checkpoint
    line remove x.safetensors
    run "$1" train g.kg -o x.safetensors --resume --validate 0 --calibrate 0 -j 1
}
[ -e c.unfinished.safetensors ] || cp m.safetensors c.unfinished.safetensors
file s.checkpoint x.checkpoint && resume refused
sealed s.checkpoint x.checkpoint && resume any
file l.jsonl x.log.jsonl && resume any
run any eval g.kg m.safetensors q.tsv --log x.log.jsonl --report page --bootstrap 2 -j 1
file p.partial "$partial"
run same eval g.kg m.safetensors q.tsv --exhaustive -j 1 --csv
sweep() {
    run "$1" sweep g.kg q.tsv -o swept --seeds 1 --steps 1 --set dim=10 --set bases=1 --set batch=4 \
        --set negatives=2 --set lift=no --set edges=no -j 1 --csv
}
file one.standings "swept/$(cd sweep && echo *.standings)" && sweep same
file settings.txt swept/settings.txt && sweep any

# Query sets, scores, questions.
file q.tsv xq.tsv
run any info xq.tsv
run any eval g.kg m.safetensors xq.tsv --csv -j 1
run any eval g.kg xq.tsv --scores s.tsv --csv -j 1
run any train g.kg -o y.safetensors $small --steps 1 --queries xq.tsv
file s.tsv xs.tsv
run any eval g.kg q.tsv --scores xs.tsv --csv -j 1
file cases.json xcases.json
run any score xcases.json
for text in logic.txt tree.txt; do
    file $text x$text
    run any ask g.kg --timeout 2s '<x'$text -j 1
    run any ask g.kg m.safetensors --file x$text --timeout 2s -j 1
done
file query.rq x.rq
run any ask r.kg --file x.rq --format csv --timeout 2s
run any ask --check --file x.rq

# Sources of a graph. What import takes is a graph that holds.
import() { # CHECK FILE OPTION...
    run "$@"
    run any info --check y.kg
}
for source in t.tsv t.csv t.nt t.nq t.ttl t.trig; do
    file $source x.${source#t.}
    case $source in *.tsv | *.nt) check=lines ;; *) check=any ;; esac
    run $check import x.${source#t.} -o y.kg --json --allow-empty
    run any info --check y.kg
    [ $source = t.tsv ] || run any import x.${source#t.} -o y.kg --literals entities --allow-empty
done
file new.tsv xnew.tsv
run any add g.kg m.safetensors xnew.tsv -o y2.kg y.safetensors -j 1
for source in t.tsv.gz t.nt.gz; do
    file $source x.${source#t.}
    run gzip import x.${source#t.} -o y.kg --allow-empty
done
file labels.tsv xlabels.tsv
run any import t.tsv -o y.kg --labels xlabels.tsv
for name in id2ent.pkl id2rel.pkl train.txt; do
    file betae/$name xbetae/$name
    run any import xbetae -o y.kg
done
for name in valid-queries.pkl valid-easy-answers.pkl valid-hard-answers.pkl; do
    file betae/$name xbetae/$name
    run any queries xbetae -o y.tsv --split valid
    run any queries xbetae --split valid --verify
done
for name in data.noun index.noun; do
    file wordnet/$name xwordnet/$name
    run any import xwordnet -o y.kg
done
for name in plain half; do
    file $name.ckpt x$name.ckpt
    line remove y.safetensors
    run any convert ten.kg x$name.ckpt -o y.safetensors --preset paper-nell
    run same ask ten.kg y.safetensors '?x : a(0, ?x)' --top 10 -j 1
done
"$MUTATE" plan "${1:-20}" "${2:-1}"
