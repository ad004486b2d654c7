# What the tests and the pictures of the page need: node, npm, Chromium, and packages in $modules. Exit 77,
# saying why, if something is missing. Expects $source and $modules.
skip() { echo "skipped: $*"; exit 77; }
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "Chromium is not installed"
"$WFRE" serve --help >/dev/null 2>&1 || skip "wfre is built without serve"
. "$source/../npm.sh"
export CHROMIUM WEB_MODULES="$modules/node_modules"
