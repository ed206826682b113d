use std::os::unix::fs::symlink;

use super::*;

fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sub/settings.json");
    (dir, path)
}

fn existing(text: &str) -> (tempfile::TempDir, PathBuf) {
    let (dir, path) = place();
    fs::create_dir(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    (dir, path)
}

/// What lies in the folder of the file.
fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path.parent().unwrap()).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_file_is_made_replaced_and_removed_whole() {
    let (_dir, path) = place();
    SettingsFile::read(&path).unwrap().replace("{}\n").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let file = SettingsFile::read(&path).unwrap();
    assert_eq!((file.text(), file.exists()), ("{}\n", true));
    file.replace("{ }").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ }");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(names(&path), ["settings.json"]);
    SettingsFile::read(&path).unwrap().remove().unwrap();
    assert!(!path.exists());
}

#[test]
fn what_somebody_wrote_meanwhile_is_not_lost() {
    let (_dir, path) = existing("{}");
    let file = SettingsFile::read(&path).unwrap();
    fs::write(&path, "theirs").unwrap();
    assert!(matches!(file.replace("ours"), Err(HooksError::Changed(_))));
    assert!(matches!(file.remove(), Err(HooksError::Changed(_))));
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    fs::remove_file(&path).unwrap();
    assert!(matches!(file.replace("ours"), Err(HooksError::Changed(_))));

    let (_dir, path) = place();
    let absent = SettingsFile::read(&path).unwrap();
    fs::create_dir(path.parent().unwrap()).unwrap();
    fs::write(&path, "theirs").unwrap();
    assert!(matches!(absent.replace("ours"), Err(HooksError::Changed(_))));
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    assert_eq!(names(&path), ["settings.json"]);
}

#[test]
fn a_writer_after_the_comparison_gets_its_file_back() {
    let (_dir, path) = existing("{}");
    let file = SettingsFile::read(&path).unwrap();
    let mut fresh = NamedTempFile::new_in(path.parent().unwrap()).unwrap();
    fresh.write_all(b"ours").unwrap();
    let stale = Before {
        text: "what was read".to_owned(),
        meta: fs::metadata(&path).unwrap(),
    };
    assert!(matches!(file.exchange(&stale, fresh), Err(HooksError::Changed(_))));
    assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
    assert_eq!(names(&path), ["settings.json"]);
}

#[test]
fn only_a_writable_regular_file_is_taken() {
    let (_dir, path) = existing("{}");
    let read = |name: &str| SettingsFile::read(&path.with_file_name(name)).unwrap_err();
    symlink("settings.json", path.with_file_name("link")).unwrap();
    fs::create_dir(path.with_file_name("folder")).unwrap();
    fs::write(path.with_file_name("bytes"), b"\xff").unwrap();
    assert!(matches!(read("link"), HooksError::Link { to, .. } if to.ends_with("sub/settings.json")));
    assert!(matches!(read("folder"), HooksError::NotRegular(_)));
    assert!(matches!(read("bytes"), HooksError::Io { .. }));
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    assert!(matches!(read("settings.json"), HooksError::ReadOnly(_)));
}
