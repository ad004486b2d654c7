# Everyday questions: whether, rows, relations, counts, all about one entity, what is near, names by a part of them, and
# all missing triples in a file. The model is trained for a moment, so what it predicts is masked; its form is not.
cat >g.ttl <<'TXT'
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:LetItBe :producer :Spector ; :year 1970 ; rdfs:label "Let It Be" .
:Help :producer :Martin ; rdfs:label "Help!" .
:Abbey :producer :Martin ; rdfs:label "Abbey Road" . :LetItBe :producer :Martin .
:Spector rdfs:label "Phil Spector" . :Martin rdfs:label "George Martin" ; :name "George"@en .
:Martin :knows :Spector .
TXT
wfre import g.ttl -o g.kg >/dev/null 2>&1
ask() { show wfre ask g.kg "$@"; }
ask 'producer("Let It Be", "phil spector")'
ask 'producer("Help!", "Phil Spector")'
ask '!producer("Help!", "George Martin")'
ask 'forall ?x. exists ?y. producer(?x, ?y)'
ask '"Abbey Road" = "Help!"'
ask '"Abbey Road" != "Help!"'
ask ': producer(?x, "Phil Spector") & knows("George Martin", "Phil Spector")'
ask '?x, ?y : producer(?x, ?y)'
ask '?x, ?y : producer(?x, "George Martin") & producer(?y, "George Martin") & ?x != ?y' --top 2
ask '?r("Let It Be", "Phil Spector")'
ask 'count ?x : producer(?x, "George Martin")'
ask '?p, count ?x : producer(?x, ?p)'
ask 'count ?x, ?p : producer(?x, ?p)' --json
ask 'describe Let It Be'
ask 'describe "George Martin"' --json
ask 'describe Nobody'
ask 'near "Help!"'
ask 'count ?x, ?x : producer(?x, ?x)'
# One object a line, whatever becomes of the question.
printf 'producer(Nobody, Martin)\n?x : producer(?x, Spector)\nSELECT ?x {\ndescribe No\np(\nnear Help!\n' |
    wfre ask g.kg --json 2>/dev/null | sed -E 's/("seconds":)[0-9.]+/\1T/' | cut -c 1-150
printf 'SELECT ?x { ?x <http://example.org/knows> ?y }\nASK { ?x ?y 1970 }\nCONSTRUCT { ?y ?r ?x } WHERE { ?x ?r ?y . ?y ?s ?z }\ndescribe Help!\n' |
    wfre ask g.kg --json
# Commands among questions, unless JSON is wanted.
printf 'set top 1\n?x : producer(?x, Martin)\nset top few\nfind MARTIN\nquit\n?x : producer(?x, Spector)\n' |
    wfre ask g.kg 2>&1 | grep -v " in [0-9.]* ms"
printf 'set top 1\n' | wfre ask g.kg --json 2>/dev/null
show wfre find g.kg MARTIN
show wfre find g.kg a --entities --top 2
show wfre find g.kg know --json
show wfre find g.kg nothing
show wfre find g.kg a --entities --relations

# With a model.
mkdir ring
awk 'BEGIN { for (i = 0; i < 24; i++) for (r = 1; r < 4; r++) printf "e%d\tr%d\te%d\n", i, r, (i + r) % 24 }' >all
awk 'NR % 9 == 0' all >ring/valid.tsv
awk 'NR % 9 == 4' all >ring/test.tsv
awk 'NR % 9 != 0 && NR % 9 != 4' all >ring/train.tsv
wfre import ring -o r.kg >/dev/null 2>&1
wfre train r.kg -o m.safetensors --dim 20 --bases 3 --batch 32 --negatives 16 --steps 30 --validate 2 --calibrate 6 \
    >/dev/null 2>&1
mask() { sed -E 's/e[0-9]+/E/g; s/r[123]/R/g; s/ [01]\.[0-9]{3}/ P/; s/expects [0-9.]+/expects X/; s/"(score|probability)":[-0-9.e]+/"\1":X/g; s/"id":[0-9]+/"id":N/g; s|(predicted E P), .*|\1 ...|'; }
ask() { show wfre ask r.kg m.safetensors "$@" 2>&1 | mask; }
ask 'r1(e0, e1)'
ask 'r1(e0, e7)'
ask '!r1(e0, e1)'
ask 'r1(e0, e7) & r2(e3, e4)' --json
ask ': r1(e0, ?x) & r1(?x, e5)'
ask '?x, ?y : r1(e0, ?x) & r2(?x, ?y)' --top 2
ask '?x, ?y : r1(e0, ?x) & r2(?x, ?y) & r3(?y, e9)' --top 2
ask '?r(e0, e1)' --top 1
ask '?r, ?y : ?r(e0, ?y)' --top 1
ask '?x, ?r : ?r(?x, e0) & r1(?x, e5)' --top 1
ask 'count ?x : r1(e0, ?x)'
ask 'describe e3' --top 2
ask 'near e3' --top 2
ask 'r1(e0, e1)' --explain --split train
ask 'r1(e0, e7)' --explain | sed -E 's/( [01][.][0-9]{3}|P)$/ P/; s/predicted E.*/predicted .../; s/: [0-9]+ of [0-9]+ (others|pairs).*/: N/' | sort -u
ask ': r1(e0, ?x) & r1(?x, e2)' --explain
ask 'near e3' --top 1 --json
ask '?x : r1(e0, ?x)' --by embedding --top 1
ask '?x : r1(e0, ?x)' --by hand --top 1
# Known and predicted rows never meet.
wfre ask r.kg m.safetensors '?x, ?y : r1(?x, ?y)' --top 0 2>/dev/null | awk '{ print $2, $4, $6 }' | sort -u >rows
awk '{ print $2, $3 }' rows | sort | uniq -d | wc -l

predict() { wfre predict r.kg m.safetensors "$@"; }
predict --relation r1 --top 1 2>&1 | head -n 2 | mask | cut -f 1-3
predict --relation r9
predict --all --relation r1 2>&1 | head -n 1
predict --all --format csv 2>&1 | head -n 1
predict --all -o whole.tsv 2>&1 | sed -E 's/^[0-9,]+/N/'
cut -f 2 whole.tsv | uniq
# None is known, each is there once, and it ends as a probability.
awk -F '\t' 'NR == FNR { known[$1, $2, $3]; next } ($1, $2, $3) in known || $4 < 0 || $4 > 1' all whole.tsv
cut -f 1-3 whole.tsv | sort | uniq -d
predict --all -o whole.nt 2>/dev/null
wfre import whole.nt -o again.kg | sed -E 's/[0-9,]+ triples/N triples/' | head -n 1
cut -f 1,3 whole.tsv | sort >tsv.pairs
sed -E 's/<urn:wfre:e:([^>]*)> <[^>]*> <urn:wfre:e:([^>]*)> .*/\1\t\2/' whole.nt | sort | cmp - tsv.pairs
predict --all -o whole.jsonl 2>/dev/null
wc -l whole.tsv whole.jsonl | head -n 2 | awk "{ print \$1 }" | uniq | wc -l
# A run that cannot go on keeps what is done; the same command does the rest. Another one may not.
(ulimit -f 1; predict --all -o early.tsv 2>&1; echo "exit $?") | cat # the limit is not for this output
ls | grep ^early # nothing was done, and nothing is left
: >busy.tsv.lock
flock busy.tsv.lock wfre predict r.kg m.safetensors --all -o busy.tsv 2>&1
(ulimit -f 9; predict --all -o cut.tsv 2>&1; echo "exit $?") | cat
ls | grep ^cut
predict --all -o cut.tsv --top 3 2>&1
predict --all -o cut.tsv 2>&1 | sed -E 's/^[0-9,]+ triples/N triples/'
cmp whole.tsv cut.tsv && ls | grep ^cut
# Of what an earlier run left, only what is whole counts, and what begins the journal.
(ulimit -f 9; predict --all -o left.tsv 2>/dev/null)
damaged() {
    cp left.tsv.part cut.tsv.part
    cp left.tsv.progress cut.tsv.progress
    "$@"
    predict --all -o cut.tsv 2>&1 | grep before
    cmp whole.tsv cut.tsv && ls | grep ^cut
    rm -f cut.tsv*
}
damaged true
damaged truncate -s 100 cut.tsv.part
damaged rm cut.tsv.part
damaged dd of=cut.tsv.part bs=1 seek=9 conv=notrunc status=none <<<X
damaged truncate -s -3 cut.tsv.progress
damaged truncate -s 9 cut.tsv.progress
damaged dd of=cut.tsv.progress bs=1 count=200 if=/dev/zero status=none
# Links, pipes and devices stay what they are; no input is taken for a file of its own.
ln -s target.tsv link.tsv
predict --all -o link.tsv 2>/dev/null
[ -L link.tsv ] && cmp whole.tsv target.tsv && ls | grep ^link
mkfifo pipe
cat pipe >read.tsv & predict --all -o pipe 2>/dev/null; wait
[ -p pipe ] && cmp whole.tsv read.tsv
predict --all -o /dev/stdout 2>/dev/null >read.tsv; cmp whole.tsv read.tsv
predict --all -o /dev/full 2>&1
ln -s whole.tsv x.tsv.part
predict --all -o x.tsv 2>&1 | cut -d : -f 1-2
rm x.tsv.*; mkfifo x.tsv.part
predict --all -o x.tsv 2>&1
cp r.kg x.part
wfre predict x.part m.safetensors --all -o x 2>&1 | head -n 1
cmp r.kg x.part

# A model is known by what it is, whatever its name.
cp m.safetensors m.model
wfre eval r.kg m.model 2>/dev/null >renamed; wfre eval r.kg m.safetensors 2>/dev/null | cmp - renamed && grep -c tails renamed
wfre ask r.kg m.model '?x : r1(e1, ?x)' --top 3 2>/dev/null >renamed
wfre ask r.kg m.safetensors '?x : r1(e1, ?x)' --top 3 2>/dev/null | cmp - renamed && grep -c predicted renamed
