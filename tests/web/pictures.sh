#!/bin/sh
# Pictures of the page for the documents: pictures.sh SOURCE MODULES GRAPH MODEL OUT
set -eu
source=$1 modules=$2
. "$source/setup.sh"
[ -f "$4" ] || skip "there is no $4; make demo first"
node "$source/pictures.mjs" "$3" "$4" "$5"
