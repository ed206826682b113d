//! Agents started by hand, around the one that is in charge.

use super::super::facts::Run;
use super::super::paths::Ground;
use super::super::policy::{Family, Severity};
use super::table::{Rule, Test, has_flag};

pub(super) const RULES: &[Rule] = &[Rule {
    id: "agents.started",
    family: Family::Agents,
    severity: Severity::High,
    on: true,
    reason: "it starts an agent around the orchestrator, where nothing supervises it or counts what it costs",
    instead: "do the work yourself, or say in your report that it needs an agent of its own; asking for a version or for \
        help is fine",
    test: Test::Run(starts_agent),
}];

/// How a program's call is told to start an agent.
#[derive(Clone, Copy)]
enum When {
    /// Always, but for what asks about itself.
    Always,
    /// With one of these first words, or none at all.
    Words(&'static [&'static str]),
    /// With one of these first words only (other programs have the name too).
    OnlyWords(&'static [&'static str]),
    /// With one of these options, or without any argument.
    Flags(&'static [&'static str]),
}

const PROMPTS: &[&str] = &[
    "-p",
    "--prompt",
    "-i",
    "--interactive",
    "--continue",
    "--resume",
    "-x",
    "--execute",
];

const AGENTS: &[(&[&str], When)] = &[
    (
        &[
            "claude",
            "claude-code",
            "@anthropic-ai/claude-code",
            "codex",
            "@openai/codex",
            "gemini",
            "gemini-cli",
            "@google/gemini-cli",
            "qwen",
            "qwen-code",
            "@qwen-code/qwen-code",
            "opencode",
            "opencode-ai",
            "cursor-agent",
            "aider",
            "aider-chat",
            "auggie",
            "@augmentcode/auggie",
            "plandex",
            "pdx",
            "gptme",
            "openhands",
            "codebuff",
            "iflow",
            "nanocoder",
            "trae-cli",
            "amp",
            "@sourcegraph/amp",
            "crush",
            "@charmland/crush",
            "droid",
            "kimi",
            "kimi-cli",
            "open-interpreter",
            "claude-squad",
            "ccr",
            "@musistudio/claude-code-router",
            "sweagent",
            "mini-swe-agent",
            "kilocode",
            "kilo",
            "roo",
            "cline",
            "forgecode",
            "jules",
            "happy",
            "claudia",
            "codex-cli",
            "rovodev",
            "devin",
            "smol-developer",
            "mentat",
            "gpt-engineer",
            "gpte",
            "letta",
        ],
        When::Always,
    ),
    (
        &["goose"],
        When::OnlyWords(&["run", "session", "s", "schedule", "web", "acp", "recipe", "project"]),
    ),
    (
        &["copilot", "@github/copilot"],
        When::Flags(&[
            "-p",
            "--prompt",
            "--allow-all-tools",
            "--allow-tool",
            "--resume",
            "--continue",
            "-i",
        ]),
    ),
    (&["q", "kiro-cli", "cody"], When::OnlyWords(&["chat"])),
    (&["grok", "vibe", "cn", "interpreter", "pi"], When::Flags(PROMPTS)),
    (&["cursor"], When::OnlyWords(&["agent"])),
    (&["gh"], When::OnlyWords(&["copilot", "agent-task", "models-run"])),
    (&["acli"], When::OnlyWords(&["rovodev"])),
    (&["ollama"], When::OnlyWords(&["launch"])),
    (&["subcell"], When::OnlyWords(&["run", "intercept", "keeper"])),
    (&["llm-agent", "swe-agent"], When::Words(&["run", "chat"])),
];

/// First words with which an agent's program only tells about itself.
const ASKING: &[&str] = &[
    "--version",
    "-v",
    "-V",
    "--help",
    "-h",
    "help",
    "version",
    "doctor",
    "completion",
    "completions",
    "update",
    "upgrade",
    "install",
];

/// First words that tell about accounts, models and settings; the client itself would take most of them for a prompt.
const LISTING: &[&str] = &[
    "auth",
    "login",
    "logout",
    "models",
    "stats",
    "whoami",
    "features",
    "mcp",
    "plugin",
    "plugins",
    "extensions",
];

fn starts_agent(run: &Run, _: &Ground) -> bool {
    let name = run
        .verb
        .strip_suffix(".exe")
        .or_else(|| run.verb.strip_suffix(".cmd"))
        .unwrap_or(&run.verb);
    let full = package(&run.program);
    let found = AGENTS
        .iter()
        .find(|(names, _)| names.contains(&name) || names.contains(&full));
    let Some((_, when)) = found else { return false };
    let args = run.args.as_slice();
    let first = args.first().map_or("", String::as_str);
    if ASKING.contains(&first) || args.last().is_some_and(|last| last == "--help") {
        return false;
    }
    let word = args.iter().find(|arg| !arg.starts_with('-')).map_or("", String::as_str);
    match when {
        When::Always => !lists(args),
        When::Words(words) => word.is_empty() || words.contains(&word),
        When::OnlyWords(words) => words.contains(&word),
        When::Flags(flags) => args.is_empty() || flags.iter().any(|flag| has_flag(args, flag)),
    }
}

/// `mcp list`, `auth status` and their like.
fn lists(args: &[String]) -> bool {
    let [first, second, ..] = args else {
        return args
            .first()
            .is_some_and(|word| matches!(word.as_str(), "models" | "stats"));
    };
    LISTING.contains(&first.as_str())
        && matches!(
            second.as_str(),
            "list" | "ls" | "get" | "status" | "show" | "whoami" | "--help"
        )
}

/// The package that `npx` and its like were given, without a version.
fn package(program: &str) -> &str {
    let start = usize::from(program.starts_with('@'));
    let end = program
        .get(start..)
        .and_then(|rest| rest.find('@'))
        .map_or(program.len(), |at| at + start);
    program.get(..end).unwrap_or(program)
}
