#!/bin/bash
# figures.sh: measures the binary that is shipped and holds it to the project's bars: what the hook takes beside its
# child (60 runs in turn with the child alone and with the same flow in Python), what memory hook and keeper take, and
# what thirty hooks at once leave. Prints a table with the machine's load beside each figure; ends with 1 where a bar is
# missed. Needs Rust and python3.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in cargo python3 readelf; do
  command -v "$tool" >/dev/null || { echo "figures.sh: $tool is needed and not on the PATH" >&2; exit 1; }
done
subcell=$(scripts/build.sh)
cargo bench --quiet --locked --bench figures --no-run

# Real-time priority where the system grants it (root as a rule): other work of the machine is then not in the wall times.
priority=()
if chrt --rr 1 true 2>/dev/null; then
  priority=(chrt --rr 1)
  echo "measured at real-time priority" >&2
else
  echo "measured at usual priority: on a busy machine the wall times hold other programs' work too" >&2
fi
"${priority[@]}" cargo bench --quiet --locked --bench figures -- --subcell "$subcell" || exit 1
