# Every format into a graph, and what the graph then holds.
tab() { printf '%s\n' "$@" | tr ' ' '\t'; }

# One file, with a duplicate, a byte order mark, an empty line and Windows line ends.
printf '\xef\xbb\xbfann\tchild\tbob\r\nann\tchild\tcat\r\n\r\nbob\tchild\tdan\r\nann\tchild\tbob\r\n' >family.tsv
show wfre import family.tsv -o family.kg
show wfre info family.kg

# A folder of splits, one file compressed; a triple of train comes again in valid.
mkdir folder
tab 'ann child bob' 'bob child dan' >folder/train.txt
tab 'ann child bob' 'dan child eve' | gzip >folder/valid.tsv.gz
tab 'eve likes ann' >folder/test
show wfre import folder -o folder.kg
show wfre import folder/train.txt folder/valid.tsv.gz -o files.kg
show wfre info folder.kg --check --json

# Standard input; labels, with a description behind a comma in nearly all of them.
tab 'Q1 P1 Q2' 'Q2 P1 Q3' >ids.tsv
printf 'Q1\tuniverse, all there is\nQ2\tEarth, a planet\nQ3\tlife, what grows\nP1\tcontains, has inside\nQ9\tnobody, no one\n' >labels.tsv
echo '$ wfre import - -o ids.kg --labels labels.tsv <ids.tsv'
wfre import - -o ids.kg --labels labels.tsv <ids.tsv
show wfre info ids.kg

# RDF: prefixes, labels by language, literals, blank nodes.
cat >g.ttl <<'END'
@prefix ex: <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@base <http://example.org/base/> .
ex:ann a ex:Person ; rdfs:label "Anna"@de, "Ann A."@en ; ex:knows ex:bob, <cat> ; ex:age 42 .
ex:bob ex:knows [ ex:age 7 ] .
ex:knows rdfs:label "is acquainted with" .
END
show wfre import g.ttl -o ttl.kg
show wfre info ttl.kg
show wfre import g.ttl -o literals.kg --literals entities
printf '<http://example.org/a> <http://example.org/r> <http://example.org/b> .\n' | gzip >g.nt.gz
show wfre import g.nt.gz g.ttl -o both.kg

# A BetaE folder: names from pickles, ids kept, a lone inverse turned around.
mkdir betae
printf '\x80\x02}(K\x01X\x03\x00\x00\x00bobK\x00X\x03\x00\x00\x00annK\x02X\x03\x00\x00\x00catu.' >betae/id2ent.pkl
printf '\x80\x04}(K\x00\x8c\x07+_childK\x01\x8c\x07-_childu.' >betae/id2rel.pkl
tab '0 0 1' '1 1 0' '2 1 0' >betae/train.txt
tab '1 0 2' '2 1 1' >betae/valid.txt
show wfre import betae -o betae.kg
show wfre info betae.kg
# Blank nodes of two files stay apart, whatever they are called.
printf '@prefix : <http://e/> .\n:a :r _:x . _:s1_x :r :b .\n' >first.ttl
printf '@prefix : <http://e/> .\n:c :r _:x .\n' >second.ttl
show wfre import first.ttl second.ttl -o blanks.kg --literals entities
show wfre ask blanks.kg '?x : r(?x, ?y)' 2>&1
show wfre ask blanks.kg '?x : r(?y, ?x)' 2>&1

# A dictionary in WordNet's format: names by sense, mirrors left out, words' pointers kept.
mkdir wordnet
cat >wordnet/data.noun <<'END'
  1 This line is a licence
00000001 03 n 01 animal 0 001 ~ 00000002 n 0000 | a living organism  
00000002 03 n 02 Dog 0 domestic_dog 0 002 @ 00000001 n 0000 + 00000001 v 0101 | a canine; "the dog barked"  
00000003 03 n 01 dog 1 001 @ 00000001 n 0000 | an unattractive person  
END
cat >wordnet/data.verb <<'END'
00000001 38 v 01 dog 0 001 + 00000002 n 0101 01 + 08 00 | go after
END
cat >wordnet/data.adj <<'END'
00000001 00 a 01 big(p) 0 001 & 00000002 a 0000 | large
00000002 00 s 01 huge 0 001 & 00000001 a 0000 | very big
END
: >wordnet/data.adv
printf 'animal n 1 1 ~ 1 1 00000001  \ndog n 2 2 @ + 2 1 00000002 00000003  \ndomestic_dog n 1 1 @ 1 0 00000002  \n' >wordnet/index.noun
printf 'dog v 1 1 + 1 0 00000001  \n' >wordnet/index.verb
printf 'big a 1 1 & 1 1 00000001  \nhuge a 1 1 & 1 0 00000002  \n' >wordnet/index.adj
: >wordnet/index.adv
show wfre import wordnet -o wordnet.kg
show wfre info wordnet.kg
# Behind a source that knows a synset already; a pointer that leads nowhere names its file.
printf 'dog.n.01\tsays\twoof\n' >says.tsv
show wfre import says.tsv wordnet -o both.kg
sed -i 's/+ 00000002 n/+ 00009999 n/' wordnet/data.verb
show wfre import wordnet -o none.kg

# Holding out: half valid, half test; the same seed gives the same file.
for i in $(seq 200); do printf 'e%d\tr%d\te%d\n' $((i % 20)) $((i % 3)) $((i * 7 % 20)); done >many.tsv
show wfre import many.tsv -o one.kg --holdout 0.2 --seed 5
wfre import many.tsv -o two.kg --holdout 0.2 --seed 5 >two.txt && cmp one.kg two.kg && echo same seed, same file
wfre import many.tsv -o two.kg --holdout 0.2 --seed 6 >two.txt && cmp -s one.kg two.kg || echo other seed, other file
show wfre import family.tsv -o small.kg --holdout 0.5
show wfre import family.tsv -o family.kg --json
show wfre import --help

# The generated graph of the benchmark; its numbers differ from run to run.
show wfre bench import --triples 20000 --time 0.01 --json 2>progress.txt | sed -E 's/("(version|commit|kernels|cpu)":)"[^"]*"/\1""/g; s/("[a-z]+_[a-z_]+":)[0-9.e+-]+/\1N/g'
# Many lists in one statement are not deep; English is en, not enm; a label file's commas are its own.
{
    printf '@prefix : <http://e/> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n'
    printf ':a :p (:x :y)'
    for i in $(seq 250); do printf ', (:x%d :y)' $i; done
    printf ' .\n:a :knows :b . :a rdfs:label "Altenglisch"@enm, "Paris, Texas"@en .\n'
} >lists.ttl
printf 'http://e/b\tB, the second letter\n' >letters.txt
show wfre import lists.ttl -o lists.kg --labels letters.txt
show wfre ask lists.kg '?x : knows("Paris, Texas", ?x)' 2>/dev/null
awk 'BEGIN { printf ":a :p "; for (i = 0; i < 250; i++) printf "("; for (i = 0; i < 250; i++) printf ")"; print " ." }' >>lists.ttl
show wfre import lists.ttl -o lists.kg
