#!/bin/sh
# Builds the page into OUT/dist and, as C, into ASSETS: build.sh SOURCE OUT ASSETS NEEDED
# Without node, npm or the packages the C says so and the build goes on, unless NEEDED is "yes".
set -u
source=$1 out=$2 assets=$3 needed=$4

without() {
    echo "The page of 'wfre serve' is not built: $1." >&2
    [ "$needed" = yes ] && exit 1
    cat >"$assets" <<C
/* Made by web/build.sh. */
#include "web.h"

const wfre_web_asset wfre_web_assets[] = {{0}};
const size_t wfre_web_asset_count = 0;
const char *const wfre_web_missing = "This program was built without its page: $1. Install node and npm and build again; the API and the SPARQL endpoint work without it.";
C
    exit 0
}

[ "$needed" = off ] && without "it was switched off (-Dweb=disabled)"
command -v node >/dev/null || without "node is not installed"
command -v npm >/dev/null || without "npm is not installed"
mkdir -p "$out"
lock=$(cat "$source/package.json" "$source/package-lock.json" | cksum)
if [ "$(cat "$out/installed" 2>/dev/null)" != "$lock" ]; then
    cp "$source/package.json" "$source/package-lock.json" "$source/.npmrc" "$out/"
    (cd "$out" && npm ci --ignore-scripts --no-audit --no-fund) >"$out/npm.log" 2>&1 ||
        without "npm ci failed (see npm.log in the build folder)"
    echo "$lock" >"$out/installed"
fi
node "$source/build.mjs" "$source" "$out/node_modules" "$out/dist" "$assets" >"$out/bundle.log" 2>&1 || {
    cat "$out/bundle.log" >&2
    without "bundling failed"
}
