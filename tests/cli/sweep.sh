# Training and evaluating a few settings, going on where a sweep stopped, and sampling for eval.
for i in $(seq 0 39); do
    printf 'e%d\tnext\te%d\ne%d\ttwice\te%d\n' $i $(((i + 1) % 40)) $i $((i * 2 % 40))
done >all.txt
wfre import all.txt -o g.kg --holdout 0.2 >imported
wfre sample --protocol strict g.kg -o q.tsv --types 1p,2p,2in --count 5 >sampled
sweep() { wfre sweep g.kg q.tsv -o "${OUT:-out}" --steps 3 --set dim=10 --set bases=2 --calibrate 4 "$@"; }
export -f sweep
show sweep --vary radius=2,1 --vary score=wfr,l2 >table 2>notes
cat notes
sed -n 's/ .*//p' table | sort | uniq -c
ls out | sed 's/[^.]*\.//' | sort | uniq -c
cp table first
show sweep --vary radius=2,1 --vary score=wfr,l2 >table 2>notes
cmp first table && cat notes
show sweep --seeds 2 --csv 2>/dev/null | grep -c all
sweep --vary radius=two
sweep --vary radios=2
sweep --vary radius=2 --set dim=20
sweep --vary seed=1,2
show wfre sweep g.kg - -o piped --steps 3 --set dim=10 --set bases=2 --calibrate 4 --seeds 2 --csv <q.tsv | sed -E "s/,[0-9.]+/,X/g"
wfre eval g.kg out/base-seed1.safetensors two.tsv --sample 1p,2u --count 3 --union all >table
sed -n 's/ [0-9].*//p' table
wfre eval g.kg out/base-seed1.safetensors - --union all <two.tsv
cp out/base-seed1.safetensors start.safetensors
OUT=tuned sweep --from start.safetensors --vary radius=1,2 2>/dev/null | sed -n 's/ .*//p' | sort | uniq -c
mv start.safetensors moved.safetensors
OUT=tuned sweep --from moved.safetensors --vary radius=1,2 2>&1 >/dev/null | grep -c training
cp out/base-seed2.safetensors moved.safetensors
OUT=tuned sweep --from moved.safetensors --vary radius=1,2
OUT=tuned sweep --vary radius=1,2
OUT=sizes sweep --from moved.safetensors --vary dim=10,20
OUT=other show sweep --from none.safetensors --vary radius=1
