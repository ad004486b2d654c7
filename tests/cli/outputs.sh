# Where results go: never over what is read, through links, and nowhere else.
awk 'BEGIN { for (i = 0; i < 30; i++) for (r = 0; r < 3; r++) printf "e%d\tr%d\te%d\n", i, r, (i * (r + 1) + r) % 30 }' >g.tsv
wfre import g.tsv -o g.kg --holdout 0.1 >/dev/null 2>&1
md5sum g.tsv g.kg >sums
wfre import g.tsv -o g.tsv 2>&1 | head -n 1
wfre import g.tsv -o ./g.tsv 2>&1 | head -n 1
wfre import g.tsv -o l.kg --labels l.kg 2>&1 | head -n 1
wfre sample g.kg -o g.kg 2>&1 | head -n 1
wfre train g.kg -o g.kg --steps 2 2>&1 | head -n 1
wfre train g.kg -o q.tsv --queries q.tsv --steps 2 2>&1 | head -n 1
md5sum --quiet -c sums
# A link stays one; what it leads to is replaced. One that leads to standard output is that.
mkdir store
echo old >store/q.tsv
ln -s store/q.tsv q.tsv
show wfre sample g.kg -o q.tsv --types 1p --count 2
test -L q.tsv && wc -l <store/q.tsv
ln -s /proc/self/fd/1 out
echo before >all.tsv
wfre sample g.kg -o out --types 1p --count 2 2>/dev/null >>all.tsv
test -L out && wc -l <all.tsv
# Query sets may be compressed.
gzip -k store/q.tsv
show wfre info store/q.tsv.gz
wfre info --json | sed -E 's/"(version|commit|kernels)":"[^"]*"/"\1":""/g; s/\[[^]]*\]/[]/'
wfre train g.kg --settings --json --set rho=3 | tr , '\n' | grep rho
# Names with control characters do not rule the terminal, and are JSON.
printf 'a\tr\tred\033[31m\na\tr\tb\302\233c\n' >odd.tsv
wfre import odd.tsv -o odd.kg >/dev/null 2>&1
wfre ask odd.kg '?x : r(a, ?x)' 2>/dev/null
wfre import odd.tsv -o "$(printf 'x\377.kg')" --json | sed 's/,"format".*//'
