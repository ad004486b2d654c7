# Bad input: one clear line, exit 1, and the output stays as it was.
printf 'a\tr\tb\n' >good.tsv
wfre import good.tsv -o old.kg >old.txt && cp old.kg before.kg
bad() {
    show wfre import "$@" -o old.kg
    cmp old.kg before.kg
    ls | grep tmp
}
: >empty.tsv
bad empty.tsv
head -c 4096 "$WFRE" >binary.tsv
bad binary.tsv
printf 'a\tr\tb\na\tb\n' >two.tsv
bad two.tsv
printf 'a\tr\tb\tc\n' >four.tsv
bad four.tsv
printf 'a\t\tb\n' >hollow.tsv
bad hollow.tsv
printf 'a\tr\tb\0c\n' >nul.tsv
bad nul.tsv
printf 'a\tr\t\xe4\n' >latin.tsv
bad latin.tsv
echo '$ a line of 1 GB'
head -c 1000000000 /dev/zero | tr '\0' x | wfre import - -o old.kg
echo "[exit ${PIPESTATUS[2]}]"
bad no-such-file.tsv
mkdir nothing
bad nothing
bad good.tsv --format csv
printf 'x\n' >one.tsv
bad good.tsv --labels one.tsv
printf '\x1f\x8b\x08\x00half' >half.tsv.gz
bad half.tsv.gz
printf '<http://x/a> <http://x/r> <http://x/b> .\n<http://x/a> <http://x/r> oops .\n' >bad.nt
bad bad.nt
bad bad.nt --format tsv
printf 'ex:a ex:r ex:b .\n' >bad.ttl
bad bad.ttl
printf '<http://x/a> <http://x/r> "only a literal" .\n' >literal.nt
bad literal.nt --literals drop
echo '$ brackets without end'
(printf '<http://x/a> <http://x/r> '; head -c 100000 /dev/zero | tr '\0' '(') | wfre import - --format ttl -o old.kg
echo "[exit $?]"
mkdir betae && printf '0\t0\t1\n' >betae/train.txt
printf '\x80\x02}(K\x00U\x01aK\x01U\x01bu.' >betae/id2ent.pkl
printf '\x80\x02cos\nsystem\n(U\x04exittR.' >betae/id2rel.pkl
bad betae
printf '\x80\x02}(K\x00U\x01rK\x01Nu.' >betae/id2rel.pkl
bad betae
printf '\x80\x02}(K\x00U\x02+rK\x01U\x02-ru.' >betae/id2rel.pkl
printf '0\t0\t2\n' >betae/train.txt
bad betae
printf '0\tx\t1\n' >betae/train.txt
bad betae
printf '\x80\x02}(K\x00U\x02+rK\x01U\x02+sK\x02U\x02-rK\x03U\x02-su.' >betae/id2rel.pkl
printf '0\t0\t1\n1\t2\t0\n' >betae/train.txt
bad betae
printf '\x80\x02}(K\x00U\x02-rK\x01U\x02+ru.' >betae/id2rel.pkl
bad betae
mkdir wordnet && printf 'nonsense\n' >wordnet/data.noun && : >wordnet/index.noun
bad wordnet
bad folder-missing/train.txt
mkdir split && cp good.tsv split/train.tsv && printf 'b\tr\ta\n' >split/valid.tsv
bad split --holdout 0.5

# Where it cannot be written.
show wfre import good.tsv -o nowhere/g.kg
show wfre import good.tsv -o nothing
show wfre import good.tsv
echo '$ a full disk'
(ulimit -f 8; trap '' XFSZ
 for i in $(seq 2000); do printf 'e%d\tr\te%d\n' $i $((i + 1)); done | wfre import - -o full.kg)
echo "[exit $?]"
ls full.kg* 2>&1

# Files that are no whole graph.
head -c 1000 old.kg >cut.kg
show wfre info cut.kg
head -c -1 old.kg >short.kg
show wfre info short.kg
printf '\x01' | dd of=old.kg bs=1 seek=1100 conv=notrunc status=none
show wfre info old.kg
printf '\x03' | dd of=before.kg bs=1 seek=8 conv=notrunc status=none
show wfre info before.kg
show wfre info good.tsv
show wfre info empty.tsv
show wfre info missing.kg
