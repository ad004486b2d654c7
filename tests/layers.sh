#!/bin/sh
# Includes point downwards only: each room may use the rooms it names here and nothing else.
cd "$1" || exit 1
failed=0

# check FOLDER 'rooms it may include': looks at every #include "room/file.h" below FOLDER.
check() {
    found=$(grep -rnE '^#include "[a-z]+/' --include='*.[ch]' "$1" |
        grep -vE "#include \"($2)/") || return 0
    echo "$found" | sed "s|^|$1 may include only $2: |"
    failed=1
}

check src/base   'wfre|base'
check src/wfr    'wfre|base|wfr'
check src/linalg 'wfre|base|linalg'
check src/graph  'wfre|base|graph'
check src/query  'wfre|base|graph|query'
check src/model  'wfre|base|graph|query|wfr|linalg|model'
check src/train  'wfre|base|graph|query|wfr|linalg|model|train'
check src/eval   'wfre|base|graph|query|wfr|linalg|model|eval'
check src/answer 'wfre|base|graph|query|wfr|linalg|model|answer'
check cli        'wfre'
exit $failed
