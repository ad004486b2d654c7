# wfre info of a query set.
printf '# made for a test\n2in\t(i,(p,#1,(e,#2)),(n,(p,#0,(e,#1))))\t1 2\t0\n' >q.tsv
printf '1p\t(p,#1,(e,#2))\t\t3 4\n1p\t(p,#1,(e,#3))\t\t3 4 5\n' >>q.tsv
show wfre info q.tsv
show wfre info q.tsv --json
# With a byte order mark in front, as some editors write it.
printf '\xef\xbb\xbf(p,(n,(p,(e))))\t(p,#0,(n,(p,#1,(e,#2))))\t\t3\n' >marked.tsv
show wfre info marked.tsv
printf '1p\t(p,#1,(e,#3)\t\t3 4 5\n' >>q.tsv
show wfre info q.tsv
