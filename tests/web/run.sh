#!/bin/sh
# The page in Chromium against real servers. Exit 77, saying why, if something that it needs is missing.
# run.sh SOURCE MODULES: MODULES is a folder that keeps the npm packages from run to run.
set -eu
source=$1 modules=$2
. "$source/setup.sh"
[ -d /usr/share/wordnet ] || skip "WordNet is not installed (wordnet-base)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
node --input-type=module -e "import { oddGraph } from '$source/odd.mjs'; process.stdout.write(oddGraph())" >odd.ttl
"$WFRE" import odd.ttl -o odd.kg --holdout 0.15 >import.log
"$WFRE" train odd.kg --steps 60 --validate 0 --calibrate 30 >train.log 2>&1 || { cat train.log; exit 1; }
"$WFRE" import /usr/share/wordnet -o wordnet.kg --holdout 0.1 >>import.log
"$WFRE" train wordnet.kg --preset small --steps 20 --dim 20 --batch 64 --negatives 64 --validate 0 --calibrate 0 >train.log 2>&1 ||
    { cat train.log; exit 1; }
node "$source/page.mjs" "$work"
