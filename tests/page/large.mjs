// large.mjs N: a transcript of N events, each with some text, and something to find in the last.
const count = Number(process.argv[2]);
const common = { sessionId: "22222222-2222-4333-8444-555555555555", version: "2.1.332", cwd: "/workspace" };
const out = [];
for (let n = 0; n < count; n += 1) {
  const at = new Date(Date.UTC(2026, 10, 30) + n * 1000).toISOString();
  const text = n === count - 1 ? "needle-of-the-last-event" : `event ${n}: ${"some words of a long answer, ".repeat(1 + (n % 40))}`;
  const line = n % 2
    ? { type: "user", message: { role: "user", content: [{ type: "tool_result", tool_use_id: `toolu_${n - 1}`, content: text }] } }
    : { type: "assistant", message: { id: `msg_${n}`, role: "assistant", model: "claude-sonnet-4-5", stop_reason: "tool_use", usage: { input_tokens: 9, output_tokens: 3 }, content: [{ type: "tool_use", id: `toolu_${n}`, name: "Bash", input: { command: text } }] } };
  out.push(JSON.stringify({ ...line, ...common, uuid: `u-${n}`, timestamp: at }));
}
process.stdout.write(`${out.join("\n")}\n`);
