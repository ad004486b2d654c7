# A program in a locale with a decimal comma writes and reads the same bytes as one in the C locale.
command -v localedef >/dev/null && mkdir locales &&
    localedef -c -i de_DE -f UTF-8 "$PWD/locales/de_DE.UTF-8" >/dev/null 2>&1
[ -d locales/de_DE.UTF-8 ] || { echo "localedef or its sources are missing"; exit 77; }
awk 'BEGIN { for (i = 0; i < 30; i++) for (r = 0; r < 3; r++) printf "e%d\tr%d\te%d\n", i, r, (i * (r + 1) + r) % 30 }' >ring.tsv
echo '[{"left": [0.25,0.5], "right": [0.5,0.125], "block": 2, "radius": 1.5, "epsilon": 0.1}]' >cases.json

# Every command whose output or files hold numbers with a fraction; all in the folder $1.
work() {
    mkdir "$1" && cd "$1"
    $program import ../ring.tsv -o ring.kg --holdout 0.15
    $program train ring.kg -o ring.safetensors --dim 20 --bases 3 --batch 16 --negatives 8 \
        --steps 5 --rho 7.5 --set drop-input=0.125 --validate 2 --calibrate 5
    $program info ring.safetensors
    $program info ring.kg --hierarchy --json
    $program sample ring.kg -o q.tsv --split valid --types 1p,2p --count 3
    $program eval ring.kg ring.safetensors q.tsv --json
    $program eval ring.kg ring.safetensors q.tsv --report report
    printf '0\t0\t2.5\n0\t2\t2.25\n1\t3\t0.5\n' >s.tsv
    $program eval ring.kg q.tsv --scores s.tsv --csv
    $program ask ring.kg ring.safetensors '?x : r0(e1, ?x)' --json
    $program ask ring.kg ring.safetensors '?x : r0(e1, ?x)' --explain=svg
    $program score ../cases.json --gradients
    $program score ../cases.json --json
    $program train ring.kg --set rho=-0.5 --settings
    $program import ../ring.tsv -o ring.kg --holdout 7.5
} 2>&1

# Times that a command took are never the same twice.
same='s/( in )[0-9.,]+ (ms|s)\b/\1T \2/; s/([a-z_]*seconds": ?)[0-9.e+-]+/\1T/g; s/(per_second": ?)[0-9.e+-]+/\1T/g'
(program=$WFRE_COMMA_PROGRAM && work plain) | sed -E "$same" >plain.out
# Libraries that the server needs make a locale when they are loaded, and with LOCPATH that leaks; of our
# own leaks the other run would tell.
(program="env ASAN_OPTIONS=detect_leaks=0 LC_ALL=de_DE.UTF-8 LOCPATH=$PWD/locales WFRE_COMMA=yes $WFRE_COMMA_PROGRAM" && work comma) | sed -E "$same" >comma.out
sed -E -i "$same" {plain,comma}/*.jsonl {plain,comma}/report/*.json {plain,comma}/report/*.html
diff plain.out comma.out && echo "the same output"
diff -r plain comma && echo "the same files"
grep "has no comma" comma.out
ls plain plain/report
