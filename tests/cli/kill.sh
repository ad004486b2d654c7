# A run killed at random moments (KILLS of them, 5 unless said otherwise) always leaves a checkpoint
# that loads, or none at all, and ends with the same bits as a run that was left alone.
awk 'BEGIN { for (i = 0; i < 60; i++) for (r = 0; r < 4; r++) printf "e%d\tr%d\te%d\n", i, r, (i * (r + 1) + r) % 60 }' >ring.tsv
wfre import ring.tsv -o ring.kg >/dev/null 2>&1
recipe="--steps 1500 --dim 40 --bases 4 --batch 32 --negatives 64 --validate 0 --checkpoint 0.05s"
wfre train ring.kg -o whole.safetensors $recipe >/dev/null 2>&1
RANDOM=7
kills=0
while [ $kills -lt "${KILLS:-5}" ]; do
    resume=
    [ -f part.checkpoint ] && resume=--resume
    wfre train ring.kg -o part.safetensors $recipe $resume >/dev/null 2>log &
    process=$!
    sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
    kill -9 $process 2>/dev/null && kills=$((kills + 1))
    wait $process 2>/dev/null
    if [ -f part.safetensors ]; then
        rm -f part.safetensors part.checkpoint # it was done: begin again
    else
        cat log
    fi
done
resume=
[ -f part.checkpoint ] && resume=--resume
wfre train ring.kg -o part.safetensors $recipe $resume >/dev/null 2>&1 || echo "the resumed run failed"
cmp whole.safetensors part.safetensors && echo "the same bits"
