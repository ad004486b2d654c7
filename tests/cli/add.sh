# Entities added after training: with a model that knows them, one can ask about them at once.
awk 'BEGIN { for (i = 0; i < 24; i++) for (r = 1; r < 4; r++) printf "e%d\tr%d\te%d\n", i, r, (i + r) % 24 }' >g.tsv
wfre import g.tsv -o g.kg >/dev/null 2>&1
wfre train g.kg -o m.safetensors --dim 20 --bases 3 --batch 32 --negatives 16 --steps 30 >/dev/null 2>&1
cat >new.ttl <<'TXT'
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<new> <r1> <e1> ; <r2> <e2> ; rdfs:label "a new one" .
<e23> <r1> <new> .
<other> <r3> <new> .
TXT
add() { show wfre add "$@"; }
add g.kg m.safetensors new.ttl -o g2.kg m2.safetensors
add g.kg m.safetensors new.ttl -o g2.kg m2.safetensors --json
show wfre ask g2.kg m2.safetensors '?x : r1(e23, ?x)' --top 2 2>&1 | sed -E 's/-  .*/-  E/'
show wfre ask g2.kg m2.safetensors '?x : r3("a new one", ?x)' --only predicted --top 1 2>&1 | sed -E 's/-  .*/-  E/'
show wfre info g2.kg | head -n 3
# What cannot be: a new relation, no triples, a model of another graph, replacing what is read.
printf 'new\tr9\te1\n' >relation.tsv
printf 'new\tr1\n' >broken.tsv
cp g2.kg kept.kg
add g.kg m.safetensors relation.tsv -o g2.kg m2.safetensors
add g.kg m.safetensors broken.tsv -o g2.kg m2.safetensors
add g.kg m.safetensors missing.tsv -o g2.kg m2.safetensors
add g2.kg m.safetensors new.ttl -o g3.kg m3.safetensors
add g.kg m.safetensors new.ttl m2.safetensors
add g.kg m.safetensors new.ttl -o g.kg m2.safetensors
add g.kg m.safetensors new.ttl -o g2.kg m.safetensors
add g.kg m.safetensors new.ttl -o g2.kg no/such/folder.safetensors
add g.kg m.safetensors new.ttl -o g2.kg -
cmp g2.kg kept.kg
# Old entities may be called by their labels, as in questions.
printf 'e1\tAlice\n' >labels.txt
wfre import g.tsv -o l.kg --labels labels.txt >/dev/null 2>&1
printf 'Zoe\tr1\tAlice\n' >zoe.tsv
add l.kg m.safetensors zoe.tsv -o l2.kg l2.safetensors
show wfre ask l2.kg '?x : r1(?x, Alice)' 2>/dev/null
# What is left out is said; a format may be named.
printf '<lit> <r1> <e1> ; <r2> "text" , [] .\n' >lit.ttl
add g.kg m.safetensors lit.ttl -o l2.kg l2.safetensors
echo '$ wfre add g.kg m.safetensors - -o l2.kg l2.safetensors --format ttl --literals entities <lit.ttl'
wfre add g.kg m.safetensors - -o l2.kg l2.safetensors --format ttl --literals entities <lit.ttl
add g.kg m.safetensors lit.ttl -o x.kg x.kg 2>&1 | sed -n 1,2p
rm lit.ttl labels.txt l.kg l2.kg l2.safetensors zoe.tsv
ls
