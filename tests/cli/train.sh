# wfre train and what goes with it: a model from a small graph, info, wrong settings, the wrong graph.
awk 'BEGIN { for (i = 0; i < 30; i++) for (r = 0; r < 3; r++) printf "e%d\tr%d\te%d\n", i, r, (i * (r + 1) + r) % 30 }' >ring.tsv
wfre import ring.tsv -o ring.kg --holdout 0.1 >/dev/null 2>&1
head -n 60 ring.tsv >part.tsv
wfre import part.tsv -o part.kg >/dev/null 2>&1
small="--dim 20 --bases 3 --batch 16 --negatives 8 --steps 5"
show wfre train ring.kg -o ring.safetensors $small --validate 2 2>&1 | sed -E 's/(loss|MRR|error|@[0-9]+|questions,) [0-9.]+/\1 X/g; s/[(][0-9.]+ to [0-9.]+[)]/(X to X)/' | grep -v '^training\|^validating'
ls
show wfre info ring.safetensors | sed -E 's/graph [0-9a-f]{16}/graph F/; s/[0-9,]+ bytes/N bytes/; s/^((lift|edge)-[a-z]+ +)-?[0-9.]+ +/\1X /; s/(error|MRR) [0-9.]+/\1 X/; s/(@[0-9]+) [0-9.]+/\1 X/g; s/commit .*/commit C/; s/[(][0-9.]+ to [0-9.]+[)]/(X to X)/; s/[0-9]+ answers expected, [0-9]+ found/N answers expected, N found/; /^ +said [0-9.]+: /d'
wfre train ring.kg --from ring.safetensors -o still.safetensors --steps 2 --validate 0 --set rate-entities=0 --set rate-layers=0 --set factor-rate=0 >/dev/null 2>&1
tail -c 44536 ring.safetensors >weights; tail -c 44536 still.safetensors | cmp - weights && echo "the weights of --from are the start"
show wfre train ring.kg --from ring.safetensors --settings | head -n 4
show wfre train ring.kg --from ring.safetensors --dim 40 --steps 1
show wfre train part.kg --from ring.safetensors --steps 1 2>&1 | sed -E 's/[(].*//'
show wfre train ring.kg --preset paper-nell --settings | head -n 4
wfre train ring.kg -o members.safetensors $small --set members=2 --validate 0 >/dev/null 2>&1
wfre info members.safetensors | grep -E '^(dim|members|parameters) '
wfre ask ring.kg members.safetensors '?x : r0(e1, ?x) & !r2(e4, ?x)' >members.txt 2>&1 && echo "asked a model of two members"
wfre train ring.kg --from members.safetensors -o members2.safetensors --steps 2 --validate 0 >/dev/null 2>&1 && wfre info members2.safetensors | grep '^members '
show wfre train ring.kg --dim 20 --set members=3 --time 1s
show wfre train ring.kg --dim 21 --time 1s
show wfre train ring.kg --loss hinge --time 1s
show wfre train ring.kg --set frob=1
show wfre train ring.kg --set frob
show wfre train ring.kg -o other.safetensors $small --validate 0 --calibrate 0 --resume 2>&1 | sed -E 's/loss [0-9.]+/loss X/'
show wfre train ring.kg -o -
mkdir folder
show wfre train ring.kg -o folder --time 1s
show wfre train ring.kg --queries - --time 1s
show wfre train ring.kg --time inf
show wfre train ring.kg --guide score --time 1s
cp ring.kg damaged.kg
printf '\377' | dd of=damaged.kg bs=1 seek=$(($(stat -c %s ring.kg) - 70)) conv=notrunc status=none
show wfre train damaged.kg --time 1s
# A resumed run has the settings of the interrupted one; only its length may change.
wfre train ring.kg -o part.safetensors $small --steps 1000000 --rho 9 --seed 3 --checkpoint 0.05s --validate 0 >/dev/null 2>&1 &
while [ ! -f part.checkpoint ]; do sleep 0.05; done
kill -9 $! && wait $! 2>/dev/null
show wfre train ring.kg -o part.safetensors --resume --rho 10
show wfre train ring.kg -o part.safetensors --resume --rho 9 --steps 20 --settings | grep -E '^\$|^(rho|seed|steps) '
rm part.checkpoint
# Probabilities belong to the weights they were fitted to.
grep -c '"calibration"' ring.safetensors
wfre train ring.kg --from ring.safetensors -o other.safetensors --steps 2 --calibrate 0 >/dev/null 2>&1
grep -c '"calibration"' other.safetensors
grep -c '"measured"' other.safetensors
wfre info other.safetensors | grep measured
wfre info ring.safetensors --json | grep -oE '"measured":[{]"by":"[a-z]+","split":"[a-z]+","questions":"[a-z]+"'
wfre info other.safetensors --json | grep -o '"measured":null'
# A changed number does not fit the checksum.
sed 's/type 50 /type 00 /' ring.safetensors >none.safetensors
show wfre info none.safetensors
show wfre train ring.kg --preset huge
show wfre train ring.kg --time soon
show wfre train nowhere.kg
show wfre ask part.kg ring.safetensors '?x : r0(e1, ?x)'
head -c 300 ring.safetensors >cut.safetensors
show wfre info cut.safetensors
show wfre train ring.kg $small --set lift-projection=2
wfre train ring.kg $small -o plain.safetensors --set lift=no --set lift-projection=2 >/dev/null 2>&1 && wfre info plain.safetensors | grep '^lift-'
wfre train ring.kg $small -o whole.safetensors --set answering=embedding >/dev/null 2>&1 && wfre info whole.safetensors | grep "^answering"
wfre train ring.kg $small -o sharp.safetensors --set answering=edges --set edge-room=0.3 >/dev/null 2>&1 && wfre info sharp.safetensors | grep "^answering\|^edge"
show wfre train ring.kg $small --set edge-room=0.3
# An error that rests on few questions says so, and bins are sentences.
sed 's/858/058/' "$HERE/../data/old/m.safetensors" >few.safetensors
wfre info few.safetensors | grep -m 2 'too few\|said'
