//! The agents of plugins: `plugin:name`, in a sub-folder `plugin:folder:name` (2.1.226, 2.1.295, 2.1.332). Best effort: plugins of `--plugin-dir`, and installed ones that the settings
//! switch on; an agent that a plugin defines elsewhere than in its `agents` folder is not found.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::folders::{AgentPlaces, file_order};
use super::scan::{FileOrder, ScanBudget, scan};
use super::table::{Found, Origin};
use crate::base::{Links, read_bounded};
use crate::protocol::settings::LoadedSettings;

/// A manifest or list of plugins larger than this is not read: 1 MiB.
const JSON_LIMIT: u64 = 1024 * 1024;

/// The definitions of all plugins of a session.
pub(super) fn plugins(places: AgentPlaces<'_>, budget: &mut ScanBudget) -> Vec<Found> {
    let mut folders: Vec<PathBuf> = places
        .config
        .map(|config| installed(config, places.settings))
        .unwrap_or_default();
    let flags = places.flags;
    let given = flags.plugin_dir.iter().chain(&flags.plugin_dir_no_mcp);
    folders.extend(given.map(|path| places.start.join(path)));
    let order = file_order(places.version);
    folders
        .iter()
        .flat_map(|folder| of_plugin(folder, order, budget))
        .collect()
}

fn of_plugin(folder: &Path, order: FileOrder, budget: &mut ScanBudget) -> Vec<Found> {
    let Some(plugin) = name(folder) else {
        return Vec::new();
    };
    let agents = folder.join("agents");
    let mut found = scan(&agents, Origin::Plugin, order, budget);
    for one in &mut found {
        let path = one.path.as_deref().and_then(|path| path.strip_prefix(&agents).ok());
        let folders = path.and_then(Path::parent).into_iter().flat_map(Path::components);
        let mut parts = vec![plugin.clone()];
        parts.extend(folders.map(|part| part.as_os_str().to_string_lossy().into_owned()));
        parts.push(std::mem::take(&mut one.definition.name));
        one.definition.name = parts.join(":");
    }
    found
}

/// The plugin's name: its manifest's, else its folder's.
fn name(folder: &Path) -> Option<String> {
    let manifest = json(&folder.join(".claude-plugin/plugin.json"));
    let named = manifest.as_ref().and_then(|manifest| manifest.get("name")?.as_str());
    named
        .map(str::to_owned)
        .or_else(|| Some(folder.file_name()?.to_str()?.to_owned()))
}

/// The folders of the installed plugins that are switched on (`plugins/installed_plugins.json`, 2.1.332: an object
/// `plugins` of `name@marketplace` to its installations, each with an `installPath`).
fn installed(config: &Path, settings: &LoadedSettings) -> Vec<PathBuf> {
    let Some(list) = json(&config.join("plugins/installed_plugins.json")) else {
        return Vec::new();
    };
    let plugins = list.get("plugins").and_then(Value::as_object).into_iter().flatten();
    plugins
        .filter(|(id, _)| settings.plugin_enabled(id))
        .flat_map(|(_, installations)| {
            let list = installations.as_array().map(Vec::as_slice);
            list.unwrap_or(std::slice::from_ref(installations))
        })
        .filter_map(|installation| installation.get("installPath")?.as_str().map(PathBuf::from))
        .collect()
}

fn json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&read_bounded(path, JSON_LIMIT, Links::Follow).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;
    use crate::protocol::command_line::ParentFlags;
    use crate::protocol::settings::{Places, Sources, load};

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn agents_of_given_and_of_enabled_plugins_are_named_after_them() {
        let root = tempfile::tempdir().unwrap();
        let agent = "---\nname: judge\ndescription: d\n---\n";
        write(
            &root.path().join("given/.claude-plugin/plugin.json"),
            r#"{"name":"tools"}"#,
        );
        write(&root.path().join("given/agents/judge.md"), agent);
        write(&root.path().join("given/agents/sub/judge.md"), agent);
        write(&root.path().join("cache/on/agents/judge.md"), agent);
        write(&root.path().join("cache/off/agents/judge.md"), agent);
        let path = |name: &str| root.path().join("cache").join(name).display().to_string();
        let list = serde_json::json!({"version": 2, "plugins": {
            "on@m": [{"scope": "user", "installPath": path("on")}],
            "off@m": [{"scope": "user", "installPath": path("off")}],
        }});
        write(
            &root.path().join("config/plugins/installed_plugins.json"),
            &list.to_string(),
        );
        let places = Places {
            managed: Path::new("/nonexistent"),
            config: None,
            project: root.path(),
        };
        let on = OsStr::new(r#"{"enabledPlugins":{"on@m":true,"off@m":false}}"#);
        let settings = load(places, Sources::from_flag(None), Some(on), None);
        let flags = ParentFlags {
            plugin_dir: vec!["given".into()],
            ..ParentFlags::default()
        };
        let places = AgentPlaces {
            version: None,
            flags: &flags,
            sources: Sources::from_flag(None),
            settings: &settings,
            managed: Path::new("/nonexistent"),
            config: Some(&root.path().join("config")),
            home: None,
            start: root.path(),
        };
        let found = plugins(places, &mut ScanBudget::default());
        let names: Vec<&str> = found.iter().map(|found| found.definition.name.as_str()).collect();
        assert_eq!(names, ["on:judge", "tools:judge", "tools:sub:judge"]);
    }
}
