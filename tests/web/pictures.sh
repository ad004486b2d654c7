#!/bin/sh
# Pictures of the page for the documents, on a graph of families: pictures.sh SOURCE MODULES OUT
set -eu
source=$1 modules=$2 out=$(cd "$3" && pwd)
. "$source/setup.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
node --input-type=module -e "import { familyGraph } from '$source/family.mjs'; process.stdout.write(familyGraph())" >families.ttl
"$WFRE" import families.ttl -o families.kg --holdout 0.1
"$WFRE" train families.kg --steps 1500
node "$source/pictures.mjs" families.kg families.safetensors "$out"
