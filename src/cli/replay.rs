//! `subcell replay`: transcripts that can be read.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::replay_html::{self, HtmlArgs};
use super::replay_show::{self, ShowArgs};
use crate::base::chain::Chain;
use crate::base::redact::{PatternError, Redactor};
use crate::config::{Believed, ClientError, ConfigError, Environment, Flags, Profile};
use crate::exit::Exit;
use crate::replay::sources::{PathError, Places, gather};
use crate::replay::timeline::{PlayError, Rates, Screen, Tree};

/// Shows the transcripts of a run as one tree: sessions, cells and echoes under the calls that started them.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Show(ShowArgs),
    Html(HtmlArgs),
}

/// What to read and how; both subcommands take it.
#[derive(Debug, Args)]
pub(super) struct InputArgs {
    /// A session's .jsonl file, a session's folder, a project folder, fullsend's transcripts/, or a run's folder.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Folders of cell records that belong to PATH, besides those in it and those in subcell's own folder.
    #[arg(long, value_name = "DIR")]
    records: Vec<PathBuf>,
    /// Shows secrets as they stand.
    #[arg(long)]
    no_redact: bool,
    /// Takes out what matches REGEX too; group 1, where there is one, is the secret. Adds to `[redact] patterns`.
    #[arg(long, value_name = "REGEX")]
    redact: Vec<String>,
    /// What a million input tokens of a model cost in US dollars, for clients that do not say it themselves.
    #[arg(long, value_name = "MODEL=USD", value_parser = price)]
    price: Vec<(String, f64)>,
    /// The configuration file, instead of the user's.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Why nothing, or not everything, was shown.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("read the configuration")]
    Config(#[from] ConfigError),
    #[error("use a pattern of further secrets")]
    Pattern(#[from] PatternError),
    #[error(transparent)]
    Play(#[from] PlayError),
    #[error("write {}: it is one of the transcripts that are read; name another file for the page", .0.display())]
    OwnInput(PathBuf),
    #[error("write {}", .0.display())]
    Output(PathBuf, #[source] io::Error),
}

impl Failure {
    fn exit(&self) -> Exit {
        match self {
            Self::Path(_) => Exit::NoInput,
            Self::OwnInput(_) => Exit::Usage,
            Self::Config(_) | Self::Pattern(_) => Exit::Config,
            // Whoever reads has seen enough: that is no failure.
            Self::Play(PlayError(error)) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
            Self::Play(_) | Self::Output(..) => Exit::Io,
        }
    }
}

/// Runs a subcommand.
pub(crate) fn run(args: &ReplayArgs) -> Exit {
    let ran = match &args.what {
        What::Show(show) => replay_show::run(show),
        What::Html(html) => replay_html::run(html),
    };
    match ran {
        Ok(()) => Exit::Done,
        Err(failure) => {
            let exit = failure.exit();
            if exit != Exit::Done {
                // Nowhere is left to report a broken stderr.
                let _ = writeln!(io::stderr(), "subcell replay: {}", Chain(&failure));
            }
            exit
        }
    }
}

impl InputArgs {
    /// Finds, joins and counts everything, and makes ready what takes secrets out.
    pub(super) fn load(&self) -> Result<(Tree, Screen), Failure> {
        let believed = believed();
        let screen = self.screen(&believed)?;
        let places = Places {
            paths: self.paths.clone(),
            records: self.records.clone(),
            usual_records: crate::ledger::places::state_folder(&believed),
        };
        let tree = Tree::build(gather(&places)?, Rates::given(self.price.iter().cloned()));
        Ok((tree, screen))
    }

    fn screen(&self, believed: &Believed) -> Result<Screen, Failure> {
        if self.no_redact {
            return Ok(Screen::new(None));
        }
        let flags = Flags {
            config: self.config.clone(),
            ..Flags::default()
        };
        // A user's file inside of the project is not believed; who stands in the home folder has no project.
        let user_file = believed.user_config_file();
        let here = std::env::current_dir()
            .ok()
            .filter(|here| !user_file.is_some_and(|file| file.starts_with(here)));
        let profile = Profile::load(believed, here.as_deref(), &flags)?;
        let configured = profile.redact_patterns.iter().map(|pattern| pattern.value.as_str());
        let patterns = configured.chain(self.redact.iter().map(String::as_str));
        Ok(Screen::new(Some(Redactor::with_patterns(patterns)?)))
    }
}

/// No hook and nobody's child: what finds the user's files is taken from this process's own environment, not from that
/// of whatever program stands above the shell.
fn believed() -> Believed {
    let environment = Environment::of_this_process();
    Believed::judge(
        &environment,
        Err(&ClientError::NoParent),
        |_| Ok(Environment::default()),
    )
}

fn price(text: &str) -> Result<(String, f64), String> {
    let (model, usd) = text.rsplit_once('=').ok_or("has to be MODEL=USD")?;
    let usd: f64 = usd.parse().map_err(|_| "the price is no number")?;
    if model.is_empty() || !usd.is_finite() || usd < 0.0 {
        return Err("has to be MODEL=USD with a price of at least 0".to_owned());
    }
    Ok((model.to_owned(), usd))
}
