#!/bin/bash
# replay-figures.sh: measures `subcell replay` as it is shipped, with redaction on, on transcripts of 200 MB and 1 GB: input
# a second of wall time and peak memory, held to the project's bars. Needs Rust, python3 and 3 GB in the temporary folder.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in cargo python3 readelf; do
  command -v "$tool" >/dev/null || { echo "replay-figures.sh: $tool is needed and not on the PATH" >&2; exit 1; }
done
subcell=$(scripts/build.sh)
recorded=$(find tests/fixtures/replay/agent-nested-with-bash -name '*.jsonl' -not -path '*/subagents/*' | head -n 1)
exec python3 scripts/replay-figures.py "$subcell" "$recorded"
