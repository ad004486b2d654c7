# The prompt at a terminal: completion by label and by name, with and without quotes, and history.
command -v script >/dev/null || { echo "skipped: there is no script to make a terminal"; exit 77; }
cat >g.ttl <<'TXT'
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:a :bornIn :v . :a rdfs:label "Ada" . :b :bornIn :n . :b rdfs:label "Bea" .
:z :bornIn :zh . :z rdfs:label "Zoë" . :zh rdfs:label "Zürich" . :v rdfs:label "Vienna" . :n rdfs:label "New York" .
TXT
wfre import g.ttl -o g.kg >/dev/null
export HOME=$PWD TERM=dumb TMOUT=60 # seconds that read waits
# ask KEYS: the first answer, or the mistake, at a prompt where someone types so.
ask() {
    coproc terminal { script -qec "wfre ask g.kg" /dev/null; }
    local line
    IFS= read -r -d '>' line <&"${terminal[0]}" # the prompt
    printf "$1\n" >&"${terminal[1]}"
    while IFS= read -r line <&"${terminal[0]}"; do
        [[ $line == *'  (http'* || $line == wfre:* ]] && break
    done
    printf '%s\n' "${line%$'\r'}"
    # Ctrl-D counts once the prompt reads keys, a moment after it shows; from before that there
    # comes a zero byte, which Ctrl-U drops.
    local keys=${terminal[1]} pid=$terminal_PID
    for ((tries = 0; tries < 400; tries++)); do
        kill -0 "$pid" || break
        printf '\025\004' >&"$keys"
        sleep 0.05
    done 2>/dev/null
    kill "$pid" 2>/dev/null && echo "Ctrl-D does not end it"
    wait
}
ask '?x : bor\t(?x, Vi\t)'
ask '?x : bornIn(?x, New\t)'
ask '?x : bornIn(?x, "New Y\t)'
ask '?x : "http://example.org/bo\t(?x, New\t)'
ask '?x : (bor\t(?x, Zür\t)) & !bornIn(?x, Vi\t)'
ask '\020'
ask '?x : bornIn(?x\003?x : bornIn(?x, Vienna)'
tail -n 1 .wfre_history
# Completion that fits the place, whatever the case; what the prompt itself understands.
ask '?x : bornIn(?x, vie\t)'
ask '?x : bornIn(Z\t, ?x)'
ask 'describe New\t'
type_lines() { # everything a person sees who types these lines, without the echo
    { sleep 0.5; for line; do printf '%s\n' "$line"; sleep 0.3; done; } | script -qec "stty -echo; wfre ask g.kg" /dev/null 2>&1 |
        tr -d '\r' | sed -E 's/wfre> //g; s/\x1b\[[0-9;]*[a-zA-Z]//g; s/ in [0-9.]+ ms/ in T ms/' | grep -v '^A question a line\|^Tab completes names, help'
}
type_lines help 'set top 1' 'set split nowhere' 'set' '?x, ?y : bornIn(?x, ?y)' 'find vie' 'bornIn(Ada, Vienna)' quit |
    grep -E '^(  help|  count|set|top|split|shown|Ada|entity|proven)'
# A narrow terminal cuts lines.
{ sleep 0.5; printf 'find vie\n'; sleep 0.3; printf 'quit\n'; } | script -qec "stty cols 40 -echo; wfre ask g.kg" /dev/null 2>&1 | tr -d '\r' |
    sed -nE 's/^(wfre> )?(entity.*)/\2/p'
# Characters of two columns count twice, so that no line is broken.
printf '@prefix : <http://example.org/> .\n:q :bornIn :t . :t <http://www.w3.org/2000/01/rdf-schema#label> "東京都千代田区丸の内" .\n' >wide.ttl
wfre import wide.ttl -o wide.kg >/dev/null
{ sleep 0.5; printf 'find 東\n'; sleep 0.3; printf 'quit\n'; } | script -qec "stty cols 30 -echo; wfre ask wide.kg" /dev/null 2>&1 | tr -d '\r' |
    sed -nE 's/^(wfre> )?(entity.*)/\2/p'
# A low one stops after each page; q leaves out the rest.
{ sleep 0.7; printf '?x, ?y : bornIn(?x, ?y)\n'; sleep 0.5; printf 'q\n'; sleep 0.5; printf 'quit\n'; } |
    script -qec "stty rows 3 -echo; wfre ask g.kg" /dev/null 2>&1 | tr -d '\r' | grep -oE -- '-- more: Enter goes on, q stops|\|  [A-Z]\w+|[0-9] rows'
