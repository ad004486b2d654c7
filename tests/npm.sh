# npm packages of a test: those that $source/package-lock.json names, in the folder $modules, which is
# kept from run to run. Skips, saying why, if they cannot be had. Expects $source, $modules and skip.
command -v node >/dev/null || skip "node is not installed"
command -v npm >/dev/null || skip "npm is not installed"
mkdir -p "$modules"
lock=$(cat "$source/package.json" "$source/package-lock.json" | cksum)
if [ "$(cat "$modules/installed" 2>/dev/null)" != "$lock" ]; then
    cp "$source/package.json" "$source/package-lock.json" "$source/.npmrc" "$modules/"
    (cd "$modules" && npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1) || skip "npm ci failed: $(tail -n 1 "$modules/npm.log")"
    echo "$lock" >"$modules/installed"
fi
