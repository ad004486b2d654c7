# Every call on a file fails once, for every command that writes: with EIO or ENOSPC, or from one
# call on as on a full disk. Then the command ends with 1 and one line, or it did without, and its
# outputs are the old or the new ones. Interrupted and partial calls make no difference.

# judge NAME FAULT:K CODE
judge() {
    local wanted=0 lines
    [ $1 = partial ] && wanted=130
    lines=$(grep -c '^wfre: ' err)
    case $2 in
    EINTR:* | SHORT:*) [ $3 -eq $wanted ] || broken "$1 with $2: exit $3 instead of $wanted" ;;
    *) [ $3 -eq $wanted ] || [ $3 -eq 1 ] || broken "$1 with $2: exit $3" ;;
    esac
    [ $3 -eq 0 ] || [ $lines -eq 1 ] || broken "$1 with $2: $lines messages"
    if [ $3 -eq $wanted ] && [ $wanted -eq 0 ]; then
        for file in $(exact $1); do
            cmp -s $file "$folder/new/$1/$file" || broken "$1 with $2: exit 0, but $file is not the new one"
        done
    fi
    holds "$1 with $2" $1
    find . -name '*.tmp-*' >left
    # A failing unlink leaves its temporary to the next run; nothing else does.
    [ ! -s left ] || case $2 in EIO:*) finishes "$1 with $2" $1 ;; *) broken "$1 with $2: left" $(cat left) ;; esac
}

for name in $commands; do
    interrupt=
    [ $name = partial ] && find_interrupt
    for fault in EIO ENOSPC FULL EINTR SHORT; do
        fresh
        act $name env LD_PRELOAD=$SHIM WFRE_SHIM_FAULT=$fault:1000000000 WFRE_SHIM_COUNT=../count >out.txt 2>err
        count=$(cat ../count)
        [ $count -gt 0 ] || broken "$name makes no calls that can fail with $fault"
        for ((k = 1 + RANDOM % STRIDE; k <= count; k += STRIDE)); do
            fresh
            act $name env LD_PRELOAD=$SHIM WFRE_SHIM_FAULT=$fault:$k timeout 60 >out.txt 2>err
            judge $name $fault:$k $?
            runs=$((runs + 1))
        done
    done
done
report "failing calls" runs
