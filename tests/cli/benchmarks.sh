# The published benchmark folders, where they are at hand.
data=$WFRE_SHARED/data
[ -d "$data/WN18RR-QA" ] || { echo "skipped: no benchmark data in $data"; exit 77; }
for name in WN18RR-QA FB15k-237-betae NELL-betae codex-s small/umls; do
    cp -r "$data/$name" "$(basename "$name")"
    show wfre import "$(basename "$name")" -o "$(basename "$name").kg"
done
show wfre import WN18RR-QA -o names.kg --labels WN18RR-QA/entity_names.txt
show wfre info names.kg --check --split train --hierarchy 2>progress.txt
