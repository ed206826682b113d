#!/bin/bash
# startup-figures.sh: what the telemetry tree costs a guard's start-up: instructions of the static build that ships, with and
# without it, counted by callgrind. Ends with 1 where a guard takes more than 2 % more with it. Needs Rust and valgrind.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v valgrind >/dev/null || { echo "startup-figures.sh: valgrind is needed and not on the PATH" >&2; exit 1; }
# A folder of its own: the two builds would replace each other.
with=$(scripts/build.sh)
without=$(CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/without-telemetry scripts/build.sh --no-default-features)

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
count() {
  local log
  # A guard's answer may be an exit code; what counts is that it answered.
  log=$(env -i HOME="$home" PATH=/usr/bin:/bin valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null) || true
  sed -n 's/^==[0-9]*== Collected : //p' <<<"$log"
}

missed=0
printf '%-22s %14s %14s %8s\n' command with without more
while read -r payload command; do
  # shellcheck disable=SC2086 # The command's words.
  a=$(count "$with" $command <"tests/fixtures/payloads/$payload")
  # shellcheck disable=SC2086
  b=$(count "$without" $command <"tests/fixtures/payloads/$payload")
  [[ $a =~ ^[0-9]+$ && $b =~ ^[0-9]+$ ]] || { echo "startup-figures.sh: callgrind counted nothing for $command" >&2; exit 1; }
  printf '%-22s %14d %14d %7.2f%%\n' "$command" "$a" "$b" "$(awk -v a="$a" -v b="$b" 'BEGIN { print (a - b) * 100 / b }')"
  awk -v a="$a" -v b="$b" 'BEGIN { exit !(a <= b * 1.02) }' || missed=1
done <<'END'
pre-tool-use-agent.json guard bash
pre-tool-use-agent.json guard background
pre-tool-use-agent.json seal
END
printf 'size: %d bytes with, %d without\n' "$(stat -c %s "$with")" "$(stat -c %s "$without")"
[[ $missed == 0 ]] || { echo "startup-figures.sh: more than 2 % more instructions with telemetry" >&2; exit 1; }
