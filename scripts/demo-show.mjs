// demo-show.mjs RUN: shows the three sessions of a demonstration and the cell's record, and fails where they are not as
// they should be: a cell in a session of its own, completed, its exact result on disk and delivered to the parent.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const run = process.argv[2];
const read = (...path) => readFileSync(join(run, ...path));
const check = (holds, what) => {
  if (!holds) {
    console.error(`demo: ${what}`);
    process.exit(1);
  }
};

const parent = JSON.parse(read("result.json"));
const requests = read("requests.jsonl").toString().trim().split("\n").map((line) => JSON.parse(line));
const cells = join("state", "subcell", "cells");
const names = readdirSync(join(run, cells)).filter((name) => name.endsWith(".json"));
check(names.length === 1, `one record was expected, there are ${names.length}`);
const record = JSON.parse(read(cells, names[0]));
const end = record.state;
check(end.kind === "ended" && end.ending.kind === "completed", `the cell did not complete: ${JSON.stringify(end)}`);

const result = read(cells, end.result.file);
const digest = createHash("sha256").update(result).digest("hex");
check(digest === end.result.sha256, "the result on disk is not the one that was recorded");

// A session's requests carry its id; those of a subagent inside its process carry the subagent's as well.
const of = (session, inProcess) =>
  requests.filter((request) => request.session === session && (request.agent !== null) === inProcess);
const [own, echo, cell] = [of(parent.session_id, false), of(parent.session_id, true), of(record.child_session, false)];
check(record.child_session !== parent.session_id, "the cell ran in the parent's session");
check(own.length === 2 && cell.length === 1 && echo.length === 1, "parent, cell and echo asked the model another time");

const unframed = parent.result.split("\n").map((line) => line.trim());
const delivered = result.toString().split("\n").every((line) => unframed.includes(line.trim()));
check(delivered, `the cell's result did not reach the parent: ${parent.result}`);

const model = (some) => some[0].request.model;
// The client's own table of costs by model is the only place where the echo's share shows: it has a model of its own.
const share = (some) => parent.modelUsage[model(some)]?.costUSD;
const money = (usd) => (usd === undefined || usd === null ? "unknown" : `$${usd.toFixed(6)}`);
const show = (title, rows) => {
  console.log(`\n${title}`);
  for (const [name, value] of rows) console.log(`  ${name.padEnd(8)} ${value.replaceAll("\n", `\n${" ".repeat(11)}`)}`);
};

show("1. the parent", [
  ["session", parent.session_id],
  ["model", model(own)],
  ["cost", `${money(share(own))} (with the echo ${money(parent.total_cost_usd)})`],
  ["result", parent.result],
]);
show("2. the cell: a process and a session of its own", [
  ["session", record.child_session],
  ["model", end.model_used],
  ["cost", `${money(end.cost_usd)}, ${end.tokens.input} tokens in, ${end.tokens.output} out`],
  ["result", result.toString()],
]);
show("3. the echo: a subagent of the parent that repeats the result", [
  ["agent", echo[0].agent],
  ["model", model(echo)],
  ["cost", money(share(echo))],
]);
console.log(`\nthe record, ${join(run, cells, names[0])}\n${JSON.stringify(record, null, 2)}`);
