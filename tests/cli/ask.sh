# Exact answers in the three notations, of trees and of what is not a tree.
wfre import "$HERE/../data/family-betae" -o g.kg >/dev/null
ask() { show wfre ask g.kg "$@" 2>&1; }
ask '?x : parent(Ann, ?x)'
ask '?x : parent(Ann, ?y) & parent(?y, ?x)' --split train
ask '?x : parent(Ann, ?y) & parent(?y, ?x)' --json
ask '(i,(p,lives^-1,(e,Oslo)),(n,(p,parent,(e,Ann))))' --exact
ask '((8,(3,)),(0,(0,-2)))'
ask '?x : !lives(?x, ?y)'
# A cycle: parents who live where their child lives. Then all who share a child.
ask '?x : parent(?x, ?y) & lives(?x, ?z) & lives(?y, ?z)' --timeout 10s
ask '?x : parent(?x, ?c) & parent(?y, ?c) & lives(?y, Oslo) & forall ?z. (!parent(?z, ?c) | lives(?z, Oslo))'
ask '?x : lives(?x, ?y) | parent(?x, ?y)' --top 2
ask '?x : lives(?x, Olso)'
ask '(p,(e))'
ask '?x : parent(?x' 
show wfre ask missing.kg '?x : parent(Ann, ?x)'
# Questions from standard input: blank lines and comments are skipped, one mistake does not end it.
printf '# who\n?x : parent(Ann, ?x)\n\n?x : nobody(?x, Ann)\n(p,parent,(e,Dan))\n' >questions
ask <questions
# A byte order mark and Windows line ends are nothing; what would cut a question short is a mistake.
printf '\xef\xbb\xbf?x : parent(Ann, ?x)\r\n(p,parent,(e,Dan))\r\n' >questions
ask <questions
printf '?x : parent(Ann, ?x)\r & !parent(Ann, Bob)\n?x : parent(Ann, ?x)\0 & lives(?x, Oslo)\n?x : parent(Dan, ?x)' >questions
ask <questions
# Labels and descriptions; what needs a model.
printf 'Nolan\tdirected\tTenet\n' >g.tsv
printf 'Tenet\tTenet (2020)\tA secret agent manipulates the flow of time in order to prevent the third world war.\n' >labels.tsv
wfre import g.tsv -o g.kg --labels labels.tsv >/dev/null 2>&1
ask '?f : directed(Nolan, ?f)'
ask '?f : directed(Nolan, ?f)' --json
ask '?f : directed(Nolan, ?f)' --only predicted
ask '?f : directed(Nolan, ?f)' --only some
ask model '?f : directed(Nolan, ?f)'
ask m.safetensors '?f : directed(Nolan, ?f)'
# A label that several have is said to be so, whatever else is nearly called the same.
printf 'q1\tr\tq2\nq3\tnot?\tq4\n' >labelled.tsv
printf 'q1\tparis\nq3\tParis\nq4\tParis\n' >labels.txt
wfre import labelled.tsv -o labelled.kg --labels labels.txt >/dev/null
show wfre ask labelled.kg '?x : r(Paris, ?x)'
show wfre ask labelled.kg '?x : "not?"(?x, q4)' 2>/dev/null
