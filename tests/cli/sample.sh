# Benchmark sets: the same on any number of threads, types without queries reported.
folder=$HERE/../data/family-betae
wfre import "$folder" -o g.kg >/dev/null
show wfre sample g.kg --protocol strict -o a.tsv --types '1p 2p,2in' --count 3 --seed 5
cat a.tsv
show wfre sample g.kg --protocol strict -o b.tsv --types '1p 2p,2in' --count 3 --seed 5 -j 1 --json
cmp a.tsv b.tsv
# What a type gives does not depend on its neighbours.
wfre sample g.kg --protocol strict -o c.tsv --types 2in --count 3 --seed 5 2>/dev/null
diff <(grep 2in a.tsv) <(grep 2in c.tsv)
# A type is taken once, however it is written.
wfre sample g.kg --protocol strict -o e.tsv --types '2in,(i, (p, (e)), (n, (p, (e)))) 2in' --count 3 --seed 5 2>/dev/null
cmp c.tsv e.tsv
show wfre sample g.kg -o e.tsv --types nope --json
# Into a pipe, where a summary has no place.
wfre sample g.kg --protocol strict -o - --types '1p 2p,2in' --count 3 --seed 5 2>note | cmp - a.tsv && cat note
show wfre sample g.kg -o - --json
show wfre sample g.kg -o f.tsv --protocol betae --types '1p 2in' --count 3 --seed 5
cat f.tsv
show wfre sample g.kg -o f.tsv --protocol other
# Single edges over questions, facts or answers: the same pairs, in other orders.
for over in questions facts answers; do
    wfre sample g.kg -o $over.tsv --types 1p --edges $over --cap 0 2>/dev/null
    head -n 1 $over.tsv
done
sort questions.tsv | grep -v '^#' >all
sort facts.tsv | grep -v '^#' | cmp - all
show wfre sample g.kg -o f.tsv --edges triples
show wfre sample g.kg -o f.tsv --protocol betae --idle-branches
show wfre sample g.kg --protocol strict -o d.tsv --types 3i
ls d.tsv
show wfre sample g.kg -o d.tsv --types '(i,(p,(e)),4x)'
show wfre sample g.kg -o d.tsv --types 4x
show wfre sample g.kg -o d.tsv --split test
show wfre sample g.kg -o d.tsv --split train
