#!/bin/bash
# replay-figures.sh [MB…]: peak memory and speed of `subcell replay` on transcripts of these sizes (200 and 1000), with
# redaction on, on the release build. Fails where a bar is missed: 64 MiB for show, 256 MiB for html, 50 MB a second.
# Needs python3; the transcripts are removed again.
set -euo pipefail
cd "$(dirname "$0")/.."

subcell=$(scripts/build.sh)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/subcell-replay.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
export XDG_STATE_HOME=$scratch/state XDG_CONFIG_HOME=$scratch/config

python3 - "$subcell" "$scratch" "${@:-200 1000}" <<'PYTHON'
import json, os, sys, time

subcell, scratch = sys.argv[1:3]
sizes = [int(size) for argument in sys.argv[3:] for size in argument.split()]
session = "99999999-2222-4333-8444-555555555555"
bars = {"show --json": (64, 50), "show": (64, 50), "html": (256, 50)}


def write(path, size):
    """Turns as a real session has them: a call, and a result of 8 KB, of code, paths, hashes and key: value lines."""
    text = "".join(
        f"src/part{n}.rs:{n}: let value{n} = table.get(\"key-{n}\"); // see https://example.com/{n}?a=b, commit {n:040x}\n"
        for n in range(75)
    )
    written = turn = 0
    with open(path, "w") as out:
        while written < size * 1_000_000:
            at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1_790_000_000 + turn))
            common = {"sessionId": session, "timestamp": at, "version": "2.1.332", "cwd": "/workspace"}
            call = {"type": "assistant", "uuid": f"u{turn}", **common, "message": {
                "id": f"msg_{turn}", "role": "assistant", "model": "claude-x", "stop_reason": "tool_use",
                "usage": {"input_tokens": 9, "output_tokens": 9},
                "content": [{"type": "text", "text": "I look at the next part of it."}, {
                    "type": "tool_use", "id": f"toolu_{turn}", "name": "Bash", "input": {"command": f"cat part{turn}"}}]}}
            result = {"type": "user", "uuid": f"v{turn}", **common, "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": text}]}}
            for line in (call, result):
                written += out.write(json.dumps(line, separators=(",", ":")) + "\n")
            turn += 1
    return os.path.getsize(path), turn


def measure(arguments, output):
    start = time.monotonic()
    pid = os.posix_spawn(subcell, [subcell, "replay", *arguments], os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)])
    _, status, used = os.wait4(pid, 0)
    assert status == 0, f"{arguments} ended with {status}"
    return time.monotonic() - start, used.ru_maxrss / 1024


missed = []
for size in sizes:
    path = os.path.join(scratch, f"{session}.jsonl")
    length, turns = write(path, size)
    print(f"{length / 1e6:.0f} MB, {turns} turns")
    page = os.path.join(scratch, "page.html")
    for what, arguments in {"show --json": ["show", "--json", path], "show": ["show", path],
                            "html": ["html", path, "-o", page]}.items():
        seconds, memory = min(measure(arguments, "/dev/null") for _ in range(2))
        speed = length / 1e6 / seconds
        most, least = bars[what]
        fine = memory <= most and (least is None or speed >= least)
        print(f"  {what:<12} {seconds:6.2f} s  {speed:6.1f} MB/s  {memory:6.1f} MiB{'' if fine else '  MISSED'}")
        if not fine:
            missed.append(what)
    os.remove(path)
sys.exit(1 if missed else 0)
PYTHON
