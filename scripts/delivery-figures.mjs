// delivery-figures.mjs SUBCELL VERSION=CLIENT...: runs a real parent whose Agent calls run in cells that answer at once, and
// counts what the third session (the subagent that hands a result back) asked the scripted model. Called by
// delivery-figures.sh, in a namespace with loopback alone.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const [subcell, ...clients] = process.argv.slice(2);
const SIZES = [1_000, 20_000, 200_000];
// List prices of the parent's model, in US dollars for a million tokens of input and of output.
const PARENT = { model: "claude-sonnet-4-5", input: 3, output: 15 };
const MOST = { tokens: 1050, spread: 0.02, aboveEmpty: 150, output: 80, price: 0.02 };

const call = (prompt, agent = "general-purpose") => ({
  description: "judge",
  prompt,
  subagent_type: agent,
  run_in_background: false,
});

// A cell's client that answers at once: the real one is not needed to see how its result travels.
const CELL = '#!/bin/sh\ncat >/dev/null\nexec cat "${0%/*}/result.json"\n';

function model(run) {
  const server = spawn(subcell, ["model", "--script", join(run, "script.json"), "--log", join(run, "requests.jsonl")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    server.stdout.once("data", (line) => resolve({ server, url: line.toString().trim() }));
    server.once("exit", (code) => reject(new Error(`the model ended with ${code}`)));
  });
}

// The hooks as they are shipped, with the binary's place in place of its name.
function hooks(file) {
  const named = (key, value) => (key === "command" && value === "subcell" ? subcell : value);
  return JSON.parse(readFileSync(join("config", file)), named);
}

async function run(client, { settings, input, bytes, echoAgent = true, furnish = () => {} }) {
  const dir = mkdtempSync(join(tmpdir(), "subcell-delivery-"));
  const write = (path, text) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  for (const folder of ["home", "config", "state", "work", "tmp"]) mkdirSync(join(dir, folder));
  const parent = { prompt_contains: "PARENT-TASK" };
  const rules = [
    { when: { role: "subagent", prompt_contains: "\nBEGIN-" }, answer: { blocks: [{ echo: {} }] } },
    {
      when: { ...parent, has_tool_result: false },
      answer: { blocks: [{ tool_use: { name: "Agent", input } }] },
    },
    { when: parent, answer: { blocks: [{ text: "PARENT-DONE" }] } },
  ];
  write("script.json", JSON.stringify({ rules }));
  write("config/settings.json", JSON.stringify(settings));
  write("config/agents/echo-through.md", readFileSync("agents/echo-through.md"));
  if (!echoAgent) rmSync(join(dir, "config/agents"), { recursive: true });
  const text = "A line of a result, as a judge writes it.\n".repeat(bytes / 42 + 1).slice(0, bytes);
  write("cells/result.json", JSON.stringify({
    type: "result", subtype: "success", is_error: false, num_turns: 1, result: text, session_id: "s",
    total_cost_usd: 0, modelUsage: { m: { inputTokens: 1, outputTokens: 1, costUSD: 0 } },
  }));
  write("cells/claude", CELL);
  chmodSync(join(dir, "cells/claude"), 0o755);
  furnish(join(dir, "work"));

  const { server, url } = await model(dir);
  // Regular files: these clients cut what they print into a pipe.
  const [out, err] = ["result.json", "stderr.txt"].map((name) => openSync(join(dir, name), "w"));
  const ended = await new Promise((resolve) => {
    const args = ["-p", "PARENT-TASK", "--output-format", "json", "--model", PARENT.model, "--dangerously-skip-permissions"];
    const env = {
      PATH: process.env.PATH, TERM: "dumb", HOME: join(dir, "home"), CLAUDE_CONFIG_DIR: join(dir, "config"),
      XDG_STATE_HOME: join(dir, "state"), XDG_CONFIG_HOME: join(dir, "home/.config"), TMPDIR: join(dir, "tmp"),
      CLAUDE_CODE_TMPDIR: join(dir, "tmp"), ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "not-a-real-key",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1", IS_SANDBOX: "1", SUBCELL_CLAUDE: join(dir, "cells/claude"),
    };
    const options = { cwd: join(dir, "work"), env, stdio: ["ignore", out, err], timeout: 120_000, killSignal: "SIGKILL" };
    spawn(client, args, options).once("exit", (code, signal) => resolve(code ?? signal));
  });
  server.removeAllListeners("exit");
  const gone = new Promise((resolve) => server.once("exit", resolve));
  server.kill();
  await gone;
  if (ended !== 0) throw new Error(`the client ended with ${ended}: ${readFileSync(join(dir, "stderr.txt"))}`);

  const result = JSON.parse(readFileSync(join(dir, "result.json")));
  const lines = readFileSync(join(dir, "requests.jsonl")).toString().trim().split("\n");
  const third = lines.map((line) => JSON.parse(line)).filter((request) => request.agent !== null);
  if (third.length !== 1) throw new Error(`the third session asked ${third.length} times: ${result.result}`);
  const usage = result.modelUsage[third[0].request.model];
  const seen = { tokens: third[0].bytes / 4, usage, answers: answers(join(dir, "config/projects")) };
  rmSync(dir, { recursive: true });
  return seen;
}

// What the subagents of the run said, from their transcripts.
function answers(projects) {
  const files = readdirSync(projects, { recursive: true }).filter((name) => name.includes("subagents/"));
  const transcripts = files.filter((name) => name.endsWith(".jsonl"));
  const said = transcripts.flatMap((name) => readFileSync(join(projects, name)).toString().trim().split("\n"));
  return said.map((line) => JSON.parse(line)).filter((line) => line.type === "assistant").flatMap((line) => line.message.content);
}

// A folder that costs every subagent tokens: a repository with a CLAUDE.md of 10 KB.
function furnishedFolder(work) {
  writeFileSync(join(work, "CLAUDE.md"), "Keep to the rules of this project, all of them.\n".repeat(205));
  for (const args of [["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "start"]]) {
    const name = ["-c", "user.name=figures", "-c", "user.email=figures@localhost"];
    const git = spawnSync("git", [...name, ...args], { cwd: work, env: { PATH: process.env.PATH, HOME: work } });
    if (git.status !== 0) throw new Error(`git ${args}: ${git.stderr}`);
  }
}

let missed = false;
function row(what, measured, bar, holds) {
  missed ||= !holds;
  console.log(`  ${what.padEnd(58)} ${measured.padEnd(34)} ${bar.padEnd(26)} ${holds ? "yes" : "NO"}`);
}

for (const [version, client] of clients.map((pair) => pair.split("="))) {
  const sealed = hooks("claude-hooks.json");
  console.log(`client ${version}`);
  const bySize = [];
  for (const bytes of SIZES) bySize.push(await run(client, { settings: sealed, input: call("JUDGE"), bytes }));
  const tokens = bySize.map((seen) => seen.tokens);
  const shown = tokens.map((count) => count.toFixed(0)).join(" / ");
  const [least, most] = [Math.min(...tokens), Math.max(...tokens)];
  row("request, empty folder, 1/20/200 KB, bytes / 4", shown, `<= ${MOST.tokens} each`, most <= MOST.tokens);
  row("  their spread", `${(100 * (most / least - 1)).toFixed(2)} %`, "<= 2 %", most / least - 1 <= MOST.spread);

  const elsewhere = { settings: sealed, input: call("JUDGE"), bytes: 20_000, furnish: furnishedFolder };
  const there = await run(client, elsewhere);
  // The client refuses an empty prompt; one character is the least.
  const empty = await run(client, { ...elsewhere, settings: {}, input: call("x", "echo-through") });
  const above = there.tokens - empty.tokens;
  row(
    "request, repository with a CLAUDE.md of 10 KB",
    `${there.tokens.toFixed(0)}: ${above.toFixed(0)} above no prompt's ${empty.tokens.toFixed(0)}`,
    `<= ${MOST.aboveEmpty} above`,
    above <= MOST.aboveEmpty,
  );

  const twenty = bySize[1];
  const said = twenty.answers.map((block) => block.text ?? "").join("");
  row("output tokens, 20 KB", `${twenty.usage.outputTokens}`, `<= ${MOST.output}`, twenty.usage.outputTokens <= MOST.output);
  row("  the answer holds the path", said, "it does", /\/state\/subcell\/cells\/[A-Za-z0-9_-]+\.result/.test(said));

  // The flow without any of it: the call's own type repeats the whole, on the parent's model.
  const settings = hooks("claude-hooks-fullsend.json");
  const seed = await run(client, { settings, input: call("JUDGE"), bytes: 20_000, echoAgent: false });
  const full = (seed.tokens * PARENT.input + (20_000 / 4) * PARENT.output) / 1e6;
  const share = twenty.usage.costUSD / full;
  row(
    "list price, 20 KB, of an echo by the call's own type",
    `$${twenty.usage.costUSD.toFixed(6)} / $${full.toFixed(4)} = ${(100 * share).toFixed(2)} %`,
    "<= 2 %",
    share <= MOST.price,
  );
}
process.exitCode = missed ? 1 : 0;
