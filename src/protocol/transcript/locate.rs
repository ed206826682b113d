//! Finds session files.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::base::SessionId;

/// At most this many project folders are looked into.
const FOLDERS: usize = 100_000;

/// The session file of `session`: `<config dir>/projects/*/<session id>.jsonl`. The folder's name is not computed,
/// because with `--worktree` it is the worktree's (2.1.156, 2.1.332). Where several folders have one, the last changed.
#[must_use]
pub fn locate(config: &Path, session: &SessionId) -> Option<PathBuf> {
    let name = format!("{session}.jsonl");
    let folders = std::fs::read_dir(config.join("projects")).ok()?;
    folders
        .flatten()
        .take(FOLDERS)
        .filter_map(|folder| {
            let path = folder.path().join(&name);
            let metadata = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
            Some((metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), path))
        })
        .max()
        .map(|(_, path)| path)
}

/// The session file of a subagent inside of the session whose file is `transcript`:
/// `<session id>/subagents/agent-<agent id>.jsonl` beside it (2.1.332). Nothing where the id could leave that folder.
#[must_use]
pub fn subagent_transcript(transcript: &Path, agent_id: &str) -> Option<PathBuf> {
    let plain = !agent_id.is_empty()
        && agent_id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    plain.then(|| {
        transcript
            .with_extension("")
            .join("subagents")
            .join(format!("agent-{agent_id}.jsonl"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_found_by_its_id_alone() {
        let config = tempfile::tempdir().unwrap();
        let session: SessionId = "0b8f6ad2-0000-4000-8000-000000000001".parse().unwrap();
        assert_eq!(locate(config.path(), &session), None);
        let folder = config.path().join("projects/-tmp-work--claude-worktrees-cell-1");
        std::fs::create_dir_all(config.path().join("projects/-other")).unwrap();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(config.path().join("projects/stray-file"), "").unwrap();
        let path = folder.join(format!("{session}.jsonl"));
        std::fs::write(&path, "{}\n").unwrap();
        assert_eq!(locate(config.path(), &session), Some(path));
    }

    #[test]
    fn a_subagents_file_lies_beside_its_sessions() {
        let path = subagent_transcript(Path::new("/c/projects/-w/s-1.jsonl"), "a0e69e1a8d2085037");
        let expected = Path::new("/c/projects/-w/s-1/subagents/agent-a0e69e1a8d2085037.jsonl");
        assert_eq!(path.as_deref(), Some(expected));
        assert_eq!(subagent_transcript(Path::new("/c/s.jsonl"), "../x"), None);
        assert_eq!(subagent_transcript(Path::new("/c/s.jsonl"), ""), None);
    }
}
