# What signals do: HUP as TERM, PIPE ends output only, XFSZ is a full disk, BUS has a message.
awk 'BEGIN { for (i = 0; i < 60; i++) for (r = 0; r < 4; r++) printf "e%d\tr%d\te%d\n", i, r, (i * (r + 1) + r) % 60 }' >ring.tsv
wfre import ring.tsv -o ring.kg --holdout 0.1 >/dev/null 2>&1
recipe="--dim 40 --bases 4 --batch 32 --negatives 64 --validate 0 --calibrate 0 --checkpoint 0.05s"

# begin NAME: trains for ever in the background, until it has a checkpoint. Job control lets the
# signals be as they are for a command that somebody types.
set -m
begin() {
    wfre train ring.kg -o $1.safetensors $recipe --steps 1000000000 >/dev/null 2>$1.err &
    process=$!
    while [ ! -f $1.checkpoint ]; do sleep 0.02; done
}

# No file but these is left of NAME.
left() { ls | grep "^$1\." | grep -v '\.err$' | tr '\n' ' '; echo; }

for signal in HUP TERM INT; do
    begin $signal
    kill -$signal $process
    wait $process
    echo "$signal: exit $?"
    sed -E 's/step [0-9]+/step N/' $signal.err
    left $signal
    wfre train ring.kg -o $signal.safetensors --resume --steps 1 --validate 0 --calibrate 0 >/dev/null 2>&1 || echo "cannot resume"
    left $signal
done
# nohup stays nohup.
(trap '' HUP; begin nohup; kill -HUP $process; sleep 0.2; kill -0 $process && echo "still there"; kill $process; wait $process)

# Nobody reads: training goes on to its end.
wfre train ring.kg -o pipe.safetensors $recipe --steps 20 2>&1 | true
wfre info pipe.safetensors >/dev/null && left pipe
wfre train ring.kg -o whole.safetensors $recipe --steps 20 >/dev/null 2>&1
cmp pipe.safetensors whole.safetensors
# once LOG: says so if a step stands in a log twice, or out of order.
once() { awk -F'[:,]' '/"loss"/ { if ($2 + 0 <= last) print "step " $2 " again"; last = $2 + 0 } END { if (!last) print "no steps" }' $1; }
# Nor does it matter when nobody reads any more: from the first message on (there is nothing to
# resume), or in the middle of a run, whose first line of progress comes after five seconds.
mkfifo unread
: <unread &
wfre train ring.kg -o first.safetensors $recipe --steps 20 --resume >unread 2>&1
echo "exit $?"
left first
cmp first.safetensors whole.safetensors
once first.log.jsonl
: <unread &
WFRE_PROGRESS= wfre train ring.kg -o later.safetensors $recipe --steps 4000 >unread 2>&1 &
process=$!
while [ ! -f later.checkpoint ]; do sleep 0.02; done
kill -STOP $process
sleep 5.1
kill -CONT $process
for i in 1 2; do # two more checkpoints, each a new file
    file=$(stat -c %i later.checkpoint)
    while kill -0 $process && [ "$file" = "$(stat -c %i later.checkpoint)" ]; do sleep 0.02; done
done
kill -TERM $process
wait $process
echo "exit $?"
left later
wfre train ring.kg -o later.safetensors --resume --steps 1 --validate 0 --calibrate 0 >/dev/null 2>&1 || echo "cannot resume"
left later
once later.log.jsonl
# Other commands end as soon as they notice, and say nothing.
(for i in $(seq 20000); do echo '?x : r0(?x, ?y)'; done | wfre ask ring.kg; echo "exit $?" >code) 2>&1 | head -n 1
cat code
wfre info ring.kg >/dev/full
echo "exit $?"

# A file size limit is a full disk, and leaves no halves behind.
(ulimit -f 8; wfre train ring.kg -o limit.safetensors $recipe --steps 1000000000 2>&1; echo "exit $?")
left limit
(ulimit -f 8; wfre import ring.tsv -o limit.kg 2>&1; echo "exit $?")
left limit | sed 's/limit\.[cls][a-z.]* //g'
wfre train ring.kg -o full.safetensors $recipe --steps 20 >/dev/full
echo "exit $?"
left full

# A small snapshot may even be cut short while it is open.
mkfifo questions
wfre ask ring.kg <questions >answers 2>/dev/null &
exec 9>questions
echo '?x : r0(e1, ?x)' >&9
while [ ! -s answers ]; do sleep 0.02; done
cp ring.kg kept.kg
truncate -s 100 ring.kg
echo '?x : r1(e2, ?x)' >&9
exec 9>&-
wait $! && cat answers
mv kept.kg ring.kg
# One that is mapped, as large ones are, is not trusted any more when it was changed in place; cut
# short within a question, it ends the program with a message.
export WFRE_PRIVATE=0
cp ring.kg mapped.kg
wfre ask mapped.kg <questions >more 2>err &
exec 9>questions
echo '?x : r0(e1, ?x)' >&9
while [ ! -s more ]; do sleep 0.02; done
truncate -s 100 mapped.kg
echo '?x : r1(e2, ?x)' >&9
exec 9>&-
wait $!
echo "exit $?"
tail -n 1 err
(while :; do cp ring.kg mapped.kg; truncate -s 100 mapped.kg; done) &
saboteur=$!
disown
for i in $(seq 3000); do
    wfre ask mapped.kg '?x : r0(?x, ?y) & r1(?y, ?z) & r2(?z, ?x)' >/dev/null 2>err
    code=$?
    grep -q 'cut short' err && break
done
kill -9 $saboteur
echo "exit $code"
cat err
