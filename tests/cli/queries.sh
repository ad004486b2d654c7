# Published query pickles: converted, verified, and what is wrong with them found.
folder=$HERE/../data/family-betae
in_folder() { sed "s|$folder|FOLDER|g"; }
show wfre queries "$folder" -o q.tsv --verify 2>&1 | in_folder
cat q.tsv
show wfre queries "$folder" --verify --json -j 1 2>&1 | in_folder
wfre queries "$folder" -o - 2>note | cmp - q.tsv && cat note
show wfre queries "$folder" -o - --json 2>&1 | in_folder
rm note
echo old >wrong.tsv
show wfre queries "$folder" --prefix wrong --verify -o wrong.tsv 2>&1 | in_folder
cat wrong.tsv
show wfre queries "$folder" --prefix wrong -o wrong.tsv 2>&1 | in_folder
show wfre queries "$folder" --prefix beyond --verify 2>&1 | in_folder
show wfre queries "$folder" --prefix gap -o gap.tsv 2>&1 | in_folder
show wfre queries "$folder" --prefix nothing -o gap.tsv 2>&1 | in_folder
show wfre queries "$folder" -o no/such/folder.tsv 2>&1 | in_folder
show wfre queries "$folder" --split train --verify 2>&1 | in_folder
show wfre queries "$folder" 2>&1 | in_folder
show wfre queries "$folder" --split all -o q.tsv 2>&1 | in_folder
ls
