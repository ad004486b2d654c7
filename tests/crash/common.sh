# What the scripts of this folder share: small inputs, the commands that write, and what must hold
# after any of them was cut off.
#
# Reports and sweeps go to the folder $where. world/ has the inputs, and outputs of an older run; new/NAME/ what command NAME makes of them.

commands="import sample queries train export add eval partial sweep predict resume"
small="--dim 20 --bases 3 --batch 16 --negatives 8 --validate 1 --calibrate 0"

# The command NAME, in a copy of world/. Training goes on where it stopped, as a user would let it.
# The words before it, such as an environment, are the caller's.
act() {
    local name=$1 resume=
    shift
    [ -f out.checkpoint ] && resume=--resume
    case $name in
    import) "$@" wfre import ring.tsv -o out.kg ;;
    sample) "$@" wfre sample ring.kg -o out.tsv --types 1p,2p --count 3 ;;
    queries) "$@" wfre queries betae -o out.tsv ;;
    train) "$@" wfre train ring.kg -o out.safetensors $small --steps 4 --checkpoint 0.00001s -j 1 $resume ;;
    export) "$@" wfre export m.safetensors -o out.safetensors --bf16 ;;
    add) "$@" wfre add ring.kg m.safetensors new.tsv -o out.kg out.safetensors -j 1 ;;
    eval) "$@" wfre eval ring.kg m.safetensors q.tsv --report $where --bootstrap 10 -j 1 ;;
    partial) WFRE_SHIM_INT=${interrupt:-0} "$@" wfre eval ring.kg m.safetensors q.tsv --bootstrap 10 -j 1 ;;
    sweep) "$@" wfre sweep ring.kg q.tsv -o $where --steps 2 --seeds 1 --set dim=20 --set bases=3 --set batch=16 --set lift=no --set edges=no -j 1 ;;
    predict) "$@" wfre predict ring.kg m.safetensors --all -o out.nt -j 1 ;;
    resume) "$@" wfre predict ring.kg m.safetensors --all -o kept.nt -j 1 ;;
    esac
}

# The files of NAME that have the same bytes whenever they are whole.
exact() {
    case $1 in
    import) echo out.kg ;;
    sample | queries) echo out.tsv ;;
    train | export) echo out.safetensors ;;
    add) echo out.kg out.safetensors ;;
    eval) echo $where/results.csv ;;
    partial) ;;
    sweep) echo $where/settings.txt $where/base-seed1.safetensors $where/sweep.csv ;;
    predict) echo out.nt ;;
    resume) echo kept.nt ;;
    esac
}

# Leaves a prediction of which a part of the relations is done.
stop_within() {
    for ((stop = 1; stop < 1000; stop++)); do
        act resume env LD_PRELOAD=$SHIM WFRE_SHIM_INT=$stop 2>&1 | grep -q '; [12] of 3 .* kept' && return
        rm -f kept.nt*
    done
    return 1
}

make_world() {
    mkdir world new
    cp -r "$here/../data/family-betae" world/betae
    (
        cd world
        awk 'BEGIN { for (i = 0; i < 30; i++) for (r = 0; r < 3; r++) printf "e%d\tr%d\te%d\n", i, r, (i * (r + 1) + r) % 30 }' >ring.tsv
        printf 'n1\tr0\te1\ne2\tr1\tn1\n' >new.tsv
        wfre import ring.tsv -o ring.kg --holdout 0.2
        wfre sample ring.kg -o q.tsv --types 1p,2p,2i --count 4
        wfre train ring.kg -o m.safetensors $small --steps 3
        head -n 50 ring.tsv >part.tsv
        wfre import part.tsv -o out.kg
        wfre sample ring.kg -o out.tsv --types 1p --count 1
        wfre train ring.kg -o out.safetensors $small --steps 1
        rm out.log.jsonl out.curve.svg m.log.jsonl m.curve.svg
        wfre predict ring.kg m.safetensors --relation r0 -o out.nt
        stop_within
    ) >/dev/null 2>made || { cat made; exit 1; }
    for name in $commands; do
        cp -r world "new/$name"
        (cd "new/$name" && interrupt= act $name) >made 2>&1 || { cat made; exit 1; }
    done
}

runs=0 failures=0
# Says what was broken.
broken() {
    failures=$((failures + 1))
    echo "BROKEN: $*"
    [ -s "$folder/run/err" ] && head -n 3 "$folder/run/err"
}

# A fresh copy of world/ to work in.
fresh() {
    cd "$folder" || exit 1
    rm -rf run
    cp -r world run
    cd run || exit 1
}

# holds WHAT NAME: every exact output is as it was before or as the command makes it.
holds() {
    local file
    for file in $(exact $2); do
        if [ -e "$file" ]; then
            cmp -s "$file" "$folder/new/$2/$file" || cmp -s "$file" "$folder/world/$file" ||
                broken "$1: $file is neither the old nor the new one"
        elif [ -e "$folder/world/$file" ]; then
            broken "$1: $file is lost"
        fi
    done
}

# finishes WHAT NAME: the same command again does all of it, and leaves nothing behind.
finishes() {
    local file code
    interrupt= act $2 >out.txt 2>err
    code=$?
    [ $code -eq 0 ] || broken "$1: the next run ends with $code"
    for file in $(exact $2); do
        cmp -s "$file" "$folder/new/$2/$file" || broken "$1: the next run makes another $file"
        [ ! -e $file.part ] && [ ! -e $file.progress ] || broken "$1: $file and its parts are left"
    done
    file=$(find . -name '*.tmp-*' -o -name '*.lock' -o -name '*.unfinished.*' -o -name '*.partial' \
        -o -name '*.checkpoint')
    [ -z "$file" ] || broken "$1: left behind:" $file
}

# Sets `interrupt` to a call at which Ctrl-C lets `partial` keep its work.
find_interrupt() {
    for ((interrupt = 1; interrupt < 1000; interrupt++)); do
        fresh
        act partial env LD_PRELOAD=$SHIM >out.txt 2>err
        grep -q 'the same command goes on' err && break
    done 2>/dev/null
    interrupt=$((interrupt + 1)) # a call that is made again comes before it
}

report() {
    echo "$1: $runs $2, $failures broken promises"
    [ $failures -eq 0 ] && [ $runs -gt 0 ]
}

make_world
