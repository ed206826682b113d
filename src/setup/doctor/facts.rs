//! What is known of a place before anything is judged: plain data.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::config::Delivery;
use crate::protocol::settings::{HookTerms, Scope};
use crate::protocol::version::ClientVersion;
use crate::setup::entries::{OurEntry, Work};

/// Everything that is known of one folder that sessions are started in.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// The folder.
    pub folder: PathBuf,
    /// The settings documents, weakest first: those that are loaded, and those that somebody may take for loaded.
    pub documents: Vec<Document>,
    /// The options that the client is started with.
    pub options: Options,
    /// The client's start environment; values are never shown.
    pub env: BTreeMap<String, String>,
    /// The client.
    pub client: ClientFacts,
    /// The hooks of `subcell`, in the order of the documents.
    pub hooks: Vec<OurHook>,
    /// The echo agent.
    pub echo: Echo,
    /// Whether there is a credentials file in the client's configuration folder.
    pub credentials_file: bool,
    /// Whether this is root.
    pub is_root: bool,
    /// The configuration of subcell.
    pub config: ConfigFacts,
    /// Where records and results go.
    pub state: StateFacts,
    /// `host:port` of the collector, and why it cannot be reached, where `[telemetry]` names one.
    pub telemetry: Option<(String, Option<String>)>,
}

/// A settings document.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its scope.
    pub scope: Scope,
    /// Where it stands: a path, or the option that it was given by.
    pub place: String,
    /// What the client does with it.
    pub state: DocumentState,
    /// What it says.
    pub content: Content,
}

/// What the client does with a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentState {
    /// It counts.
    Loaded,
    /// It is no scope of the client's, for this reason.
    NeverLoaded(String),
    /// `--setting-sources` or another option leaves it out.
    LeftOut,
    /// It is dropped whole, for this reason.
    Dropped(String),
}

/// What a document says of what concerns us.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Content {
    /// `disableAllHooks`.
    pub disables_hooks: Option<bool>,
    /// `allowManagedHooksOnly`.
    pub managed_hooks_only: bool,
    /// `env`; values are never shown.
    pub env: BTreeMap<String, String>,
    /// `permissions.defaultMode`.
    pub mode: Option<String>,
    /// `permissions.deny`.
    pub deny: Vec<String>,
    /// Whether `apiKeyHelper` is set.
    pub key_helper: bool,
    /// The hooks of `PreToolUse`.
    pub before: Vec<SeenHook>,
    /// The hooks of `PostToolUse`.
    pub after: Vec<SeenHook>,
}

/// A hook of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenHook {
    /// Its terms.
    pub terms: HookTerms,
    /// What it is, where it is ours.
    pub ours: Option<OurEntry>,
}

/// Options of the client that change what it loads or lets run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch, independent of the others"
)]
pub struct Options {
    /// Whether the options are known: given to doctor, or read of the client that it runs below.
    pub are_known: bool,
    /// Options that switch hooks off: `--bare`, `--safe-mode`.
    pub without_hooks: Vec<String>,
    /// Whether `--dangerously-skip-permissions` or `--permission-mode bypassPermissions` is given.
    pub bypass: bool,
    /// Whether `--tools` or `--disallowedTools` takes the Agent tool away.
    pub without_agent: bool,
    /// Whether `--settings` is given more than once.
    pub settings_twice: bool,
}

/// The client that would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFacts {
    /// Its file; none where there is no `claude` on the PATH.
    pub path: Option<PathBuf>,
    /// Its version, where it is known.
    pub version: Option<ClientVersion>,
    /// The program that `claude` of the configuration names, where it cannot be executed.
    pub missing_child: Option<PathBuf>,
}

/// Which hook of ours an entry is.
#[derive(Clone, Debug, PartialEq)]
pub struct OurHook {
    /// The document, by its index.
    pub document: usize,
    /// What it is, and how it is written.
    pub entry: OurEntry,
    /// The terms of its entry.
    pub terms: HookTerms,
    /// The program that the client would start.
    pub program: Program,
    /// What its arguments mean, or why they mean nothing.
    pub meaning: Result<Meaning, String>,
}

/// The program of a hook, as the client finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// It is there.
    Found {
        /// Its file.
        path: PathBuf,
        /// What `--version` prints, where it was asked.
        version: Option<String>,
        /// Whether it was found by a path that counts from the session's folder.
        relative: bool,
    },
    /// It is not.
    Missing(String),
    /// It is there and cannot be executed.
    NotExecutable(PathBuf),
    /// It begins with `~` or holds `$`, which only a shell would replace.
    Unexpanded(String),
}

/// What the arguments of a hook of ours come to, with the configuration of the place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meaning {
    /// How long a cell may run.
    pub run: Duration,
    /// How long a call waits for a slot.
    pub wait: Duration,
    /// How results come back; none for a hook that is not `intercept`.
    pub delivery: Option<Delivery>,
    /// A folder that has to exist for calls to be intercepted, and does not.
    pub missing_sandbox: Option<PathBuf>,
    /// Whether a failed cell's call goes on in the client's own process.
    pub falls_back: bool,
}

/// Whether the parent can hand results back through the small agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Echo {
    /// It can.
    Available,
    /// There is no such agent.
    NotFound,
    /// Another definition has its name, or may have, in this file.
    Doubtful(PathBuf),
    /// A rule is against it.
    Refused(String),
}

/// What the configuration of subcell says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigFacts {
    /// What makes it unusable.
    pub problems: Vec<String>,
    /// What is ignored in it.
    pub warnings: Vec<String>,
    /// What the guard variable says of the environment that sessions start in.
    pub guard: Option<String>,
}

/// Where records go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFacts {
    /// The folder of the records; none where there is no home folder.
    pub folder: Option<PathBuf>,
    /// Why it cannot be written to.
    pub refused: Option<String>,
    /// Its file system, where it is known.
    pub file_system: Option<FileSystem>,
    /// Free space in bytes.
    pub free_bytes: Option<u64>,
    /// Records of cells that run although their processes are gone.
    pub lost_cells: usize,
    /// Records that cannot be read.
    pub unreadable_records: usize,
}

/// A kind of file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSystem {
    /// Gone after a reboot.
    Tmpfs,
    /// A container's upper layer, gone with it.
    Overlay,
    /// On another machine: locks and renames depend on it.
    Network,
    /// Any other.
    Other,
}

impl Facts {
    /// The documents that count, weakest first, with their index.
    #[must_use]
    pub fn loaded(&self) -> impl DoubleEndedIterator<Item = (usize, &Document)> {
        self.documents
            .iter()
            .enumerate()
            .filter(|(_, document)| document.state == DocumentState::Loaded)
    }

    /// The document that switches every hook off, where one does. The strongest of the user's, the project's and
    /// `--settings` decides for all of them, so a project can switch the user's hooks off and on; managed `true` wins
    /// over all, managed `false` over none (2.1.156, 2.1.332).
    #[must_use]
    pub fn disabling(&self) -> Option<&Document> {
        let mut loaded = self.loaded().map(|(_, document)| document).rev();
        let managed = |document: &&Document| document.scope == Scope::Managed;
        let by_policy = self
            .loaded()
            .map(|(_, document)| document)
            .find(|document| managed(document) && document.content.disables_hooks == Some(true));
        by_policy.or_else(|| {
            loaded
                .find(|document| !managed(document) && document.content.disables_hooks.is_some())
                .filter(|document| document.content.disables_hooks == Some(true))
        })
    }

    /// The managed document that lets managed hooks alone run.
    #[must_use]
    pub fn managed_only(&self) -> Option<&Document> {
        self.loaded()
            .map(|(_, document)| document)
            .find(|document| document.scope == Scope::Managed && document.content.managed_hooks_only)
    }

    /// Our hooks of this kind that the client runs for an Agent call.
    pub fn live(&self, work: Work) -> impl Iterator<Item = &OurHook> {
        self.hooks
            .iter()
            .filter(move |hook| hook.entry.work == work && self.runs(hook))
    }

    fn runs(&self, hook: &OurHook) -> bool {
        let Some(document) = self.documents.get(hook.document) else {
            return false;
        };
        document.state == DocumentState::Loaded
            && (self.managed_only().is_none() || document.scope == Scope::Managed)
            && hook.terms.takes_agent() != crate::protocol::settings::Takes::No
    }

    /// The value of a variable as the session has it, and where it stands: settings win over the start environment.
    /// `project` tells whether a repository's value counts.
    #[must_use]
    pub fn variable(&self, name: &str, project: bool) -> Option<(&str, String)> {
        let of_repository = |scope| matches!(scope, Scope::Project | Scope::Local);
        let in_settings = self
            .loaded()
            .rev()
            .filter(|(_, document)| project || !of_repository(document.scope))
            .find_map(|(_, document)| Some((document.content.env.get(name)?.as_str(), document.place.clone())));
        in_settings.or_else(|| Some((self.env.get(name)?.as_str(), "the environment".to_owned())))
    }

    /// Whether a switch of the client is on. `0`, `false` and the like are off (2.1.156, 2.1.332).
    #[must_use]
    pub fn switch(&self, name: &str, project: bool) -> Option<String> {
        let (value, place) = self.variable(name, project)?;
        let off = ["", "0", "false", "no", "off"].contains(&value.trim().to_ascii_lowercase().as_str());
        (!off).then_some(place)
    }
}
