# Debian's WordNet 3.0, where it is installed.
[ -f /usr/share/wordnet/data.noun ] || { echo "skipped: no /usr/share/wordnet"; exit 77; }
show wfre import /usr/share/wordnet -o wordnet.kg
show wfre info wordnet.kg --check
show wfre info wordnet.kg --hierarchy --triangles 20 --json 2>progress.txt | sed 's/.*"relation":\[\([^}]*\)}.*/\1/'
