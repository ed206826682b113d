"""check.py FOLDER: the spans of real hook runs in MLflow and back by its API. FOLDER holds the built programs."""

import base64
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

BUILT = pathlib.Path(sys.argv[1]).resolve()
MLFLOW = pathlib.Path(sys.executable).parent / "mlflow"
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
# How long the server may take to start, and a hook to do its work.
PATIENCE = 120


def start_server(home):
    """Starts MLflow on a free port of loopback; gives its process and URL once it answers."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
    }
    log = open(home / "mlflow.log", "wb")
    server = subprocess.Popen(
        [MLFLOW, "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
        + ["--backend-store-uri", f"sqlite:///{home}/mlflow.db", "--artifacts-destination", str(home / "artifacts")],
        env=environment, cwd=home, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
    )
    url, end = f"http://127.0.0.1:{port}", time.monotonic() + PATIENCE
    # A process that ends makes its descriptor readable: the wait between two tries is over then.
    ended = os.pidfd_open(server.pid)
    while True:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
                assert answer.status == 200
                return server, url
        except (urllib.error.URLError, OSError):
            gone, _, _ = select.select([ended], [], [], 0.2)
            if gone or time.monotonic() > end:
                print((home / "mlflow.log").read_text(), file=sys.stderr)
                stop_server(server)
                sys.exit("check.py: MLflow did not start")


def stop_server(server):
    try:
        os.killpg(server.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass
    try:
        server.wait(30)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)


def hook(home, call, orders):
    """Starts a stand-in client whose call runs the hook; `orders` are those of the stand-in child."""
    project = home / "project"
    project.mkdir(exist_ok=True)
    script = {
        "hook": [str(BUILT / "subcell"), "intercept", "--claude", str(BUILT / "subcell-standin")],
        "env": {"CLAUDE_PROJECT_DIR": str(project)},
        "pid_file": str(home / f"{call}.pid"),
    }
    payload = {
        "session_id": "7ac3eec2-10f1-4614-9470-ad45c7c6de2a",
        "transcript_path": str(home / "transcript.jsonl"),
        "cwd": str(project),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Agent",
        "tool_input": {"description": "judge", "prompt": "EVALUATE-X", "subagent_type": "general-purpose"},
        "tool_use_id": call,
    }
    environment = {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "STANDIN": orders,
        "STANDIN_PARENT": json.dumps(script),
        "TRACEPARENT": f"00-{TRACE}-{PARENT}-01",
    }
    parent = subprocess.Popen(
        [BUILT / "subcell-parent", "--model", "claude-sonnet-4-5"],
        env=environment, cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    parent.stdin.write(json.dumps(payload).encode())
    parent.stdin.close()
    parent.stdin = None
    return parent


def record(home, call):
    return json.loads((home / f".local/state/subcell/cells/{call}.json").read_text())


def wait_for(what, found):
    """Waits until `found()` gives something: hooks write their record into place in one step, and nothing tells of it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = found()
        if value:
            return value
        time.sleep(0.05)
    sys.exit(f"check.py: {what} did not come")


def lose(home, call):
    """Makes a cell whose hook and keeper are killed, as when a machine runs out of memory."""
    parent = hook(home, call, "wait=forever")

    def started():
        path = home / f".local/state/subcell/cells/{call}.json"
        if not path.exists():
            return None
        keeper = record(home, call)["keeper_process"]
        children = keeper and pathlib.Path(f"/proc/{keeper['pid']}/task/{keeper['pid']}/children").read_text().split()
        return children and (keeper["pid"], [int(child) for child in children])

    keeper, children = wait_for("the cell's client", started)
    # A stopped keeper does not see its hook go, and so does not end the record in its place.
    os.kill(keeper, signal.SIGSTOP)
    os.kill(int((home / f"{call}.pid").read_text()), signal.SIGKILL)
    os.kill(keeper, signal.SIGKILL)
    for child in children:
        os.kill(child, signal.SIGKILL)
    parent.communicate(timeout=PATIENCE)
    assert record(home, call)["state"]["kind"] == "running", record(home, call)


def spans_in(url):
    """The trace's spans as MLflow gives them back, by id."""
    with urllib.request.urlopen(f"{url}/api/3.0/mlflow/traces/get?trace_id=tr-{TRACE}", timeout=PATIENCE) as answer:
        spans = json.load(answer)["trace"]["spans"]
    by_id = {}
    for span in spans:
        attributes = {pair["key"]: next(iter(pair["value"].values())) for pair in span["attributes"]}
        parent = base64.b64decode(span.get("parent_span_id", "")).hex()
        assert base64.b64decode(span["trace_id"]).hex() == TRACE, span
        by_id[base64.b64decode(span["span_id"]).hex()] = (span["name"], parent, attributes, span.get("status", {}))
    return by_id


def check(home, url):
    for call, orders in (("toolu_ok", ""), ("toolu_failed", "prints=nothing ends=exit:3")):
        parent = hook(home, call, orders)
        _, stderr = parent.communicate(timeout=PATIENCE)
        assert parent.returncode == 0, stderr.decode()
    lose(home, "toolu_lost")
    environment = {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "OTEL_EXPORTER_OTLP_ENDPOINT": url,
        "OTEL_EXPORTER_OTLP_HEADERS": "x-mlflow-experiment-id=0",
    }
    emitted = subprocess.run(
        [BUILT / "subcell", "emit", "--strict"],
        env=environment, cwd=home, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE,
    )
    assert emitted.returncode == 0, emitted.stderr.decode()

    spans = spans_in(url)
    expected = {"toolu_ok": "completed", "toolu_failed": "crashed_code", "toolu_lost": "lost"}
    for call, ending in expected.items():
        name, parent, attributes, status = spans[record(home, call)["trace"]["span_id"]]
        assert (name, parent) == ("spawned_agent", PARENT), (call, name, parent)
        assert attributes["gen_ai.tool.call.id"] == call, attributes
        assert attributes["subcell.ending"] == ending, attributes
        # MLflow's own reading of gen_ai.operation.name.
        assert attributes["mlflow.spanType"] == "AGENT", attributes
        is_error = status.get("code") == "STATUS_CODE_ERROR"
        assert is_error == (ending != "completed"), (call, status)
        assert bool(status.get("message")) == is_error, (call, status)
        assert (attributes.get("error.type") == ending) == is_error, attributes
        assert record(home, call)["export"] == "sent", call
    # The stand-in's own figures: 100 tokens in, 1000 from and 50 to the cache, which the conventions count in.
    attributes = spans[record(home, "toolu_ok")["trace"]["span_id"]][2]
    assert int(attributes["gen_ai.usage.input_tokens"]) == 1150, attributes
    assert int(attributes["gen_ai.usage.output_tokens"]) == 10, attributes
    assert attributes["fullsend.cost_usd"] == 0.0125, attributes
    assert "fullsend.cost_usd" not in spans[record(home, "toolu_lost")["trace"]["span_id"]][2]
    phases = {name for name, parent, *_ in spans.values() if parent == record(home, "toolu_ok")["trace"]["span_id"]}
    assert {"plan", "start", "run", "deliver"} <= phases, phases

    # What `subcell trace --json` prints is taken too: MLflow reads it with protobuf's own JSON reader.
    printed = subprocess.run(
        [BUILT / "subcell", "trace", "--json"], env=environment, cwd=home, capture_output=True, timeout=PATIENCE, check=True
    ).stdout.replace(TRACE.encode(), TRACE[::-1].encode())
    headers = {"content-type": "application/json", "x-mlflow-experiment-id": "0"}
    request = urllib.request.Request(f"{url}/v1/traces", data=printed, headers=headers)
    assert urllib.request.urlopen(request, timeout=PATIENCE).status == 200
    with urllib.request.urlopen(f"{url}/api/3.0/mlflow/traces/get?trace_id=tr-{TRACE[::-1]}", timeout=PATIENCE) as answer:
        again = json.load(answer)["trace"]["spans"]
    assert {base64.b64decode(span["span_id"]).hex() for span in again} == set(spans)
    print(f"check.py: MLflow has {len(spans)} spans of {len(expected)} cells, with parent, attributes and status")


def main():
    with tempfile.TemporaryDirectory(prefix="subcell-mlflow-") as folder:
        home = pathlib.Path(folder)
        server, url = start_server(home)
        try:
            check(home, url)
        finally:
            stop_server(server)


main()
