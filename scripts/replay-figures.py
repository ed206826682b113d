"""replay-figures.py SUBCELL RECORDED: measures `subcell replay` on transcripts of 200 MB and 1 GB, made by repeating the
rows of a recorded session with new ids and with result texts of mixed sizes, and holds it to the project's bars. Called by
replay-figures.sh."""
import json, os, subprocess, sys, tempfile, time
from collections import deque
from pathlib import Path

SUBCELL, RECORDED = sys.argv[1], Path(sys.argv[2])
SESSION = "99999999-2222-4333-8444-555555555555"
MB, MIB = 10**6, 2**20


def write(path: Path, size: int) -> int:
    """Turns of a recorded session, over and over, each under ids of its own; how many lines they are."""
    rows = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    rows = [row for row in rows if row.get("type") in ("user", "assistant")]
    words = "src/lib.rs:%d: a line of a log, with an id 4f9a2c7e and a path /usr/share/doc/%d\n"
    written = lines = turn = 0
    with path.open("w") as out:
        while written < size:
            for at, row in enumerate(rows):
                text = json.dumps({**row, "sessionId": SESSION})
                for name in ("toolu_", "msg_"):
                    text = text.replace(name, f"{name}{turn}x")
                row = json.loads(text)
                row["uuid"], row["parentUuid"] = f"u{turn}-{at}", f"u{turn}-{at - 1}" if at else None
                content = row.get("message", {}).get("content")
                for block in content if isinstance(content, list) else []:
                    if block.get("type") == "tool_result":
                        block["content"] = "".join(words % (turn + i, i) for i in range(10 + turn % 200))
                line = json.dumps(row) + "\n"
                out.write(line)
                written += len(line)
                lines += 1
            turn += 1
    return lines


def run(args: list[str], out: Path) -> tuple[float, float]:
    """Seconds of wall time, and the peak resident set in bytes."""
    start = time.perf_counter()
    with out.open("w") as stdout:
        child = subprocess.Popen([SUBCELL, "replay", *args], stdout=stdout, env={"HOME": "/nonexistent"})
        _, status, usage = os.wait4(child.pid, 0)
    took = time.perf_counter() - start
    if status != 0:
        sys.exit(f"replay-figures: subcell replay {' '.join(args)} ended with {status}")
    return took, usage.ru_maxrss * 1024


def main() -> None:
    missed = False
    print(f"{'what':<28} {'input a second':<16} {'bar':<10} {'peak memory':<12} {'bar':<10} ok   load")
    with tempfile.TemporaryDirectory() as folder:
        for size in (200 * MB, 1000 * MB):
            path = Path(folder, f"{SESSION}.jsonl")
            lines = write(path, size)
            given = path.stat().st_size
            # Into the page cache, without a large parent: its memory would count as the child's peak.
            subprocess.run(["cat", path], stdout=subprocess.DEVNULL, check=True)
            for what, args, memory in (
                ("show --json", ["show", "--json", str(path)], 64 * MIB),
                ("html", ["html", str(path), "-o", str(Path(folder, "page.html"))], 256 * MIB),
            ):
                took, peak = run(args, Path(folder, "out"))
                if what == "show --json":
                    with Path(folder, "out").open() as printed:
                        last = deque(printed, maxlen=1)[0]
                    counted = json.loads(last)["summary"]["entries"]
                    if counted != lines:
                        sys.exit(f"replay-figures: {counted} entries of {lines} lines")
                rate = given / MB / took
                ok = rate >= 50 and peak <= memory
                missed |= not ok
                print(f"{f'{what}, {given / MB:.0f} MB':<28} {f'{rate:.0f} MB':<16} {'>= 50 MB':<10} "
                      f"{f'{peak / MIB:.1f} MiB':<12} {f'<= {memory // MIB}':<10} {'yes' if ok else 'NO ':<4} {os.getloadavg()[0]:.2f}")
            path.unlink()
    sys.exit(1 if missed else 0)


main()
