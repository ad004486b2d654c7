# What the tests and the pictures of the page need: node, npm, Chromium, and packages in $modules. Exit 77,
# saying why, if something is missing. Expects $source and $modules.
skip() { echo "skipped: $*"; exit 77; }
command -v node >/dev/null || skip "node is not installed"
command -v npm >/dev/null || skip "npm is not installed"
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "Chromium is not installed"
"$WFRE" serve --help >/dev/null 2>&1 || skip "wfre is built without serve"
mkdir -p "$modules"
lock=$(cat "$source/package.json" "$source/package-lock.json" | cksum)
if [ "$(cat "$modules/installed" 2>/dev/null)" != "$lock" ]; then
    cp "$source/package.json" "$source/package-lock.json" "$source/.npmrc" "$modules/"
    (cd "$modules" && npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1) || skip "npm ci failed: $(tail -n 1 "$modules/npm.log")"
    echo "$lock" >"$modules/installed"
fi
export CHROMIUM WEB_MODULES="$modules/node_modules"
