//! Reads the settings documents of a place: those that the client loads, and those that somebody may take for loaded.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::facts::{Content, Document, DocumentState, SeenHook};
use crate::base::chain::Chain;
use crate::base::{BoundedReadError, Links, read_bounded};
use crate::protocol::command_line::ParentFlags;
use crate::protocol::command_line::inherit::is_json;
use crate::protocol::settings::load::SETTINGS_LIMIT;
use crate::protocol::settings::{HookTerms, Scope, Settings, Sources, audit};
use crate::protocol::version::{ClientVersion, V2_1_332};
use crate::setup::entries::OurEntry;

/// How many folders above the place are looked into.
const ANCESTORS: usize = 32;
const MANAGED_PARTS: usize = 64;

/// Where the documents of a place are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Where<'a> {
    pub(super) folder: &'a Path,
    pub(super) config: Option<&'a Path>,
    pub(super) home: Option<&'a Path>,
    pub(super) managed: &'a Path,
    pub(super) flags: &'a ParentFlags,
    pub(super) version: Option<ClientVersion>,
}

/// The documents, weakest first.
pub(super) fn read(place: Where<'_>) -> Vec<Document> {
    let mut list = List(Vec::new());
    let flags = place.flags;
    // Where it is not known which of two counts, a finding says so; the last one is looked at.
    let sources = flags.effective_setting_sources(place.version).ok().flatten();
    let sources = Sources::from_flag(sources.or(flags.setting_sources.last()).map(AsRef::as_ref));
    let given = |on: bool| {
        if on {
            DocumentState::Loaded
        } else {
            DocumentState::LeftOut
        }
    };
    user(place, &mut list, given(sources.user));
    above(place, &mut list, sources);
    let own = place.folder.join(".claude");
    list.file(Scope::Project, &own.join("settings.json"), given(sources.project));
    list.file(Scope::Local, &own.join("settings.local.json"), given(sources.local));
    let flag = flags.effective_settings(place.version).ok().flatten();
    if let Some(value) = flag.or(flags.settings.last()) {
        list.text_or_file(Scope::Flag, "--settings", value, place.folder);
    }
    if let Some(value) = &flags.managed_settings {
        list.text_or_file(Scope::Managed, "--managed-settings", value, place.folder);
    }
    list.file(
        Scope::Managed,
        &place.managed.join("managed-settings.json"),
        DocumentState::Loaded,
    );
    for path in managed_parts(place.managed) {
        list.file(Scope::Managed, &path, DocumentState::Loaded);
    }
    list.0
}

fn user(place: Where<'_>, list: &mut List, state: DocumentState) {
    let usual = place.home.map(|home| home.join(".claude"));
    if let Some(other) = usual.as_deref().filter(|usual| Some(*usual) != place.config) {
        let why = "CLAUDE_CONFIG_DIR names another folder".to_owned();
        list.file(
            Scope::User,
            &other.join("settings.json"),
            DocumentState::NeverLoaded(why),
        );
    }
    if let Some(config) = place.config {
        // Measured on 2.1.156 and 2.1.332.
        let why = "the user's folder has no local settings".to_owned();
        list.file(
            Scope::User,
            &config.join("settings.local.json"),
            DocumentState::NeverLoaded(why),
        );
        list.file(Scope::User, &config.join("settings.json"), state);
    }
}

/// A project's settings count in the folder that the session is started in alone; the local ones of the git repository's
/// root count below it too, in 2.1.332 and not in 2.1.156, and without git in neither.
fn above(place: Where<'_>, list: &mut List, sources: Sources) {
    let reads_root = place.version.is_none_or(|version| version >= V2_1_332);
    for folder in place.folder.ancestors().skip(1).take(ANCESTORS) {
        let settings = folder.join(".claude");
        let is_root = folder.join(".git").exists();
        if Some(folder) == place.home || Some(&*settings) == place.config {
            break;
        }
        let never =
            || DocumentState::NeverLoaded("it counts only in sessions that are started in its own folder".to_owned());
        list.file(Scope::Project, &settings.join("settings.json"), never());
        let local = if is_root && reads_root && sources.local {
            DocumentState::Loaded
        } else {
            never()
        };
        list.file(Scope::Local, &settings.join("settings.local.json"), local);
        if is_root || place.folder.join(".git").exists() {
            break;
        }
    }
}

fn managed_parts(managed: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(managed.join("managed-settings.d"));
    let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut parts: Vec<PathBuf> = paths
        .filter(|path| path.extension() == Some(OsStr::new("json")))
        .take(MANAGED_PARTS)
        .collect();
    parts.sort();
    parts
}

struct List(Vec<Document>);

impl List {
    fn file(&mut self, scope: Scope, path: &Path, state: DocumentState) {
        let place = path.display().to_string();
        match read_bounded(path, SETTINGS_LIMIT, Links::Follow) {
            Ok(bytes) => self.add(scope, place, &bytes, state),
            Err(BoundedReadError::Missing) => {}
            Err(error) => self.unread(scope, place, Chain(&error).to_string(), &state),
        }
    }

    fn text_or_file(&mut self, scope: Scope, option: &str, value: &OsStr, folder: &Path) {
        if is_json(value) {
            self.add(scope, option.to_owned(), value.as_bytes(), DocumentState::Loaded);
            return;
        }
        let path = folder.join(value);
        if path.exists() {
            self.file(scope, &path, DocumentState::Loaded);
        } else {
            let why = "there is no such file".to_owned();
            self.unread(scope, path.display().to_string(), why, &DocumentState::Loaded);
        }
    }

    fn unread(&mut self, scope: Scope, place: String, why: String, state: &DocumentState) {
        if *state == DocumentState::Loaded {
            let state = DocumentState::Dropped(why);
            self.0.push(Document {
                scope,
                place,
                state,
                content: Content::default(),
            });
        }
    }

    fn add(&mut self, scope: Scope, place: String, bytes: &[u8], state: DocumentState) {
        match parse(bytes) {
            Ok((content, faults)) => {
                let dropped = state == DocumentState::Loaded && !faults.is_empty();
                let state = if dropped {
                    DocumentState::Dropped(faults.join("; "))
                } else {
                    state
                };
                self.0.push(Document {
                    scope,
                    place,
                    state,
                    content,
                });
            }
            Err(why) => self.unread(scope, place, why, &state),
        }
    }
}

fn parse(bytes: &[u8]) -> Result<(Content, Vec<String>), String> {
    let settings = Settings::parse(bytes).map_err(|error| Chain(&error).to_string())?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let document: Map<String, Value> = serde_json::from_slice(bytes).unwrap_or_default();
    let content = Content {
        disables_hooks: document.get("disableAllHooks").and_then(Value::as_bool),
        managed_hooks_only: settings.managed_hooks_only,
        env: settings.env,
        mode: settings.permissions.default_mode,
        deny: settings.permissions.deny,
        key_helper: document.get("apiKeyHelper").is_some_and(Value::is_string),
        before: hooks(&document, "PreToolUse"),
        after: hooks(&document, "PostToolUse"),
    };
    Ok((content, audit::faults(&document)))
}

fn hooks(document: &Map<String, Value>, event: &str) -> Vec<SeenHook> {
    let ours = OurEntry::all(document);
    let of = |terms: &HookTerms| {
        let at = |entry: &&OurEntry| entry.event == event && (entry.group, entry.hook) == (terms.group, terms.hook);
        ours.iter().find(at).cloned()
    };
    let terms = HookTerms::of_event(document, event).into_iter();
    terms
        .map(|terms| SeenHook {
            ours: of(&terms),
            terms,
        })
        .collect()
}
