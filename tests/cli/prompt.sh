# The prompt at a terminal: completion by label and by name, with and without quotes, and history.
command -v script >/dev/null || { echo "skipped: there is no script to make a terminal"; exit 77; }
cat >g.ttl <<'TXT'
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:a :bornIn :v . :a rdfs:label "Ada" . :b :bornIn :n . :b rdfs:label "Bea" .
:v rdfs:label "Vienna" . :n rdfs:label "New York" .
TXT
wfre import g.ttl -o g.kg >/dev/null
export HOME=$PWD TERM=dumb
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
    IFS= read -r -d '>' line <&"${terminal[0]}"
    printf '\004' >&"${terminal[1]}"
    wait
}
ask '?x : bor\t(?x, Vi\t)'
ask '?x : bornIn(?x, New\t)'
ask '?x : bornIn(?x, "New Y\t)'
ask '?x : "http://example.org/bo\t(?x, New\t)'
ask '\020'
ask '?x : bornIn(?x\003?x : bornIn(?x, Vienna)'
tail -n 1 .wfre_history
