#!/bin/bash
# delivery-figures.sh [VERSION...]: what handing a result back costs with the real client, held to the project's bars: the
# requests of the third session (the small subagent that hands a result back) are counted at the scripted model, in a
# network namespace with loopback alone; then what the hook after a call takes. Prints a table for each version; ends with 1
# where a bar is missed. Needs Rust, node, npm, unshare and ip.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in cargo node npm unshare ip git; do
  command -v "$tool" >/dev/null || { echo "delivery-figures.sh: $tool is needed and not on the PATH" >&2; exit 1; }
done
[[ $# -gt 0 ]] || set -- 2.1.156 2.1.226 2.1.295 2.1.332
subcell=$(scripts/build.sh)
clients=()
for version in "$@"; do
  clients+=("$version=$(scripts/get-client.sh "$version")")
done

# Who is not root may make a network namespace in a user namespace only.
namespace=(unshare -n)
[[ $(id -u) == 0 ]] || namespace=(unshare -rn)
missed=0
# shellcheck disable=SC2016 # the shell inside expands it
"${namespace[@]}" sh -c 'ip link set lo up && exec "$@"' sh \
  node scripts/delivery-figures.mjs "$subcell" "${clients[@]}" || missed=1

cargo bench --quiet --locked --bench figures --no-run
priority=()
if chrt --rr 1 true 2>/dev/null; then
  priority=(chrt --rr 1)
fi
"${priority[@]}" cargo bench --quiet --locked --bench figures -- --subcell "$subcell" --part seal || missed=1
exit $missed
