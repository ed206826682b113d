#!/bin/bash
# check-page.sh [SHOTS]: opens pages of `subcell replay html` in a headless Chromium (Debian's chromium) and checks that
# they work, ask nobody for anything, and can be read. Puts screenshots into SHOTS. Fails where Chromium is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
  echo "check-page.sh: there is no chromium; apt-get install chromium" >&2
  exit 1
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cargo build --locked --quiet
subcell=$PWD/target/debug/subcell
export XDG_STATE_HOME=$scratch/state XDG_CONFIG_HOME=$scratch/config

# A cell and an echo, a fork with errors and a refusal, and a page of 10 000 events with something to find in the last.
"$subcell" replay html tests/fixtures/replay/echo tests/fixtures/replay/fork -o "$scratch/page.html"
node tests/page/large.mjs 10000 >"$scratch/large.jsonl"
"$subcell" replay html "$scratch/large.jsonl" -o "$scratch/large.html"

npm install --silent --no-audit --no-fund --prefix "$scratch/axe" axe-core@4 >"$scratch/npm.log" 2>&1 || {
  cat "$scratch/npm.log" >&2
  exit 1
}
node tests/page/check.mjs "$scratch/page.html" --large "$scratch/large.html" --chromium "$chromium" \
  --axe "$scratch/axe/node_modules/axe-core/axe.min.js" ${1:+--shots "$1"}
