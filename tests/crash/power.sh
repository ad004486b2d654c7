# The power goes: what each command did to its files is recorded, and every state that a disk may
# then be in is made and looked at. The next run finds the old or the new files, and does its work;
# after the command ended, they are the new ones.
total=0
for name in $commands; do
    interrupt=
    [ $name = partial ] && find_interrupt
    fresh
    act $name env LD_PRELOAD=$SHIM WFRE_SHIM_RECORD=../record >out.txt 2>err
    code=$?
    [ $code -eq 0 ] || [ $name$code = partial130 ] || broken "$name failed"
    cd "$folder" && rm -rf states && mkdir states
    made=$("$POWERLOSS" world record states) || { broken "$name: cannot replay"; continue; }
    total=$((total + ${made% *}))
    number=$((RANDOM % STRIDE))
    for state in states/*; do
        [ $((number++ % STRIDE)) -eq 0 ] || [ $state != ${state%.end} ] || continue
        cd "$folder"
        rm -rf run
        cp -r $state run
        cp -r world/betae run/
        cd run
        holds "$name without power ($state)" $name
        [ $state = ${state%.end} ] || for file in $(exact $name); do
            cmp -s $file "$folder/new/$name/$file" || broken "$name had ended ($state), and $file is not the new one"
        done
        finishes "$name without power ($state)" $name
        runs=$((runs + 1))
    done
done
echo "$total states of the disk, some the same"
report "different states" "looked at"
