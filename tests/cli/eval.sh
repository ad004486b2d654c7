# Evaluation of given scores: table, CSV, JSON, report, and what wrong input gets.
printf 'a\tr\tb\nb\tr\tc\nc\ts\ta\nd\ts\ta\n' >train.txt
wfre import train.txt -o g.kg >imported
printf '# made by hand\n1p\t(p,#0,(e,#0))\t1\t2 3\n2u\t(u,(p,#0,(e,#0)),(p,#2,(e,#2)))\t\t1\n' >q.tsv
printf '2in\t(i,(p,#0,(e,#0)),(n,(p,#2,(e,#2))))\t\t0\n' >>q.tsv
printf '0\t0\t2\n0\t2\t2\n0\t3\t3\n1\t1\t0.5\n1\t2\t0.25\n2\t2\t1\n' >s.tsv
printf '0\t2\n0\t3\n1\t1\n2\t0\n' >ranking.tsv
show wfre eval g.kg q.tsv --scores s.tsv
show wfre eval g.kg q.tsv --scores s.tsv --scores ranking.tsv --repeats
show wfre eval g.kg q.tsv --scores s.tsv --csv
show wfre eval g.kg q.tsv --scores s.tsv --json
show wfre eval g.kg q.tsv --scores s.tsv --report out >/dev/null
ls out
show wfre eval g.kg q.tsv --scores s.tsv --report logged --log s.tsv >/dev/null
printf '{"step": 1, "loss": 2}\n' >log.jsonl
show wfre eval g.kg q.tsv --scores s.tsv --report logged --log log.jsonl >/dev/null
grep -c Learning logged/report.html
printf '9\t0\t2\n' >bad.tsv
show wfre eval g.kg q.tsv --scores bad.tsv
show wfre eval g.kg q.tsv --scores none.tsv
show wfre eval g.kg q.tsv --scores s.tsv --bootstrap 0
show wfre eval g.kg q.tsv
show wfre eval g.kg q.tsv --scores s.tsv --union some
show wfre eval g.kg new.tsv --scores s.tsv --sample 1p --split train
show wfre eval g.kg q.tsv --scores s.tsv --report g.kg/out >/dev/null
mkdir ours theirs && cp s.tsv ours && cp ranking.tsv theirs/s.tsv
show wfre eval g.kg q.tsv --scores ours/s.tsv --scores theirs/s.tsv
show wfre eval g.kg - --scores s.tsv <q.tsv
show wfre eval g.kg - --scores s.tsv --scores ranking.tsv <q.tsv
show wfre eval g.kg - --scores - <q.tsv
printf '1p\t(p,#0,(e,#0))\t1\t\n' | show wfre eval g.kg - --scores s.tsv
show wfre eval g.kg - --scores s.tsv --sample 1p <q.tsv
# By how many edges have to be predicted.
mkdir grown && printf 'a\tr\tb\nb\tr\tc\n' >grown/train.txt && printf 'a\tr\tc\nc\tr\td\nb\tr\td\n' >grown/valid.txt
wfre import grown -o grown.kg >imported
printf '2p\t(p,#0,(p,#0,(e,#0)))\t2\t3\n1p\t(p,#0,(e,#0))\t1\t2\n' >strata.tsv
printf '0\t3\n1\t0\n1\t2\n' >strata-scores.tsv
show wfre eval grown.kg strata.tsv --scores strata-scores.tsv --strata
show wfre eval grown.kg strata.tsv --scores strata-scores.tsv --strata --csv
show wfre eval grown.kg strata.tsv --scores strata-scores.tsv --strata --json
show wfre eval grown.kg strata.tsv --scores strata-scores.tsv --strata --report by-strata >/dev/null
grep -c 'By edges to predict' by-strata/report.html
show wfre eval g.kg q.tsv --scores s.tsv --strata
