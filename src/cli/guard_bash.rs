//! `subcell guard bash`: the hook, and its explanation, rules and tests for people.

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::hook_io::print;
use crate::base::UnixNanos;
use crate::config::{Believed, Flags, Guard, LiveProc, Profile, Surroundings};
use crate::exit::Exit;
use crate::guard::bash::{
    BashCall, Caller, Day, Decision, Ground, LiveRecords, Question, Score, Setting, Verdict, decide, explain,
    log_line, read_call, read_labelled, read_setting, reason, rules,
};
use crate::protocol::reply::HookReply;

/// Largest payload in bytes: a command of 1 MiB in the longest form that JSON has for it, and the other fields.
const LARGEST_PAYLOAD: u64 = 16 << 20;

/// Judge a command of the Bash tool (a `PreToolUse` hook; reads the payload on stdin).
///
/// Example: `subcell guard bash --rules`, `subcell guard bash < payload.json`
#[derive(Debug, clap::Args)]
pub(crate) struct BashArgs {
    /// Say how this command is read, which rules match, and what is decided.
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["test", "rules"])]
    explain: Option<String>,
    /// Judge the labelled commands of this file (id, label, family, command as JSON; tabs between).
    #[arg(long, value_name = "FILE.tsv", conflicts_with = "rules")]
    test: Option<PathBuf>,
    /// List the rules.
    #[arg(long)]
    rules: bool,
    /// With --explain and --test: judge as the main session's command, not as a subagent's.
    #[arg(long)]
    main_session: bool,
    /// Log what would be decided, and let every command pass.
    #[arg(long)]
    observe: bool,
    /// Append one line of JSON for each decision to this file.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Stand in for the user's configuration file.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

pub(crate) fn run(args: &BashArgs) -> Exit {
    if args.rules {
        return print(&rule_list());
    }
    if args.explain.is_none() && args.test.is_none() {
        return hook(args);
    }
    let around = Around::look(args, None);
    if let Some(command) = &args.explain {
        let question = around.question(
            command,
            false,
            Caller {
                confined: !args.main_session,
                answerable: false,
            },
        );
        let decision = decide(&question, &around.setting.policy);
        return print(&explain(&question, &around.setting.policy, &decision));
    }
    args.test
        .as_deref()
        .map_or(Exit::Usage, |file| test(file, args, &around))
}

/// The hook: a decision on stdout and exit 0, whatever happens.
fn hook(args: &BashArgs) -> Exit {
    let mut payload = Vec::new();
    if let Err(error) = std::io::stdin().lock().take(LARGEST_PAYLOAD).read_to_end(&mut payload) {
        complain(&format!("the hook's input cannot be read: {error}"));
        return Exit::Done;
    }
    let call = match read_call(&payload) {
        Ok(Some(call)) => call,
        Ok(None) => {
            complain("not a PreToolUse event of the Bash tool: nothing to judge");
            return Exit::Done;
        }
        Err(error) => {
            complain(&error.to_string());
            return Exit::Done;
        }
    };
    // A defect of ours must not let the command run.
    let reply = catch_unwind(AssertUnwindSafe(|| judge(args, &call))).unwrap_or_else(|_| HookReply::Deny {
        reason: "Subcell's bash guard failed on this command, so it is refused; write it in a simpler form."
            .to_owned(),
        message: None,
    });
    reply.to_json().map_or(Exit::Done, |reply| print(&format!("{reply}\n")))
}

fn judge(args: &BashArgs, call: &BashCall) -> HookReply {
    let around = Around::look(args, call.cwd.as_deref());
    let confined = call.of_subagent || !matches!(around.believed.guard(), Guard::None);
    let answerable = !confined && !call.mode_asks_nobody && around.attended;
    let question = around.question(&call.command, call.in_background, Caller { confined, answerable });
    let decision = decide(&question, &around.setting.policy);
    let observe = args.observe || around.setting.observe;
    around.log(args, call, &decision, observe);
    let reply = match decision.verdict {
        Verdict::Pass => HookReply::Silent,
        _ if observe => HookReply::Silent,
        Verdict::Ask => HookReply::Ask {
            reason: reason(&decision),
            message: None,
        },
        Verdict::Deny => HookReply::Deny {
            reason: reason(&decision),
            message: None,
        },
    };
    match around.setting.problems.first() {
        Some(problem) => reply.telling(&format!("subcell guard bash: {problem}")),
        None => reply,
    }
}

/// What the guard goes by.
struct Around {
    believed: Believed,
    ground: Ground,
    setting: Setting,
    attended: bool,
    today: Day,
}

impl Around {
    fn look(args: &BashArgs, cwd: Option<&Path>) -> Self {
        let surroundings = Surroundings::look(&LiveProc);
        let here = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let cwd = cwd.map_or_else(here, Path::to_owned);
        let project = surroundings
            .environment
            .get("CLAUDE_PROJECT_DIR")
            .map_or_else(|| cwd.clone(), PathBuf::from);
        let flags = Flags {
            config: args.config.clone(),
            ..Flags::default()
        };
        let setting = match Profile::load(&surroundings.believed, Some(&project), &flags) {
            Ok(profile) => read_setting(&profile.rooms.guard_bash),
            // Every rule holds then; what is wrong is told.
            Err(error) => Setting {
                problems: error.problems,
                ..Setting::default()
            },
        };
        let ground = ground(&surroundings.believed, &cwd, &project);
        let attended = is_attended(&surroundings);
        let today = Day(i64::try_from(UnixNanos::now().as_nanos() / 86_400_000_000_000).unwrap_or(i64::MAX));
        Self {
            believed: surroundings.believed,
            ground,
            setting,
            attended,
            today,
        }
    }

    fn question<'q>(&'q self, command: &'q str, in_background: bool, caller: Caller) -> Question<'q> {
        Question {
            command,
            in_background,
            caller,
            ground: &self.ground,
            records: &LiveRecords,
            today: Some(self.today),
        }
    }

    /// A log that cannot be written changes no decision.
    fn log(&self, args: &BashArgs, call: &BashCall, decision: &Decision, observe: bool) {
        let default = || {
            self.believed
                .state_dir()
                .filter(|_| observe)
                .map(|dir| dir.join("guard-bash.jsonl"))
        };
        let configured = || self.setting.log.as_ref().map(PathBuf::from);
        let Some(path) = args.log.clone().or_else(configured).or_else(default) else {
            return;
        };
        let line = format!("{}\n", log_line(call, decision, observe, UnixNanos::now().as_nanos()));
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| {
            let mut file = std::fs::OpenOptions::new().append(true).create(true).open(&path)?;
            file.write_all(line.as_bytes())
        });
        if let Err(error) = written {
            complain(&format!("the log {} cannot be written: {error}", path.display()));
        }
    }
}

/// Whether a person is there: not where the client was started with `-p`, or says that nobody attends.
fn is_attended(surroundings: &Surroundings) -> bool {
    let printing = surroundings
        .client
        .as_ref()
        .is_ok_and(|client| client.cmdline.iter().skip(1).any(|arg| arg == "-p" || arg == "--print"));
    let said = surroundings.environment.get("CLAUDE_CODE_SESSION_ATTENDED");
    let denied = said.is_some_and(|said| said == "0" || said == "false");
    surroundings.client.is_ok() && !printing && !denied
}

fn ground(believed: &Believed, cwd: &Path, project: &Path) -> Ground {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut protected = Vec::new();
    protected.extend(believed.user_config_file().as_deref().map(text));
    protected.extend(believed.state_dir().as_deref().map(text));
    protected.extend(std::env::current_exe().ok().as_deref().map(text));
    if let Some(dir) = believed.client_config_dir() {
        protected.extend(["settings.json", "settings.local.json", "hooks"].map(|name| text(&dir.join(name))));
    }
    Ground {
        cwd: text(cwd),
        project: text(project),
        home: believed.home().map(text),
        protected,
    }
}

/// Judges a file of labelled commands; "no" where a decision differs from its label.
fn test(file: &Path, args: &BashArgs, around: &Around) -> Exit {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            complain(&format!("{} cannot be read: {error}", file.display()));
            return Exit::NoInput;
        }
    };
    let rows = match read_labelled(&text) {
        Ok(rows) => rows,
        Err(error) => {
            complain(&format!("{}: {error}", file.display()));
            return Exit::BadInput;
        }
    };
    let mut score = Score::default();
    for row in &rows {
        let caller = Caller {
            confined: !args.main_session,
            answerable: false,
        };
        let question = around.question(&row.command, row.in_background, caller);
        let decision = decide(&question, &around.setting.policy);
        score.add(row, decision.verdict != Verdict::Pass);
    }
    let printed = print(&score.report());
    if printed == Exit::Done && !score.wrong().is_empty() {
        Exit::Negative
    } else {
        printed
    }
}

fn rule_list() -> String {
    let lines = rules().map(|rule| {
        let off = if rule.on { "" } else { " (off)" };
        format!(
            "{}{off}\t{}\t{}. Instead: {}.\n",
            rule.id,
            rule.severity.name(),
            rule.reason,
            rule.instead
        )
    });
    lines.collect()
}

fn complain(what: &str) {
    // Nowhere is left to report a broken stderr.
    let _ = writeln!(std::io::stderr(), "subcell guard bash: {what}");
}
