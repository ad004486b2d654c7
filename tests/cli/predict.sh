# Asking with a model: known and predicted answers, apart from each other. The model is trained for a moment, so
# which answers it predicts and how likely they are is masked; how many, of which kind and in which form is not.
mkdir ring
awk 'BEGIN { for (i = 0; i < 24; i++) for (r = 1; r < 4; r++) printf "e%d\tr%d\te%d\n", i, r, (i + r) % 24 }' >all
awk 'NR % 9 == 0' all >ring/valid.tsv
awk 'NR % 9 == 4' all >ring/test.tsv
awk 'NR % 9 != 0 && NR % 9 != 4' all >ring/train.tsv
wfre import ring -o g.kg >/dev/null 2>&1
small="--dim 20 --bases 3 --batch 32 --negatives 16 --steps 30"
show wfre train g.kg -o m.safetensors $small --validate 2 --calibrate 6 2>&1 |
    sed -E 's/(loss|MRR|error|@[0-9]+|questions,) [0-9.]+/\1 X/g; s/[(][0-9.]+ to [0-9.]+[)]/(X to X)/'
ask() {
    show wfre ask g.kg "$@" 2>&1 | sed -E 's/(predicted +)[01]\.[0-9]+  e[0-9]+/\1P  E/
        s/"id":[0-9]+,"name":"e[0-9]+","label":"e[0-9]+","status":"predicted","score":[-0-9.e]+,"probability":[-0-9.e]+,"missing_probability":[-0-9.e]+/PREDICTED/g'
}
ask m.safetensors '?x : r1(e0, ?x)'
ask m.safetensors '?x : r1(e0, ?x) | r2(e0, ?x)' --top 2 --json
ask m.safetensors '?x : r1(e0, ?y) & r2(?y, ?x)' --split train --top 3 --exhaustive
ask m.safetensors '?x : r1(e0, ?x)' --only known
ask m.safetensors '?x : r1(e0, ?x)' --only predicted --top 2
ask m.safetensors '?x : r1(e0, ?x)' --min-probability 1
# A cycle is answered exactly; the model says why it cannot help.
ask m.safetensors '?x : r1(?x, ?y) & r2(?y, ?z) & r3(?x, ?z)' --top 2
printf '?x : r1(e0, ?x)\n?x : r9(e0, ?x)\n?x : r2(e0, ?x) & !r1(e1, ?x)\n' | ask m.safetensors --top 1
ask m.safetensors '?x : r1(e0, ?y) & r2(?y, ?x)' --split train --top 1 --explain | sed -E 's/e[0-9]+|-?[0-9]+\.[0-9]{2,}/X/g; s/(known|predicted) +(r.*\)).*/EDGE \2/' | tail -n +4
wfre ask g.kg m.safetensors '?x : r1(e0, ?x)' --explain=svg 2>&1 | head -c 4
echo
# What a negation denies is all of its edges together.
ask m.safetensors '?x : r3(e0, ?x) & !(exists ?y. r1(e1, ?y) & r1(?y, ?x))' --split train --top 1 --explain | sed -E 's/e[0-9]+|-?[0-9]+\.[0-9]{2,}/X/g; s/^ +(known|predicted) +(not )?(.*\)).*/  EDGE \2\3/' | tail -n 6
# The edges of an explanation multiply to what is said of them, and that is the truth value which the search found.
for question in '?x : r1(e0, ?y) & r2(?y, ?x)' '?x : r1(e0, ?y) & r1(e2, ?y) & r3(?y, ?x)' '?x : r1(e0, ?x) & r2(e2, ?x)' '?x : r1(e0, ?y) & r2(?y, ?z) & r3(?z, ?x)'; do
    set -- "$question" --split train --only predicted --top 16
    wfre ask g.kg m.safetensors "$@" --json 2>/dev/null | grep -oE '"score":[-0-9.e]+' | sed 's/.*://' >scores
    wfre ask g.kg m.safetensors "$@" --explain 2>/dev/null | awk '
        function end() { if (n > 0 && (product - said > 0.004 || said - product > 0.004)) print "edges multiply to", product, "not", said }
        / the edges multiply to / { end(); said = $NF; product = 1; n++; print said >"said"; next }
        /^        predicted / { product *= $NF } END { end(); print n " explained" }'
    paste scores said | awk '{ p = exp($1); if (p - $2 > 0.004 || $2 - p > 0.004) print "found", p, "explained", $2 }'
done
ask m.safetensors '?x : r1(e0, ?x)' --exact --only predicted
# Known and predicted together are all entities that are not refuted, each once, on whatever split.
for split in train valid test; do
    for question in '?x : r1(e3, ?x)' '?x : r1(e0, ?x) | r2(e0, ?x)' '?x : r1(?x, e5) & !r2(?x, e7)'; do
        wfre ask g.kg m.safetensors "$question" --split $split --top 0 2>/dev/null >answers
        awk '{ print $4 }' answers | sort | uniq -c | awk '{ n += $1; m = $1 > m ? $1 : m } END { print n, m }'
    done
done
# A question that edges cannot answer has no probabilities, though the model has some.
wfre ask g.kg m.safetensors "(p,r1,(i,(n,(p,r2,(e,e0))),(n,(p,r1,(e,e1)))))" --only predicted --split train --top 1 2>&1 | tail -n 1
# Without validation data there is nothing to learn probabilities from.
wfre import ring/train.tsv -o train.kg >/dev/null 2>&1
show wfre train train.kg -o plain.safetensors $small 2>&1 | sed -E 's/loss [0-9.]+/loss X/'
show wfre ask train.kg plain.safetensors '?x : r1(e0, ?x)' --top 1 2>&1 | sed -E 's/-  e[0-9]+/-  E/'
show wfre ask train.kg plain.safetensors '?x : r1(e0, ?x)' --min-probability 0.5
# A model evaluated in both ways; edges that would give the answers away are refused.
for split in valid test; do wfre sample g.kg -o $split.tsv --split $split --types '1p 2p 2i 2in' --count 5 >/dev/null 2>&1; done
first() { show wfre eval g.kg m.safetensors "$@" 2>&1 | sed -E '2s/[0-9,]+ of [0-9,]+ pairs/N of N pairs/' | head -n 2; }
first valid.tsv
first valid.tsv --exhaustive
first valid.tsv --by embedding
first valid.tsv --union all
first test.tsv --known valid
first valid.tsv --known valid
first valid.tsv --by hand
first valid.tsv --by edges --union dnf
first valid.tsv --known all
# An owner who knows that more is missing gets higher odds; probabilities are checked on what was held out.
first() { wfre ask g.kg m.safetensors '?x : r1(e0, ?x)' --only predicted --top 1 --json "$@" 2>/dev/null | sed -E 's/.*"probability":([-0-9.e]+),"missing.*/\1/'; }
awk -v usual="$(first)" -v more="$(first --missing 0.6)" -v less="$(first --missing 0.001)" 'BEGIN { print less < usual && usual < more ? "--missing scales the odds" : "--missing does not: " less " " usual " " more }'
wfre eval g.kg m.safetensors --reliability 300 --count 3 --json 2>/dev/null | sed -E 's/[0-9]+(\.[0-9]+)?(e-?[0-9]+)?/N/g; s/\{"predicted":N,"observed":N,"count":N\},?//g'
show wfre eval g.kg --reliability 10 q.tsv 2>&1 | tail -n 1
