#!/bin/bash
# demo.sh: a real parent session whose Agent call runs in a cell, against a scripted model on loopback: no account, no
# key, no cost. Needs Rust, a C linker, node and npm. DEMO_CLIENT_VERSION picks the client, DEMO_KEEP=1 keeps the run's
# folder.
set -euo pipefail
cd "$(dirname "$0")/.."

client_version=${DEMO_CLIENT_VERSION:-2.1.332}
say() { printf '\n== %s\n' "$*"; }

# The run itself; called again inside the namespace.
run_parent() {
  local run=$1 subcell=$2 client=$3 url
  # Outside of a namespace of ours loopback is up already.
  [[ -z ${DEMO_NAMESPACE:-} ]] || ip link set lo up

  exec {model}< <(exec "$subcell" model --script scripts/demo-model.json --log "$run/requests.jsonl")
  trap 'kill "$model_pid" 2>/dev/null || true' EXIT
  model_pid=$!
  read -r -t 20 url <&"$model" || { echo "demo.sh: the model did not start" >&2; exit 1; }
  echo "the scripted model listens on $url"

  cd "$run/work"
  env -i PATH="$PATH" HOME="$run/home" XDG_STATE_HOME="$run/state" XDG_CONFIG_HOME="$run/home/.config" \
    CLAUDE_CONFIG_DIR="$run/config" TMPDIR="$run/tmp" CLAUDE_CODE_TMPDIR="$run/tmp" TERM=dumb \
    ANTHROPIC_BASE_URL="$url" ANTHROPIC_API_KEY=not-a-real-key \
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 DISABLE_TELEMETRY=1 DISABLE_ERROR_REPORTING=1 \
    IS_SANDBOX=1 \
    timeout 120 "$client" -p "PARENT-TASK: have the paragraph about tides judged." --output-format json \
    --model claude-sonnet-4-5 --dangerously-skip-permissions </dev/null >"$run/result.json"
}

if [[ ${1:-} == --run-parent ]]; then
  shift
  run_parent "$@"
  exit
fi

for tool in cargo node npm; do
  command -v "$tool" >/dev/null || { echo "demo.sh: $tool is needed and not on the PATH" >&2; exit 1; }
done

say "build the program"
subcell=$(scripts/build.sh)
echo "$subcell"

say "fetch the client $client_version from npm"
client=$(scripts/get-client.sh "$client_version")
echo "$client"

run=$(mktemp -d "${TMPDIR:-/tmp}/subcell-demo.XXXXXX")
[[ -n ${DEMO_KEEP:-} ]] || trap 'rm -rf "$run"' EXIT
mkdir -p "$run"/{home,state,tmp,work} "$run/config/agents"
cp agents/echo-through.md "$run/config/agents/"
# The hooks that are shipped, with the binary's place in place of its name. Node writes it, so that any path is quoted.
node -e '
  const [hooks, subcell] = process.argv.slice(1);
  const replace = (key, value) => (key === "command" && value === "subcell" ? subcell : value);
  console.log(JSON.stringify(JSON.parse(require("fs").readFileSync(hooks, "utf8"), replace), null, 2));
' config/claude-hooks.json "$subcell" >"$run/config/settings.json"

# A network namespace has loopback alone: nothing of the run can reach anything else.
namespace=()
if command -v ip >/dev/null; then
  for candidate in "unshare -n" "unshare -rn"; do
    # shellcheck disable=SC2086 # two words on purpose
    if $candidate true 2>/dev/null; then
      read -ra namespace <<<"$candidate"
      break
    fi
  done
fi
if [[ ${#namespace[@]} -gt 0 ]]; then
  say "run the parent, with the hook on Agent, in a network namespace of its own (${namespace[*]})"
  DEMO_NAMESPACE=1 "${namespace[@]}" bash scripts/demo.sh --run-parent "$run" "$subcell" "$client"
else
  say "run the parent, with the hook on Agent (no network namespace may be made here; all traffic is on loopback)"
  bash scripts/demo.sh --run-parent "$run" "$subcell" "$client"
fi

node scripts/demo-show.mjs "$run"

say "read the transcripts as one tree (subcell replay show)"
# Nothing but the run's own folder is looked into.
export XDG_STATE_HOME=$run/state XDG_CONFIG_HOME=$run/home/.config
"$subcell" replay show --role user,assistant,tool "$run"
"$subcell" replay show --json "$run" | node scripts/demo-replay.mjs "$run"
[[ -z ${DEMO_KEEP:-} ]] || say "kept: $run"
