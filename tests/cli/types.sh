# The built-in query types; the published list of EFO-1-QA is compared in full by a golden test.
show wfre types
show wfre types --form DNF+MultiIU --json
show wfre types --set efo1 | head -n 8
wfre types --set efo1 | wc -l
wfre types --set efo1 --form all | tail -n 6
show wfre types --set efo2
show wfre types --form CNF
