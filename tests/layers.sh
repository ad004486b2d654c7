#!/bin/sh
# Includes point downwards only: each folder may use what it names here and nothing else.
cd "$1" || exit 1
failed=0

# check FOLDER 'public headers' 'folders': looks at every #include "folder/file.h" below FOLDER.
check() {
    found=$(grep -rnE '^#include "[a-z]+/' --include='*.[ch]' "$1" |
        grep -vE "#include \"(wfre/($2)\.h|($3)/)") || return 0
    echo "$found" | sed "s#^#$1 may include only wfre/($2).h and $3: #"
    failed=1
}

check src/base    'base'                                           'base'
check src/simd    'base'                                           'base|simd'
check src/wfr     'base|score'                                     'base|simd|wfr'
check src/linalg  'base|bench'                                     'base|simd|linalg'
check src/graph   'base|graph'                                     'base|graph'
check src/query   'base|graph|query'                               'base|graph|query'
check src/exact   'base|graph|query'                               'base|graph|query|exact'
check src/sample  'base|graph|query'                               'base|graph|query|exact|sample'
check src/model   'base|graph|query|score|model'                   'base|graph|query|wfr|linalg|model'
check src/search  'base|graph|query|score|model'                   'base|graph|query|wfr|linalg|model|search'
check src/infer   'base|graph|query|score|model|engine'            'base|graph|query|exact|wfr|linalg|model|search|infer'
check src/measure 'base|graph|query|score|model|engine'            'base|graph|query|exact|wfr|linalg|model|search|infer|measure'
check src/fit     'base|graph|query|score|model|engine'            'base|graph|query|exact|sample|wfr|linalg|model|search|infer|measure|fit'
check src/train   'base|graph|query|score|model|engine|train'      'base|graph|query|exact|sample|wfr|linalg|model|search|infer|measure|fit|report|train'
check src/report  'base'                                           'base|report'
check src/eval    'base|graph|query|score|model|engine|train|eval' 'base|graph|query|exact|sample|wfr|linalg|model|search|infer|measure|fit|train|report|eval'
check src/answer  'base|graph|query|score|model|engine|answer|everyday'     'base|graph|query|exact|wfr|linalg|model|search|infer|answer'
check src/sparql  'base|graph|query|score|model|engine|answer|everyday|sparql' 'base|graph|query|exact|wfr|linalg|model|search|infer|answer|sparql'
check cli        '[a-z]+'                              'none'
check serve      '[a-z]+'                              'none'
exit $failed
