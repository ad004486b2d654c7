# RDF whole: attributes, names, prefixes, syntaxes, and the way back; snapshots of version 1.
cat >music.ttl <<'TTL'
@prefix schema: <https://schema.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix ex: <http://ex.org/> .
schema:Festival rdfs:subClassOf schema:Event ; rdfs:comment "Ein Fest."@de, "A feast."@en .
ex:The_Beatles a schema:MusicGroup ; skos:prefLabel "The Beatles"@en, "Die Beatles"@de .
ex:John foaf:name "John" ; ex:in ex:The_Beatles ; ex:born "1940-10-09"^^ex:date ; ex:knows [ ex:age 7 ] .
ex:K%C3%B6ln a schema:City ; ex:parts ( "x\u0000y" 1.5 true ) .
TTL
show wfre import music.ttl -o music.kg
show wfre info music.kg | grep -A5 attributes
show wfre ask music.kg '?x : rdfs:subClassOf(?x, schema:Event)'
show wfre ask music.kg '?x : <http://ex.org/in>(?x, <http://ex.org/The_Beatles>)'
show wfre ask music.kg '?x : IN(?x, the_beatles)'
show wfre ask music.kg '?x : type(köln, ?x)'
show wfre ask music.kg '?x : type(nope:x, ?x)'
wfre import music.ttl -o de.kg --language de >/dev/null
show wfre ask de.kg '?x : in(John, ?x)'
wfre import music.ttl -o own.kg --label-property http://ex.org/born >/dev/null
show wfre ask own.kg '?x : in(?x, The_Beatles)'

# the way back: the same triples, whatever the way
show wfre export music.kg -o a.nt
cat a.nt
show wfre export music.kg -o a.ttl
wfre import a.ttl -o b.kg >/dev/null && wfre export b.kg -o b.nt >/dev/null
cut -d' ' -f1-2 a.nt | sed 's/_:b[0-9]*/_:b/' | sort >a.cut
cut -d' ' -f1-2 b.nt | sed 's/_:b[0-9]*/_:b/' | sort >b.cut
cmp a.cut b.cut && echo same
show wfre export music.kg -o a.xml
show wfre export music.kg -o a.txt --format ttl

# literals as entities, and dropped
show wfre import music.ttl -o ent.kg --literals entities
show wfre import music.ttl -o drop.kg --literals drop
show wfre import music.ttl -o x.kg --literals some

# names without an IRI get one
printf 'a b\tis of\tc\n' >names.tsv
wfre import names.tsv -o n.kg >/dev/null && wfre export n.kg -o n.nt >/dev/null && cat n.nt
wfre import names.tsv -o n.kg --base https://me.org/ >/dev/null && wfre export n.kg -o n.nt >/dev/null && cat n.nt
show wfre ask n.kg '?x : r:is%20of(<https://me.org/e/a%20b>, ?x)'
show wfre import names.tsv -o n.kg --base me.org

# quads, folders, other formats, empty files, tables with a header
printf '<http://a> <http://p> <http://b> <http://g> .\n<http://a> <http://p> "x" .\n' >q.nq
show wfre import q.nq -o q.kg
printf 'PREFIX : <http://x/>\nGRAPH :g { :a :p :b }\n:h { :c :p [] }\n{ :d :p 1 }\n' >t.trig
show wfre import t.trig -o t.kg
printf '<http://a> <http://p> <http://b> <http://g> .\n<http://a> <http://p> "x" _:g .\n<http://c> <http://p> <http://d> _:h .\n' >blank.nq
show wfre import blank.nq -o blank.kg
wfre export blank.kg -o again.nq && cat again.nq
show wfre ask blank.kg 'SELECT ?g ?s { GRAPH ?g { ?s ?p ?o } }' --format tsv
mkdir folder && cp music.ttl q.nq folder && show wfre import folder -o f.kg
printf '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>\n' >x.rdf
show wfre import x.rdf -o x.kg
echo '{"@context": {}, "@id": "http://x"}' >x.jsonld
show wfre import x.jsonld -o x.kg
: >e.ttl
show wfre import e.ttl -o e.kg
show wfre import e.ttl -o e.kg --allow-empty
wfre export e.kg -o e.nt && cat e.nt
printf 'weight,object,subject,predicate\n1,"b, ""c""",a,r\n' >h.csv
wfre import h.csv -o h.kg && wfre export h.kg -o h.nt >/dev/null && cat h.nt
printf 'x\ty\tz\na\tr\tb\n' >h.tsv
show wfre import h.tsv -o h.kg --header

# what is not RDF is refused where it stops being some
bad() {
    printf "$1" >bad.$2
    wfre import bad.$2 -o bad.kg
}
bad '<http://a> <http://p> "x\\ud800" .\n' nt
bad '<http://a> <http://p> <b> .\n' nt
bad '<http://a> <http://p> <http://b> . <http://a> <http://p> <http://c> .\n' nt
bad '<http://a> <http://p> "\xff" .\n' nt
bad '@prefix : <http://x/> .\n:ä :p :b ;\n:q "y"@1 .\n' ttl
bad 'PREFIX : <http://x/>\n:a :p (1 2 .\n' ttl
bad '@prefix : <http://x/>\n:a :p :b .\n' ttl
bad '<http://a b> <http://p> 1 .\n' ttl
bad '<http://x/\\u0020> <http://p> 1 .\n' ttl
bad '@prefix f: <_> .\n<a> f::p <b> .\n' ttl
bad '<a> <p> <_:b> .\n' ttl
bad '{ <http://a> <http://p> 1 . @prefix : <http://x/> . }\n' trig
bad '<http://a> a "never closed .\n' ttl

# version 1
cp "$HERE"/../data/version1.snapshot old.kg
show wfre info old.kg --check
show wfre ask old.kg '?x : "is parent of"(ann, ?x)' --split train
show wfre ask old.kg '?x : "is parent of"(ann, ?x)' --split valid
wfre export old.kg -o old.nt && cat old.nt

# labels in all languages are names; one of them is shown
cat >towns.ttl <<'TTL'
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix ex: <http://ex.org/> .
ex:m rdfs:label "Munich"@en, "München"@de ; ex:in ex:b .
ex:b rdfs:label "Bavaria"@en, "Bayern"@de ; skos:prefLabel "Freistaat Bayern"@de-DE ; ex:nick "Weißblau"@de .
ex:f rdfs:label "FC Bayern"@en, "Bayern"@de ; ex:in ex:m .
ex:in rdfs:label "in"@en, "liegt in"@de .
ex:g rdfs:label "Gift"@en ; ex:in ex:m .
ex:p rdfs:label "Poison"@en, "Gift"@de ; ex:in ex:b .
TTL
wfre import towns.ttl -o towns.kg --label-property http://ex.org/nick >/dev/null
towns() { show wfre ask towns.kg "$@" 2>&1; }
towns '?x : in(München, ?x)'
towns '?x : in("München"@de, ?x)'
towns "?x : 'liegt in'@de^-1('freistaat bayern'@DE, ?x)"
towns '(p,in,(e,münchen))'
towns '?x : in("München"@en, ?x)'
towns '?x : in(Münchn, ?x)'
towns '?x : in(?x, Bayern)'
towns '?x : in(?x, "Bayern"@de)'
towns '?x : in(Gift, ?x)'
towns '?x : in("Gift"@de, ?x)'
towns '?x : in("Gift"@, ?x)'
towns 'describe weißblau'
towns '?x : nick(Bavaria, ?x)' # an attribute, by its local name, prefixed name and IRI
towns '?x : ex:nick(Bavaria, ?x)'
towns '?x : <http://ex.org/nick>(Bavaria, ?x)'
show wfre find towns.kg bayern
show wfre find towns.kg liegt

# a base is what says so, not the line of a named graph that comes first
show wfre ask q.kg 'SELECT * { VALUES ?x { e:a } }' --format tsv
