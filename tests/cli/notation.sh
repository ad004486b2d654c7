# Names that need quotes, the spellings of logic, and where errors point.
printf '%s\t%s\t%s\n' 'Ang Lee' 'won award' Oscar 'Ang Lee' directed 'Life of Pi' \
    'Ang Lee' citizen Taiwan 'Kathryn Bigelow' 'won award' Oscar \
    'Kathryn Bigelow' directed 'The "Hurt" Locker' 'Kathryn Bigelow' citizen USA \
    'Émile Zola' citizen 'and' 'Émile Zola' directed '#1' >films.tsv
wfre import films.tsv -o f.kg >/dev/null
ask() { show wfre ask f.kg "$@" 2>&1; }
ask '?f : "won award"(?d, Oscar) & directed(?d, ?f) & !citizen(?d, USA)'
ask "?f:'won award'(?d,Oscar) and directed(?d,?f) and not citizen(?d,USA)"
ask '?f : ∃?d. "won award"(?d,Oscar)∧directed(?d,?f)∧¬citizen(?d,USA)'
ask '(p,directed,(i,(p,"won award"^-1,(e,Oscar)),(n,(p,citizen^-1,(e,USA)))))'
ask '?d : directed(?d, "The \"Hurt\" Locker") | citizen(?d, "and") | directed(?d, "#1")'
ask '?d : citizen^-1(Taiwan, ?d)'
ask '?c : citizen(Émile, ?c)'
ask '?c : citizen("Émile Zola", ?c) & directs(?c, ?d)'
ask '?c : citizen(?c, Lee)'
ask '?c : citizen("Émile Zola, ?c)'
ask '?c : citizen(?c, "\q")'
ask '?c citizen(?c, USA)'
ask '?c : citizen(?c, #99)'
ask '(p,directed,(p,"won award"^-1,(e,Oscar))'
ask '(i,(p,#0,(e)),(p,#2,(e,#1)))'
ask '((1,(0,)),(-1,))'
ask '(1,(99,))'
