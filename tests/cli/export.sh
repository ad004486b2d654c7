# A model in half the size answers as before; what cannot be is said.
awk 'BEGIN { for (i = 0; i < 24; i++) for (r = 1; r < 4; r++) printf "e%d\tr%d\te%d\n", i, r, (i + r) % 24 }' >g.tsv
wfre import g.tsv -o g.kg >/dev/null 2>&1
wfre train g.kg -o m.safetensors --dim 100 --bases 3 --batch 32 --negatives 16 --steps 100 >/dev/null 2>&1
bytes() { sed -E 's/[0-9,]+ bytes/N bytes/'; }
show wfre export m.safetensors -o half.safetensors --bf16 | bytes
whole=$(stat -c %s m.safetensors) half=$(stat -c %s half.safetensors)
[ $((half * 10)) -lt $((whole * 6)) ] && echo "about half the size"
for m in m half; do
    wfre ask g.kg $m.safetensors '?x : r1(e3, ?x)' --only predicted --top 3 --json | grep -o '"name":"[^"]*"' >$m.answers
done
cmp m.answers half.answers && wc -l <half.answers
show wfre export m.safetensors -o m.safetensors | bytes
show wfre info m.safetensors | head -n 2 | sed -E 's/[0-9,]+ bytes.*/N bytes/'
show wfre export m.safetensors
show wfre export m.safetensors -o -
show wfre export g.kg -o other.safetensors
show wfre export m.safetensors -o missing/other.safetensors
ls
