#!/bin/bash
# stage-fullsend.sh OUT [--binary FILE]: lays out a complete --fullsend-dir in the folder OUT, which must not exist or be
# empty, and prints what to run. The binary is built by build.sh (static: it needs no libc of the image), or FILE.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

usage() {
  echo "usage: stage-fullsend.sh OUT [--binary FILE]" >&2
  exit 64
}
out='' binary=''
while [[ $# -gt 0 ]]; do
  case $1 in
    --binary) [[ $# -ge 2 ]] || usage; binary=$2; shift 2 ;;
    -*) usage ;;
    *) [[ -z $out ]] || usage; out=$1; shift ;;
  esac
done
[[ -n $out ]] || usage
if [[ -e $out && -n $(ls -A "$out") ]]; then
  echo "stage-fullsend.sh: $out is not empty; name a new folder" >&2
  exit 1
fi

[[ -n $binary ]] || binary=$("$root/scripts/build.sh")
if [[ ! -f $binary || ! -x $binary ]]; then
  echo "stage-fullsend.sh: $binary is no executable file" >&2
  exit 1
fi
# fullsend's copy of a file of about 16 MB and more fails silently.
size=$(stat -Lc %s "$binary")
if [[ $size -ge 10000000 ]]; then
  echo "stage-fullsend.sh: $binary has $size bytes; only below 10000000 does it reach the sandbox for certain" >&2
  exit 1
fi

put() {
  install -D -m "$1" "$root/$2" "$out/$3"
}
install -D -m 755 "$binary" "$out/bin/subcell"
put 644 harness/config.yaml config.yaml
put 644 harness/judge-parent.yaml harness/judge-parent.yaml
put 644 harness/policy.yaml policies/judge-parent.yaml
put 644 harness/model.env env/model.env
put 644 harness/subcell.toml config/subcell.toml
put 644 config/verdict.schema.json config/verdict.schema.json
put 755 scripts/validate-output.sh scripts/validate-output.sh
put 755 scripts/post-emit-cost scripts/post-emit-cost
for agent in judge-parent judge-panel judge echo-through; do
  put 644 "agents/$agent.md" "agents/$agent.md"
done
# By its absolute path: a repository's settings can set PATH for hooks, and would then choose the program.
mkdir -p "$out/config"
sed 's|"command": "subcell"|"command": "/sandbox/workspace/bin/subcell"|' "$root/config/claude-hooks-fullsend.json" \
  >"$out/config/claude-hooks-fullsend.json"
grep -q '"/sandbox/workspace/bin/subcell"' "$out/config/claude-hooks-fullsend.json"

echo "fullsend run judge-parent --fullsend-dir $(realpath "$out") --output-dir DIR --target-repo REPO"
