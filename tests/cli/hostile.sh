# Files and words that are made to mislead: nothing of a file goes missing in silence, and nothing
# of it rules the terminal.
printf 'a\tr\tb\n' >good.tsv
wfre import good.tsv -o g.kg >/dev/null

echo '# a NUL is not the end of a file'
printf '<http://e/1> <http://r> <http://e/2> .\n# \0\n<http://e/3> <http://r> <http://e/4> .\n' >n.nt
show wfre import n.nt -o n.kg
sed 's/# //' n.nt >m.ttl
show wfre import m.ttl -o n.kg

echo '# every member of gzip data counts'
(printf 'a\tr\tb\n' | gzip; printf X; printf 'c\tr\td\n' | gzip) >x.tsv.gz
show wfre import x.tsv.gz -o n.kg
(printf 'a\tr\tb\n' | gzip; printf 'c\tr\td\n' | gzip | head -c 12) >cut.tsv.gz
show wfre import cut.tsv.gz -o n.kg
(printf 'a\tr\tb\n' | gzip; printf 'c\tr\td\n' | gzip; head -c 100 /dev/zero) >whole.tsv.gz
show wfre import whole.tsv.gz -o whole.kg

echo '# pipes, links and standard output'
mkfifo pipe
show wfre import pipe -o n.kg
show wfre info pipe
show wfre ask pipe '?x : r(a, ?x)'
(sleep 0.3; printf 'a\tr\tb\n' >pipe) &
show wfre import pipe -o n.kg
wait
wfre import good.tsv -o /dev/stdout 2>message | wc -c
cat message
show wfre export pipe -o n.nt
show wfre ask g.kg --file pipe
(sleep 0.3; echo '?x : r(a, ?x)' >pipe) &
show wfre ask g.kg --file pipe
wait
wfre ask g.kg --file <(sleep 0.3; echo '?x : r(a, ?x)')
awk 'BEGIN { for (i = 0; i < 9999; i++) print "a\tr\t" i }' | wfre import - -o wide.kg >/dev/null
wfre ask wide.kg '?x : r(a, ?x)' --top 0 >/dev/full
ln -s target.kg link.kg
show wfre import good.tsv -o link.kg
[ -L link.kg ] && [ -f target.kg ] && echo 'the link stays, its target is new'

echo '# text of files: half characters, marks of byte order, dot segments'
printf '<http://e/1> <http://r> "\\ud800" .\n' >half.ttl
show wfre import --literals entities half.ttl -o n.kg
printf '<http://e/1> <http://r> <http://e/2> ; <http://www.w3.org/2000/01/rdf-schema#label> "\\udfff" .\n' >half.ttl
show wfre import half.ttl -o n.kg
(printf '\xef\xbb\xbfa\tr\tb\n'; printf '\xef\xbb\xbfc\tr\td\n') >joined.tsv
wfre import joined.tsv -o n.kg && show wfre ask n.kg '?x : r(c, ?x)'
# the examples of RFC 3986, 5.4: what the reference leads to
while read -r reference target; do
    printf '@base <http://a/b/c/d;p?q> .\n<http://s> <http://p> <%s> .\n' "$reference" >i.ttl
    wfre import i.ttl -o i.kg >/dev/null
    wfre ask i.kg "?x : p('http://s', ?x)" --json | grep -qF "\"name\":\"$target\"" ||
        echo "$reference does not lead to $target"
done <<'END'
g http://a/b/c/g
./g http://a/b/c/g
g/ http://a/b/c/g/
/g http://a/g
//g http://g
?y http://a/b/c/d;p?y
g?y http://a/b/c/g?y
#s http://a/b/c/d;p?q#s
g?y#s http://a/b/c/g?y#s
;x http://a/b/c/;x
. http://a/b/c/
./ http://a/b/c/
.. http://a/b/
../g http://a/b/g
../.. http://a/
../../g http://a/g
../../../g http://a/g
/./g http://a/g
/../g http://a/g
g. http://a/b/c/g.
..g http://a/b/c/..g
./../g http://a/b/g
./g/. http://a/b/c/g/
g/./h http://a/b/c/g/h
g/../h http://a/b/c/h
g;x=1/../y http://a/b/c/y
g?y/../x http://a/b/c/g?y/../x
g#s/../x http://a/b/c/g#s/../x
END

echo '# more columns than there is room for'
(for i in $(seq 70); do printf 'c%d\t' $i; done; printf 'head\trelation\ttail\n') >wide.tsv
show wfre import wide.tsv -o n.kg

echo '# nothing rules the terminal'
esc=$(printf '\x1b[31m')
mkdir betae
printf '\x80\x02c\x1b[31mos\nsystem\n.' >betae/id2ent.pkl
cp betae/id2ent.pkl betae/id2rel.pkl
printf '0\t0\t1\n' >betae/train.txt
show wfre import betae -o n.kg
wfre import "no$esc.tsv" -o n.kg
wfre "$esc"
wfre ask "--$esc" g.kg
wfre ask g.kg "?x : $esc(a, ?x)"
printf 'a\tr\t\xe2\x80\xaebackwards\xc2\x9b31m\n' >bidi.tsv
wfre import bidi.tsv -o bidi.kg
wfre ask bidi.kg '?x : r(a, ?x)'
wfre ask bidi.kg '?x : r(a, ?x)' --json
printf '=1+1\t(p,#0,(e,#0))\t\t1\n\x1b[31m\t(p,#0,(e,#0))\t\t1\n' >q.tsv
wfre info q.tsv
printf '0\t1\t1\n1\t1\t1\n' >scores.tsv
wfre eval g.kg q.tsv --scores scores.tsv --csv | cut -d, -f1-3
wfre eval g.kg q.tsv --scores scores.tsv | head -4
printf '?x : %s(a, ?x)\n' "$esc" | wfre ask g.kg

echo '# a long question is not shown whole'
long=$(printf '?x : r(a, ?x)'; for i in $(seq 5000); do printf ' & r(a, ?x)'; done)
wfre ask g.kg "$long & nosuch(a, ?x) $long" 2>&1 | wc -c
wfre ask g.kg "$long & nosuch(a, ?x) $long" 2>&1 | tail -2 | cut -c 1-20
echo "$long" | wfre ask g.kg 2>&1 | grep "^>" | wc -c

echo '# files from before there were checksums of blocks still open, and are checked'
cp -r $HERE/../data/old .
old=old
show wfre ask $old/g.kg '?x : r0(e3, ?x)'
wfre ask $old/g.kg $old/m.safetensors '?x : r0(e3, ?x)' --only predicted --top 1 >/dev/null && echo 'old model answers'
wfre info --check $old/m.safetensors >/dev/null && wfre info --check $old/g.kg >/dev/null && echo 'both are whole'
WFRE_CHECK=use wfre ask $old/g.kg '?x : r0(e3, ?x)'
cp $old/g.kg cut.kg
printf '\377' | dd of=cut.kg bs=1 seek=2000 conv=notrunc status=none
show wfre ask cut.kg '?x : r0(e3, ?x)'
WFRE_CHECK=use wfre info cut.kg --split train >/dev/null

echo '# a weight that is not finite, or was changed'
cp $old/m.safetensors nan.safetensors
printf '\000\000\300\177' | dd of=nan.safetensors bs=1 seek=$(($(stat -c %s nan.safetensors) - 4)) conv=notrunc status=none
show wfre ask $old/g.kg nan.safetensors '?x : r0(e3, ?x)'
show wfre export nan.safetensors -o copy.safetensors
wfre export $old/m.safetensors -o new.safetensors >/dev/null
show wfre info --check new.safetensors | head -1
printf '\001' | dd of=new.safetensors bs=1 seek=$(($(stat -c %s new.safetensors) - 4)) conv=notrunc status=none
show wfre ask $old/g.kg new.safetensors '?x : r0(e3, ?x)'
show wfre info --check new.safetensors
show wfre export new.safetensors -o copy.safetensors
[ -e copy.safetensors ] || echo 'nothing was written'

echo '# a checkpoint of PyTorch with a changed number, or without those of gamma'
printf '%s\t%s\t%s\n' 0 a 1 2 b 3 4 c 5 6 a 7 8 b 9 >ten.tsv
wfre import ten.tsv -o ten.kg >/dev/null
torch=$HERE/../fuzz/corpus/torch/plain
cp $torch changed.ckpt
printf '\001' | dd of=changed.ckpt bs=1 seek=3600 conv=notrunc status=none
show wfre convert ten.kg changed.ckpt -o torch.safetensors --preset paper-nell
sed 's/data\/0/data\/x/g' $torch >lost.ckpt
show wfre convert ten.kg lost.ckpt -o torch.safetensors --preset paper-nell
