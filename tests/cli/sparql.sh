# SPARQL in wfre ask: results in all formats, errors with their places, and predictions.
cat >a.ttl <<'TTL'
@prefix : <http://ex.org/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
:a foaf:knows :b, :c ; foaf:name "Alice" ; :age 30 .
:b foaf:knows :c ; foaf:name "Bob \"B\""@en, "Robert, Bob" ; :age 25 .
:c foaf:knows :a ; :age 2.5 ; :address [ :city "München" ] .
TTL
wfre import a.ttl -o a.kg >/dev/null
q='SELECT ?x ?n { ?x foaf:knows :c OPTIONAL { ?x foaf:name ?n } } ORDER BY ?x ?n'
for format in table json xml csv tsv; do show wfre ask a.kg "$q" --format $format; done
show wfre ask a.kg "$q" | head -3
show wfre ask a.kg 'ASK { :a foaf:knows/foaf:knows :c }' --format table
show wfre ask a.kg 'ASK { :a foaf:knows :a }' --format json
show wfre ask a.kg 'CONSTRUCT { ?y :known ?x . ?y a :Person } WHERE { ?x foaf:knows ?y }' --format nt
show wfre ask a.kg 'CONSTRUCT { ?y :known ?x . ?y a :Person } WHERE { ?x foaf:knows ?y }' --format ttl
show wfre ask a.kg 'DESCRIBE :c' --format nt | sed -E 's/_:[A-Za-z0-9]+/_:B/g'
show wfre ask a.kg 'SELECT (COUNT(*) AS ?n) (SUM(?a) AS ?s) (AVG(?a) AS ?m) { ?x :age ?a }' --format tsv
show wfre ask a.kg 'SELECT ?x { ?x foaf:knows+ ?x FILTER NOT EXISTS { ?x foaf:name "Alice" } }' --format tsv
printf 'SELECT ?c\n{ ?x :address/:city ?c }\n' >q.rq
show wfre ask a.kg --file q.rq --format csv
show wfre ask a.kg 'SELECT ?c { ?x :address/:city ?c }' --json
# What XML has, its readers get back: carriage returns, and marks that turn the direction of writing.
show wfre ask a.kg 'SELECT ?t { VALUES ?t { "a\rb\n\tc \"<&>\" \u007F\u0085\u200F\u202E\u0001\uFFFF" } }' --format xml | cat -A
# Named graphs: what is in which, FROM, and what GRAPH does not see.
cat >g.trig <<'TRIG'
@prefix : <http://x/> .
:s0 :p :o0 ; :n "zero" .
:g1 { :s1 :p :o1 ; :n "one" . :s0 :p :o0 }
:g2 { :s2 :p :o1 . _:b :q "two" . :o1 :r :g1 }
TRIG
wfre import g.trig -o named.kg >/dev/null
graphs() { show wfre ask named.kg "$1" --format csv 2>&1 | tr -d '\r'; }
graphs 'SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }'
graphs 'SELECT (COUNT(*) AS ?n) { ?s ?p ?o }'
graphs 'SELECT ?g ?s ?p ?o FROM :g1 FROM NAMED :g2 { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }'
graphs 'SELECT (COUNT(*) AS ?n) FROM :g1 FROM :g2 { ?s ?p ?o }'
graphs 'SELECT * { GRAPH ?g { ?s :p ?o FILTER EXISTS { ?s :n ?x } } }'
graphs 'SELECT * { ?a :r ?g GRAPH ?g { :s1 :p* ?y } }'
graphs 'SELECT * { GRAPH ?g { ?s :p ?o } FILTER EXISTS { :s0 :n ?x } }'
graphs 'SELECT * FROM :g3 { ?s ?p ?o }'
graphs 'SELECT ?g { GRAPH ?g {} }'
show wfre export named.kg -o named.nq
wfre import named.nq -o again.kg >/dev/null && wfre export again.kg -o again.nq >/dev/null
sort named.nq >one && sort again.nq | cmp - one && cat one
# FROM of files beside the query's own: the dataset of that query alone. Nothing outside of its folder is read.
mkdir -p beside/below
printf '<http://x/a> <http://x/p> <http://x/b>, "one" .\n<> <http://x/is> <rel> .\n' >beside/one.ttl
printf '<http://x/a> <http://x/p> "two" .\n_:b <http://x/p> _:b .\n' >beside/below/two.nt
: >beside/none.ttl
printf '<http://x/secret> <http://x/p> "secret" .\n' >secret.nt
ln -s ../secret.nt beside/link.nt
printf 'a\tb\tc\n' >beside/table.tsv
beside() { # the clauses: what the dataset then has
    printf 'SELECT ?g ?s ?o %s { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } } ORDER BY ?g ?o' "$1" >beside/q.rq
    shift
    show wfre ask a.kg --file beside/q.rq --format csv "$@" 2>&1 | tr -d '\r' | sed "s|$PWD|/HERE|g; s/_:[A-Za-z0-9]*/_:B/g"
}
beside 'FROM <one.ttl>'
beside 'FROM <one.ttl> FROM NAMED <below/two.nt> FROM NAMED <one.ttl>' --base http://w.example/folder/q.rq
beside 'FROM <http://w.example/folder/below/two.nt> FROM <one.ttl>' --base http://w.example/folder/q.rq
printf 'SELECT ?g FROM NAMED <none.ttl> FROM NAMED <one.ttl> { GRAPH ?g {} } ORDER BY ?g' >beside/q.rq
show wfre ask a.kg --file beside/q.rq --base http://w/q --format csv | tr -d '\r'
for clause in 'FROM <../secret.nt>' 'FROM <below/..%2f..%2fsecret.nt>' 'FROM <link.nt>' 'FROM <below>' 'FROM <missing.ttl>' 'FROM <one.ttl#x>' \
    'FROM <table.tsv>' 'FROM <one.ttl> FROM <http://other/>' 'FROM <q.rq>'; do
    beside "$clause" --base http://w/q.rq | head -4
done
printf 'bad' >beside/one.ttl
beside 'FROM <one.ttl>' --base http://w/q.rq | tail -2
show wfre ask a.kg 'SELECT * FROM <http://w/one.ttl> { ?s ?p ?o }' --base http://w/q.rq --format csv 2>&1 | tail -3
# What is wrong, and where.
show wfre ask --check --file q.rq
show wfre ask --check 'SELECT ?x { ?x a foaf:Person }'
printf 'PREFIX : <http://x/>\nSELECT ?x {\n  ?x :p "ä" ;\n     :q ( 1 2 .\n}\n' >bad.rq
show wfre ask --check --file bad.rq
show wfre ask --check 'SELECT (COUNT(?x) AS ?n) ?y { ?x ?p ?y }'
show wfre ask a.kg 'INSERT DATA { :a :p :b }'
show wfre ask a.kg 'SELECT * { SERVICE <http://other/sparql> { ?s ?p ?o } }'
show wfre ask a.kg 'SELECT * FROM <http://other/> { ?s ?p ?o }'
show wfre ask a.kg 'SELECT (<http://f/>(?s) AS ?f) { ?s ?p ?o }'
show wfre ask a.kg 'SELECT * { ?s ?p ?o }' --format ttl
show wfre ask a.kg 'SELECT * { ?s ?p ?o } ORDER BY ?o' --memory 1 --format csv | wc -l
show wfre ask a.kg 'SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o . ?p ?q ?r } ORDER BY ?a' --memory 1 --format csv | wc -l
show wfre ask --check
show wfre ask
show wfre ask a.kg --file missing.rq
# Predictions come from SERVICE wfre:predict alone.
mkdir ring
awk 'BEGIN { for (i = 0; i < 24; i++) for (r = 1; r < 4; r++) printf "e%d\tr%d\te%d\n", i, r, (i + r) % 24 }' >all
awk 'NR % 9 == 0' all >ring/valid.tsv
awk 'NR % 9 == 4' all >ring/test.tsv
awk 'NR % 9 != 0 && NR % 9 != 4' all >ring/train.tsv
wfre import ring -o g.kg >/dev/null 2>&1
wfre train g.kg -o m.safetensors --dim 20 --bases 3 --batch 32 --negatives 16 --steps 30 --validate 2 --calibrate 6 >/dev/null 2>&1
P='PREFIX wfre: <urn:wfre:ns#>'
show wfre ask g.kg m.safetensors 'SELECT ?x { e:e0 r:r1 ?x }' --format tsv
same() { # the formula, the pattern: the same answers, in the same order, of the same status
    wfre ask g.kg m.safetensors "?x : $1" --top 5 2>/dev/null | awk '{ print $2 == "known" ? "proven" : $2, $4 }' >one
    wfre ask g.kg m.safetensors "$P SELECT ?s ?x { SERVICE wfre:predict { [] wfre:answer ?x ; wfre:status ?s ; wfre:top 5 . { $2 } } }" --format csv |
        tr -d '\r' | sed '1d; s/,urn:wfre:e:/ /' >two
    cmp one two && wc -l <two
}
same 'r1(e0, ?x)' 'e:e0 r:r1 ?x'
same 'r1(e0, ?y) & r2(?y, ?x)' 'e:e0 r:r1 ?y . ?y r:r2 ?x'
same 'r1(e0, ?y) & r2(?y, ?x)' 'e:e0 r:r1/r:r2 ?x'
same 'r1(e0, ?x) | r2(e0, ?x)' 'e:e0 r:r1|r:r2 ?x'
same 'r1(e0, ?x) | r2(e0, ?x)' '{ e:e0 r:r1 ?x } UNION { e:e0 r:r2 ?x }'
same 'r1(?x, e5) & !r2(?x, e7)' '?x r:r1 e:e5 FILTER NOT EXISTS { ?x r:r2 e:e7 }'
same 'r1(?x, e5) & !r2(?x, e7)' '?x r:r1 e:e5 MINUS { ?x r:r2 e:e7 }'
same 'r1(?x, e5) | r1(?x, e6)' 'VALUES ?a { e:e5 e:e6 } ?x r:r1 ?a'
same 'r1(?x, e5)' 'e:e5 ^r:r1 ?x'
ask() { show wfre ask g.kg m.safetensors "$P $1" --format csv 2>&1 | tr -d '\r' | sed -E 's/0\.[0-9]+(E-?[0-9]+)?|[0-9.]+E-[0-9]+/P/'; }
ask 'SELECT (COUNT(*) AS ?n) { SERVICE wfre:predict { [] wfre:answer ?x ; wfre:threshold 1 . e:e0 r:r1 ?x } }'
ask 'SELECT (COUNT(*) AS ?n) (MAX(?p) <= 1 AS ?most) { SERVICE wfre:predict { [] wfre:answer ?x ; wfre:probability ?p ; wfre:top 3 . e:e0 r:r1 ?x } }' | tail -1
ask 'SELECT ?s (COUNT(*) AS ?n) { SERVICE wfre:predict { [] wfre:answer ?x, ?y ; wfre:status ?s ; wfre:top 2 . e:e0 r:r1 ?x . ?x r:r2 ?y } } GROUP BY ?s ORDER BY ?s'
ask 'SELECT ?x { SERVICE wfre:predict { e:e0 r:r1 ?x FILTER (?x IN (e:e1, e:e7)) } } ORDER BY ?x'
ask 'SELECT ?x ?z { SERVICE wfre:predict { [] wfre:answer ?x ; wfre:top 0 . e:e0 r:r1 ?x OPTIONAL { ?x r:r3 ?z } } }'
ask 'SELECT ?x { SERVICE wfre:predict { e:e0 r:r1+ ?x } }'
ask 'SELECT ?x { SERVICE wfre:predict { e:e0 ?p ?x } }'
ask 'SELECT ?x { SERVICE wfre:predict { [] wfre:answer ?x . e:e0 r:r9 ?x } }'
ask 'SELECT ?x { SERVICE wfre:predict { [] wfre:answer ?x . ?x r:r1 ?y . ?y r:r2 ?z . ?x r:r3 ?z } }'
ask 'SELECT (COUNT(?x) AS ?n) { SERVICE SILENT wfre:predict { [] wfre:answer ?x . ?x r:r1 ?y . ?y r:r2 ?z . ?x r:r3 ?z } }'
ask 'SELECT ?x { SERVICE wfre:predict { [] wfre:answers ?x . e:e0 r:r1 ?x } }'
ask 'SELECT ?x { SERVICE wfre:predict { e:e0 r:r9 ?x } }'
for wrong in 'wfre:top 1.5' 'wfre:top 1 ; wfre:top 2' 'wfre:probability ?x' 'wfre:answer ?x' 'wfre:status ?s ; wfre:probability ?s' 'wfre:threshold 0.1, 0.2'; do
    ask "SELECT * { SERVICE wfre:predict { [] wfre:answer ?x ; $wrong . e:e0 r:r1 ?x } }" | sed -n 2p
done
# Within EXISTS the row keeps what it has, and the answers have to be it.
ask 'SELECT ?x { VALUES ?x { e:e1 e:e0 e:e9 } FILTER EXISTS { SERVICE wfre:predict { [] wfre:top 0 . e:e0 r:r1 ?x } } }'
ask 'SELECT ?x ?s { VALUES (?x ?s) { (e:e1 "proven") (e:e1 "predicted") (e:e9 "proven") } FILTER NOT EXISTS { SERVICE wfre:predict { [] wfre:top 0 ; wfre:status ?s . e:e0 r:r1 ?x } } }'
show wfre ask g.kg "$P SELECT ?x { SERVICE wfre:predict { e:e0 r:r1 ?x } }"
# Predicted triples as a graph: nodes of the template's own carry the probability.
wfre ask g.kg m.safetensors "$P CONSTRUCT { e:e0 r:r1 ?x . [] a wfre:Prediction ; wfre:of ?x ; wfre:probability ?p } { SERVICE wfre:predict { [] wfre:answer ?x ; wfre:probability ?p ; wfre:status ?s ; wfre:top 2 . e:e0 r:r1 ?x } FILTER(?s = 'predicted') }" --format nt |
    sed -E 's/_:[a-z0-9-]+/_:N/; s/"[0-9.E-]+"/"P"/; s/e:e[0-9]+> \./e:eN> ./' | sort | uniq -c
# What is known of answers restricts which are predicted: as many as are wanted, all within the range.
awk 'BEGIN { print "@prefix : <http://x/> ."
    for (i = 0; i < 24; i++) { printf ":e%d :age %d .\n", i, i; for (r = 1; r < 4; r++) if ((i * 3 + r) % 9) printf ":e%d :r%d :e%d .\n", i, r, (i + r) % 24 } }' >ages.ttl
wfre import ages.ttl -o ages.kg --holdout 0.1 >/dev/null
wfre train ages.kg -o ages.safetensors --dim 20 --bases 3 --batch 32 --negatives 16 --steps 30 --validate 2 --calibrate 6 >/dev/null 2>&1
wfre ask ages.kg ages.safetensors "$P SELECT ?s (COUNT(*) AS ?n) (MIN(?v) >= 12 && MAX(?v) < 20 AS ?within) { SERVICE wfre:predict { [] wfre:answer ?x ; wfre:status ?s ; wfre:top 6 . { :e0 :r1 ?x . ?x :age ?a FILTER(?a >= 12 && ?a < 20) } } ?x :age ?v } GROUP BY ?s" --format csv
# Their variables are bound, as in the same pattern without a model; OPTIONAL sees them.
wfre ask ages.kg ages.safetensors "$P SELECT ?s (COUNT(*) AS ?n) (MIN(?a = ?v) AS ?same) (MIN(COALESCE(?o, 15)) >= 15 AS ?only) { SERVICE wfre:predict { [] wfre:answer ?x ; wfre:status ?s ; wfre:top 6 . { :e0 :r1|:r2|:r3 ?x . ?x :age ?a FILTER(?a >= 12 || ?a = 3) OPTIONAL { ?x :age ?o FILTER (?a >= 15) } } } ?x :age ?v } GROUP BY ?s ORDER BY ?s" --format csv
