// demo-replay.mjs RUN: checks what `subcell replay show --json RUN` says on stdin against the run itself: every line of
// every transcript is there, cell and echo stand under their call, and the totals are the client's own.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const run = process.argv[2];
const rows = readFileSync(0, "utf8").trim().split("\n").map((line) => JSON.parse(line));
const of = (kind) => rows.filter((row) => row.kind === kind).map((row) => row[kind]);
const [summary] = of("summary");
const sessions = of("session");

const transcripts = readdirSync(run, { recursive: true }).filter((name) => name.endsWith(".jsonl") && name.includes("projects/"));
const lines = transcripts.flatMap((name) => readFileSync(join(run, name), "utf8").split("\n")).filter((line) => line.trim());
assert.equal(summary.entries, lines.length, "every line of every transcript");
assert.equal(summary.broken, 0);

const result = JSON.parse(readFileSync(join(run, "result.json"), "utf8"));
const parent = sessions.find((session) => session.what === "session");
assert.equal(parent.session, result.session_id);
assert.ok(Math.abs(parent.totals.client.cost_usd - result.total_cost_usd) < 1e-6, "the parent costs what its result says");
for (const what of ["cell", "echo"]) {
  const child = sessions.find((session) => session.what === what);
  assert.ok(child, `there is a ${what}`);
  assert.equal(child.depth, 1);
  assert.equal(child.joined_by, what === "cell" ? "record" : "tool_use_id");
}
const called = new Set(sessions.filter((session) => session.depth === 1).map((session) => session.call));
assert.equal(called.size, 1, "both are under the same call");
console.log(`the replay holds all ${lines.length} lines of ${transcripts.length} transcripts, cell and echo under their call`);
