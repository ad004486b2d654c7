#!/bin/bash
# A new user's walk: what README.md and docs/TUTORIAL.md say, command by command, and a session at the prompt, on three
# graphs (RDF with literals and odd names, TSV, WordNet). Every command must do what is said. Trainings are cut to a
# moment, so what is predicted, and how likely, is not compared; what is proven is, word by word.
set -u
: "${WFRE:?is not set: name the wfre program}" "${WFRE_SOURCE:?is not set: name the folder of the sources}"
export PATH="$(dirname "$WFRE"):$PATH" LC_ALL=C.UTF-8 WFRE_PROGRESS=never TERM=dumb
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export HOME=$folder
cd "$folder" || exit 1
steps=0 failures=0
short='--steps 20 --dim 20 --bases 3 --batch 32 --negatives 16 --validate 2 --calibrate 6'
tiny='--steps 2 --dim 10 --bases 2 --batch 16 --negatives 8 --validate 0 --calibrate 0'

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
# step 'WHAT MUST BE IN THE OUTPUT' COMMAND...: runs it; its exit code must be 0.
step() {
    steps=$((steps + 1))
    local wanted=$1 output code
    shift
    output=$("$@" 2>&1 </dev/null)
    code=$?
    [ $code -eq 0 ] || { fail "exit $code: $*"; echo "$output" | tail -n 5; return; }
    grep -qE -- "$wanted" <<<"$output" || { fail "no '$wanted' in: $*"; echo "$output" | head -n 8; }
}
# refuse 'WHAT THE MESSAGE SAYS' COMMAND...: a mistake gets a message that helps, and no success.
refuse() {
    steps=$((steps + 1))
    local wanted=$1 output
    shift
    output=$("$@" 2>&1 </dev/null) && fail "no failure: $*"
    grep -qE -- "$wanted" <<<"$output" || { fail "no '$wanted' in: $*"; echo "$output" | head -n 8; }
}

# ---- the tutorial: all of its commands in order ---------------------------------------------------------------------
# Lines that begin with "    $ " are commands, those behind them their output; ```sh blocks are typed as they are.
mkdir tutorial && cd tutorial || exit 1
awk '/^```sh/ { code = 1; next } /^```/ { if (code) print "@@end"; code = 0; next }
    code { print "@@" $0; next }
    /^    \$ / { print "$$" substr($0, 7); next } /^    / { print ">>" substr($0, 5); next } { print "--" }' \
    "$WFRE_SOURCE/docs/TUTORIAL.md" >lines
commands=0 block='' command='' expected=''
# Compares what is proven with the document; times and what models say are not compared.
mask() { sed -E 's/ in [0-9.]+ (ms|s)\b/ in T/; s/fitted in [0-9.]+ s/fitted in T/'; }
run_command() {
    [ -n "$command" ] || return
    commands=$((commands + 1)) steps=$((steps + 1))
    local real output code compare=yes
    real=$(sed -E "s/--steps 3000/$short/" <<<"$command")
    [[ $command == *.safetensors* || $command == *"wfre train"* ]] && compare=no
    output=$(eval "$real" 2>&1 </dev/null)
    code=$?
    [ $code -eq 0 ] || { fail "tutorial, exit $code: $real"; echo "$output" | tail -n 5; }
    if [ $compare = yes ] && [ -n "$expected" ]; then
        diff <(printf '%s' "$expected" | mask) <(printf '%s\n' "$output" | mask) || fail "tutorial: another output of $command"
    fi
    command='' expected=''
}
while IFS= read -r line; do
    case $line in
    '@@end') run_command; eval "$block" || fail "tutorial: $block"; block='' ;;
    '@@'*) block+="${line#@@}"$'\n' ;;
    '$$'*) run_command; command=${line#'$$'} ;;
    '>>'*) expected+="${line#>>}"$'\n' ;;
    *) run_command ;;
    esac
done <lines
run_command
[ $commands -ge 15 ] || fail "the tutorial has only $commands commands"
cd ..

# ---- README: your own file in four commands, on RDF with literals and odd names -------------------------------------
mkdir own && cd own || exit 1
{
    echo '@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .'
    for i in $(seq 0 39); do
        echo ":a$i :likes :b$((i % 7)) , :b$((i * 3 % 7)) ; :age $((20 + i)) ; rdfs:label \"Anna $i\" ; :note \"says \\\"hi\\\"\\n\"@en ."
        echo ":b$((i % 7)) :made_by :a$i ."
    done
    echo ':Zo%C3%AB :likes :b1 . :x rdfs:label "Zoë, (the) \"Great\" & co" ; :likes :b2 . [] :likes :b3 .'
    echo '<http://example.org/o!dd,name(1)> :likes :b4 ; :made_by :x .'
} >my.ttl
readme=$(sed -n '/^## Your own file/,/^## How good/s/^    \(wfre .*\)/\1/p' "$WFRE_SOURCE/README.md" | sed 's/ *#.*//')
[ "$(wc -l <<<"$readme")" -eq 4 ] || fail "README has not four commands: $readme"
while IFS= read -r line; do
    steps=$((steps + 1))
    case $line in
    *'wfre ask my.kg my.safetensors') line="echo '?x : likes(?x, b1)' | $line" ;;
    esac
    line=$(sed -E "s/--time 10m/$short/; s/--min-probability 0.5/--min-probability 0.01/" <<<"$line")
    eval "$line" >out 2>&1 </dev/null || { fail "README: $line"; cat out; }
done <<<"$readme"
[ -s new.nt ] || fail "README: nothing was predicted"
step 'triples' wfre import new.nt -o new.kg
# The commands that are named in passing exist, and so do all files that are linked to.
for name in $(grep -oE '`wfre [a-z]+' "$WFRE_SOURCE/README.md" | sed 's/.* //' | sort -u); do
    step "usage: wfre $name" wfre "$name" --help
done
(cd "$WFRE_SOURCE" && for file in README.md docs/TUTORIAL.md docs/QUERIES.md docs/RESEARCH.md; do
    grep -oE '\]\([^)#:]+' "$file" | sed 's/](//' | while read -r link; do
        [ -e "$(dirname "$file")/$link" ] || echo "$file: no $link"
    done
done) >missing
[ -s missing ] && fail "links: $(cat missing)"
# Odd names are found, asked for and described, however they are typed.
step 'Zoë, \(the\)' wfre find my.kg great
step 'proven' wfre ask my.kg 'likes("zoë, (the) \"great\" & co", b2)'
step 'proven' wfre ask my.kg 'likes(Zoë, b1)'
step 'proven' wfre ask my.kg 'likes("o!dd,name(1)", b4)'
step 'age: 24' wfre ask my.kg 'describe anna 4'
step 'says "hi"' wfre ask my.kg 'describe "Anna 4"'
step '^ *[0-9]+  predicted' wfre ask my.kg my.safetensors 'describe Anna 4'
step '^ *1  ' wfre ask my.kg my.safetensors 'near Anna 4'
step '^[0-9]+$' wfre ask my.kg 'count ?x : likes(?x, b1)'
step '^ *[0-9]+  b' wfre ask my.kg '?b, count ?x : likes(?x, ?b)'
step 'likes' wfre ask my.kg '?r("Anna 1", b1)'
step '2[0-9]' wfre ask my.kg 'SELECT ?age { ?x rdfs:label "Anna 4" ; <http://example.org/age> ?age }'
step 'attributes' wfre info my.kg
step 'MRR' wfre eval my.kg my.safetensors
refuse 'nearest' wfre ask my.kg 'likes(Anna, b1)'
refuse 'no relation is called lkes; the nearest: .*likes' wfre ask my.kg '?x : lkes(?x, b1)'
refuse 'describe Anna 4 +says all' wfre ask my.kg 'Anna 4'
refuse 'written like' wfre ask my.kg 'who likes b1'
refuse 'wfre import --help' wfre import
refuse 'cannot open' wfre ask nothing.kg '?x : likes(?x, b1)'
refuse 'ends with .safetensors' wfre ask my.kg my.model '?x : likes(?x, b1)'
cd ..

# ---- a TSV file -----------------------------------------------------------------------------------------------------
mkdir tsv && cd tsv || exit 1
awk 'BEGIN { for (i = 0; i < 40; i++) { printf "film %d\tdirected by\tperson %d\n", i, i % 8; printf "film %d\tgenre\t%s\n", i, i % 3 ? "Drama" : "Sci-Fi" } }' >films.tsv
step '50 entities, 2 relations' wfre import films.tsv -o films.kg --holdout 0.1
step 'steps' wfre train films.kg $short
step '14' wfre ask films.kg 'count ?x : genre(?x, sci-fi)'
step 'film 0  \|  person 0' wfre ask films.kg '?f, ?p : "directed by"(?f, ?p) & genre(?f, Sci-Fi)'
step '^ *1  predicted' wfre ask films.kg films.safetensors '?f : "directed by"(?f, "person 1") & !genre(?f, Drama)' --only predicted
step 'predicted|proven' wfre ask films.kg films.safetensors '"directed by"("film 1", "person 2")'
step 'film 12' wfre find films.kg 'ILM 12'
step 'triples of 1 relation' wfre predict films.kg films.safetensors --relation genre -o new.tsv
step 'film' cat new.tsv
printf 'genre("film 1", Drama)\ngenre(nothing, Drama)\ncount ?x : genre(?x, Drama)\n' |
    wfre ask films.kg --json 2>/dev/null >objects
steps=$((steps + 1))
[ "$(wc -l <objects)" = 3 ] && grep -q '"error"' objects || fail "three questions, three objects: $(cat objects)"
cd ..

# ---- WordNet --------------------------------------------------------------------------------------------------------
mkdir wordnet && cd wordnet || exit 1
if [ -d /usr/share/wordnet ]; then
    step '117,659 entities' wfre import /usr/share/wordnet -o wordnet.kg --holdout 0.1
    step 'dog\.n\.01' wfre find wordnet.kg dog --top 5
    step 'clavichord' wfre ask wordnet.kg '?x : hypernym(?x, stringed_instrument.n.01) & !(exists ?part. has_part(?x, ?part))'
    step 'hypernym' wfre ask wordnet.kg 'describe dog.n.01'
    step '^2 steps|2 steps' wfre train wordnet.kg $tiny
    step '^ *1  predicted' wfre ask wordnet.kg wordnet.safetensors '?x : hypernym(?x, dog.n.01)' --only predicted --top 3
    step '^ *3  ' wfre ask wordnet.kg wordnet.safetensors 'near dog.n.01' --top 3
else
    echo "WordNet is not installed: that part is left out"
fi
cd ..

# ---- the prompt -----------------------------------------------------------------------------------------------------
# Somebody types these lines, tabs included, and sees what must be seen.
if command -v script >/dev/null; then
    cd own || exit 1
    {
        sleep 0.5
        for line in 'help' '?x : li\t(?x, b1\t)' 'set top 2' '?x : likes(?x, b1)' 'describe anna 4' 'find zo' 'nonsense(' 'count ?x : likes(?x, ?y)' quit; do
            printf "$line\n"
            sleep 0.2
        done
    } | script -qec "wfre ask my.kg my.safetensors" /dev/null >seen 2>&1
    for wanted in 'all about one, and what is missing' 'shown: 2 of 12 known ones; set top all shows all' 'age: 24' \
        'Zoë' 'no relation is called nonsense' 'counted on the whole graph'; do
        steps=$((steps + 1))
        grep -qF -- "$wanted" seen || { fail "the prompt does not show '$wanted'"; cat seen | head -n 60; }
    done
    cd ..
else
    echo "there is no script to make a terminal: the prompt is left out"
fi
echo "$steps steps, $failures failed"
[ $failures -eq 0 ]
