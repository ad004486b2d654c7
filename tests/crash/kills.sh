# Processes that are killed, at every call on a file and at random moments (KILLS of them, 10 unless
# said otherwise): what was there is not lost, what is there is whole, and the next run does all of
# the work and leaves nothing behind.
for name in $commands; do
    interrupt=
    fresh
    act $name env LD_PRELOAD=$SHIM WFRE_SHIM_FAULT=KILL:1000000000 WFRE_SHIM_COUNT=../count >out.txt 2>err
    count=$(cat ../count)
    for ((k = 1 + RANDOM % STRIDE; k <= count; k += STRIDE)); do
        fresh
        { act $name env LD_PRELOAD=$SHIM WFRE_SHIM_FAULT=KILL:$k >out.txt 2>err; } 2>/dev/null
        [ $? -eq 137 ] || broken "$name was not killed at call $k"
        holds "$name killed at call $k" $name
        finishes "$name killed at call $k" $name
        runs=$((runs + 1))
    done
done
report "kills at calls" runs || exit 1

# Signals that ask a process to end: it ends of them, or with 130 and nothing left behind but what
# the next run goes on from; or what it did was done already.
runs=0
for name in $commands; do
    for signal in INT TERM HUP; do
        interrupt=
        fresh
        act $name env LD_PRELOAD=$SHIM WFRE_SHIM_FAULT=$signal:1000000000 WFRE_SHIM_COUNT=../count >out.txt 2>err
        count=$(cat ../count)
        for ((k = 1 + RANDOM % STRIDE; k <= count; k += STRIDE)); do
            fresh
            what="$name with SIG$signal at call $k"
            { act $name env LD_PRELOAD=$SHIM WFRE_SHIM_FAULT=$signal:$k >out.txt 2>err; } 2>/dev/null
            code=$?
            case $code in
            0 | 130) [ -z "$(find . -name '*.tmp-*' -o -name '*.lock')" ] || broken "$what: temporaries are left" ;;
            *) [ $code -eq $((128 + $(kill -l $signal))) ] || broken "$what: exit $code" ;;
            esac
            holds "$what" $name
            finishes "$what" $name
            runs=$((runs + 1))
        done
    done
done
report "signals at calls" runs || exit 1

# Random moments within the time that the command takes here and now.
runs=0
set -- $commands
while [ $runs -lt "${KILLS:-10}" ]; do
    name=$1
    shift
    set -- "$@" $name
    interrupt=
    fresh
    begin=$(date +%s%N)
    act $name >out.txt 2>err
    took=$((($(date +%s%N) - begin) / 1000))
    fresh
    act $name exec >out.txt 2>err & # exec: it is the command itself that is killed
    process=$!
    moment=$(((RANDOM * 32768 + RANDOM) % took))
    sleep $(printf '%d.%06d' $((moment / 1000000)) $((moment % 1000000)))
    { kill -9 $process && runs=$((runs + 1)); wait $process; } 2>/dev/null
    holds "$name killed after $moment us" $name
    finishes "$name killed after $moment us" $name
done
report "kills at random moments" runs
