//! `subcell replay html`: the bytes of the page. That it works in a browser is checked by `scripts/check-page.sh`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::replay::{RUNS, printed, recorded, replay, transcripts};

const SESSION: &str = "66666666-2222-4333-8444-555555555555";

/// The data of a page, read as a browser reads it: what stands between the tags of each data element.
fn data(page: &str, class: &str) -> Vec<Value> {
    let opened = format!("<script type=\"application/json\" class=\"{class}\">");
    let elements = page.split(&opened).skip(1);
    elements
        .map(|rest| serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap())
        .collect()
}

fn page_of(path: &std::path::Path) -> String {
    printed(replay(["html", "-o", "-"]).arg(path))
}

#[test]
fn every_entry_of_every_recorded_run_is_in_the_page() {
    for run in RUNS.into_iter().chain(["fork"]) {
        let page = page_of(&recorded(run));
        let sessions = data(&page, "sessions").remove(0);
        let mut lines = std::collections::BTreeMap::<String, Vec<u64>>::new();
        for block in data(&page, "heads") {
            for row in block.as_array().unwrap().iter().filter(|row| row["row"] == "event") {
                let views = sessions.as_array().unwrap();
                let view = views.iter().find(|view| view["index"] == row["session"]).unwrap();
                let of_file = lines.entry(view["file"].as_str().unwrap().to_owned()).or_default();
                of_file.push(row["line"].as_u64().unwrap());
                of_file.dedup();
            }
        }
        assert_eq!(lines, transcripts(&recorded(run)), "{run}");
        // Each row has its content, in blocks of the same length.
        let counts = |class| -> Vec<usize> {
            data(&page, class)
                .iter()
                .map(|block| block.as_array().unwrap().len())
                .collect()
        };
        assert_eq!(counts("heads"), counts("bodies"));
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for run in RUNS {
        assert_eq!(page_of(&recorded(run)), page_of(&recorded(run)), "{run}");
        let show = || printed(replay(["show", "--full"]).arg(recorded(run)));
        assert_eq!(show(), show(), "{run}");
    }
}

#[test]
fn nothing_of_a_transcript_becomes_markup_or_script() {
    let dir = tempfile::tempdir().unwrap();
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)><!-- ]]> &lt; \u{2028} ${x} {{script}} {{data}}";
    let picture = |media: &str, data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": media, "data": data}});
    let mut lines = vec![
        json!({"type": "user", "sessionId": SESSION, "uuid": hostile, "timestamp": hostile, "message": {"role": "user", "content": hostile}}),
        json!({"type": hostile, "sessionId": SESSION, "x": {"<b>": hostile}}),
        json!({"type": "assistant", "sessionId": SESSION, "message": {"id": hostile, "model": hostile, "role": "assistant", "content": [
            {"type": "tool_use", "id": hostile, "name": hostile, "input": {"file_path": hostile, "old_string": hostile, "new_string": hostile}}]}}),
    ];
    lines.push(json!({"type": "user", "sessionId": SESSION, "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [
        picture("image/png", "aGk="), picture("image/svg+xml", "PHN2Zz4="), picture("text/html", "aGk="), picture("image/png", "\"><script>")]}]}}));
    let path = dir.path().join(format!("{SESSION}.jsonl"));
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    fs::write(&path, lines.join("\n")).unwrap();
    let page = page_of(&path);
    let clean = page_of(&recorded("agent-foreground"));
    // The tags of the page are its own, however hostile the data.
    let tags = |page: &str, tag: &str| page.matches(tag).count();
    let blocks = |page: &str| data(page, "heads").len();
    assert_eq!(
        tags(&page, "<script") - 2 * blocks(&page),
        tags(&clean, "<script") - 2 * blocks(&clean)
    );
    for tag in ["<img", "<b>", "<!--", "onerror=alert(2)>"] {
        assert_eq!(tags(&page, tag), tags(&clean, tag), "{tag}");
    }
    let bodies = data(&page, "bodies").remove(0).to_string();
    assert_eq!(bodies.matches("data:image/png;base64,aGk=").count(), 1);
    assert_eq!(bodies.matches("data:").count(), 1);
    let policy = page
        .split("Content-Security-Policy\" content=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'sha256-"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe") && !policy.contains("http"));
}

#[test]
fn a_page_is_written_whole_and_for_its_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page.html");
    fs::write(&page, "an older page").unwrap();
    printed(replay(["html", "-o"]).args([&page, &recorded("echo")]));
    assert!(fs::read_to_string(&page).unwrap().ends_with("</html>\n"));
    assert_eq!(fs::metadata(&page).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    let ended = replay(["html", "-o", "/no/such/folder/page.html"])
        .arg(recorded("echo"))
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(74));
    assert!(
        String::from_utf8(ended.stderr)
            .unwrap()
            .contains("write /no/such/folder/page.html")
    );
}
