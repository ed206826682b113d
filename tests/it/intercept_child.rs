//! What the child is started with, and what is left of its worktree.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::hook::Scene;

/// A child that writes its arguments, environment, folder and prompt to files, then prints a success.
fn witness(scene: &Scene) -> String {
    let text = "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$WITNESS/args\"; env > \"$WITNESS/env\"; pwd > \"$WITNESS/cwd\"\n\
                cat > \"$WITNESS/prompt\"\n\
                sh -c \"${WITNESS_DOES:-true}\"\n\
                echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\",\"num_turns\":1}'\n";
    let path = scene.file("witness/claude", text);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap();
    path.to_str().unwrap().to_owned()
}

fn seen(scene: &Scene, what: &str) -> String {
    std::fs::read_to_string(scene.home.path().join("witness").join(what)).unwrap()
}

fn witnessed(scene: Scene) -> Scene {
    let claude = witness(&scene);
    let folder = scene.home.path().join("witness").to_str().unwrap().to_owned();
    scene.start_env("WITNESS", &folder).flags(&["--claude", &claude])
}

fn env_of(scene: &Scene, name: &str) -> Option<String> {
    let prefix = format!("{name}=");
    seen(scene, "env")
        .lines()
        .find_map(|line| line.strip_prefix(&prefix).map(str::to_owned))
}

#[test]
fn the_child_keeps_credentials_and_loses_the_parents_identity() {
    let mut scene = witnessed(Scene::new(""));
    let identity = [
        "CLAUDECODE",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_MESSAGING_SOCKET",
        "CLAUDE_CODE_MESSAGING_TOKEN",
        "CLAUDE_CODE_CHILD_NOTES_DIR",
        "CLAUDE_PID",
        "AI_AGENT",
        "TRACESTATE",
    ];
    for name in identity {
        scene = scene.hook_env(name, Some("of-the-parent"));
    }
    let kept = [
        ("ANTHROPIC_API_KEY", "not-a-real-key"),
        ("CLAUDE_CODE_OAUTH_TOKEN", "not-a-real-token"),
        ("CLAUDE_CODE_USE_VERTEX", "1"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/creds.json"),
        ("HTTPS_PROXY", "http://127.0.0.1:1"),
        ("NODE_EXTRA_CA_CERTS", "/ca.pem"),
    ];
    for (name, value) in kept {
        scene = scene.start_env(name, value);
    }
    scene.run().updated();
    for name in identity {
        assert_eq!(env_of(&scene, name), None, "{name}");
    }
    for (name, value) in kept {
        assert_eq!(env_of(&scene, name).as_deref(), Some(value));
    }
    let record = scene.record();
    assert_eq!(
        env_of(&scene, "FULLSEND_HOOK_SPAWNED").unwrap(),
        record["cell"].as_str().unwrap()
    );
    assert_eq!(env_of(&scene, "SUBCELL_DEPTH").as_deref(), Some("1"));
    let trace = &record["trace"];
    let parent = format!(
        "00-{}-{}-01",
        trace["trace_id"].as_str().unwrap(),
        trace["span_id"].as_str().unwrap()
    );
    assert_eq!(env_of(&scene, "TRACEPARENT"), Some(parent));
    assert_eq!(seen(&scene, "env").matches("TRACEPARENT=").count(), 1);
    assert_eq!(env_of(&scene, "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"), None);
}

#[test]
fn the_configured_environment_is_added_and_cannot_unguard_the_cell() {
    let scene = witnessed(Scene::new(""));
    scene.file(".config/subcell/subcell.toml", "[child.env]\nEXTRA = \"1\"\n");
    scene.run().updated();
    assert_eq!(env_of(&scene, "EXTRA").as_deref(), Some("1"));

    let scene = witnessed(Scene::new(""));
    scene.file(
        ".config/subcell/subcell.toml",
        "[child.env]\nFULLSEND_HOOK_SPAWNED = \"\"\n",
    );
    let run = scene.run();
    assert!(run.denied().contains("subcell.toml:2"), "{}", run.denied());
}

#[test]
fn the_call_and_the_parents_mode_become_arguments() {
    let scene = witnessed(Scene::new("").payload("permission_mode", json!("acceptEdits")));
    scene.agent("judge");
    let scene = scene
        .input("subagent_type", json!("judge"))
        .input("model", json!("haiku"))
        .input("effort", json!("low"))
        .parent_args(&[
            "--model",
            "claude-sonnet-4-5",
            "--allowedTools",
            "Bash(git *)",
            "Read",
            "--add-dir",
            "../lib",
            "-p",
            "x",
        ]);
    scene.run().updated();
    let args: Vec<String> = seen(&scene, "args").lines().map(str::to_owned).collect();
    let lib = scene.home.path().join("lib");
    for expected in [
        "-p",
        "--agent=judge",
        "--model=haiku",
        "--effort=low",
        "--permission-mode=acceptEdits",
        "--allowedTools=Bash(git *)",
        "--allowedTools=Read",
    ] {
        assert!(args.iter().any(|arg| arg == expected), "{expected} is not in {args:?}");
    }
    let added = args.iter().find_map(|arg| arg.strip_prefix("--add-dir=")).unwrap();
    assert!(
        Path::new(added) == lib || Path::new(added) == scene.project().join("../lib"),
        "{added}"
    );
    assert_eq!(seen(&scene, "prompt"), "EVALUATE-X");
    assert_eq!(seen(&scene, "cwd").trim(), scene.project().to_str().unwrap());
}

#[test]
fn a_slash_command_reaches_the_child_as_text_and_another_folder_is_named() {
    let scene = witnessed(Scene::new("").input("prompt", json!("/compact")));
    scene.run().updated();
    assert_eq!(seen(&scene, "prompt"), "\n/compact");

    let scene = Scene::new("");
    let sub = scene.project().join("sub");
    std::fs::create_dir(&sub).unwrap();
    let scene = witnessed(scene.payload("cwd", json!(sub)));
    scene.run().updated();
    assert!(
        seen(&scene, "prompt")
            .lines()
            .next()
            .unwrap()
            .contains(sub.to_str().unwrap())
    );
    assert_eq!(seen(&scene, "cwd").trim(), scene.project().to_str().unwrap());
}

fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// A cell with a worktree, made as the client does it, in which `does` was run. Gives the record's worktree.
fn worktree(does: &str) -> (Scene, Value) {
    let scene = witnessed(Scene::new("").input("isolation", json!("worktree")));
    let project = scene.project();
    git(&project, &["init", "-q"]);
    std::fs::write(project.join("file"), "text").unwrap();
    git(&project, &["add", "."]);
    git(&project, &["commit", "-qm", "first"]);
    let script = format!(
        "name=$FULLSEND_HOOK_SPAWNED; git worktree add -q --lock -b worktree-$name .claude/worktrees/$name && \
         cd .claude/worktrees/$name && {{ {does}; }}"
    );
    let scene = scene
        .start_env("WITNESS_DOES", &script)
        .start_env("GIT_AUTHOR_NAME", "t")
        .start_env("GIT_AUTHOR_EMAIL", "t@example.org")
        .start_env("GIT_COMMITTER_NAME", "t")
        .start_env("GIT_COMMITTER_EMAIL", "t@example.org");
    let run = scene.run();
    let record = scene.record();
    assert_eq!(record["state"]["ending"]["kind"], "completed", "{record:#}\n{run:?}");
    assert!(
        run.updated().get("isolation").is_none(),
        "the echo would get a worktree"
    );
    let worktree = record["state"]["worktree"].clone();
    let kept = worktree["kept"].as_bool().unwrap();
    let folder = worktree["folder"].as_str().unwrap();
    assert_eq!(run.echoed().contains(folder), kept, "{}", run.echoed());
    assert_eq!(Path::new(folder).is_dir(), kept);
    (scene, worktree)
}

#[test]
fn an_untouched_worktree_is_removed_with_its_branch() {
    let (scene, worktree) = worktree("true");
    assert_eq!(worktree["kept"], false);
    assert_eq!(git(&scene.project(), &["branch", "--list", "worktree-*"]), "");
    assert_eq!(git(&scene.project(), &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_worktree_with_changes_files_or_commits_is_kept_and_named() {
    for does in [
        "echo more >> file",
        "echo new > new-file",
        "echo more >> file; git commit -qam second",
        "git checkout -q --detach; echo more >> file; git commit -qam second",
    ] {
        let (scene, worktree) = worktree(does);
        assert_eq!(worktree["kept"], true, "{does}");
        assert!(git(&scene.project(), &["branch", "--list", "worktree-*"]).contains("worktree-cell-"));
    }
}

#[test]
fn a_repository_cannot_run_code_through_the_clean_up() {
    // The hooks and the monitor are the child's to plant; ours must not run them.
    let (scene, _) = worktree(
        "top=$(git rev-parse --git-common-dir); for hook in post-checkout reference-transaction pre-commit; do \
         printf '#!/bin/sh\\ntouch %s/ran\\n' \"$WITNESS\" > $top/hooks/$hook; chmod +x $top/hooks/$hook; done; \
         git config core.fsmonitor \"touch $WITNESS/ran; false\"",
    );
    assert!(!scene.home.path().join("witness/ran").exists());
}

#[test]
fn a_stop_signal_during_the_clean_up_leaves_a_record_in_time() {
    let scene = witnessed(Scene::new("").input("isolation", json!("worktree")));
    let met = scene.home.path().join("met");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &met,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    // A repository so large that git does not come to an end.
    let text = format!(
        "#!/bin/sh\necho here > {}\nwhile :; do sleep 1000; done\n",
        met.display()
    );
    let git = scene.file("bin/git", &text);
    std::fs::set_permissions(&git, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", git.parent().unwrap().display());
    let scene = scene.start_env("PATH", &path);
    let running = scene.start();
    let pid = rustix::process::Pid::from_raw(running.pid()).unwrap();
    assert_eq!(std::fs::read_to_string(&met).unwrap(), "here\n");
    let told = std::time::Instant::now();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let run = running.wait();
    // Far below the 15 s that git has otherwise, far above what a loaded machine needs for the 0.2 s.
    assert!(
        told.elapsed() < std::time::Duration::from_secs(8),
        "{:?}",
        told.elapsed()
    );
    assert_eq!(run.echoed(), "done");
    assert_eq!(scene.record()["state"]["ending"]["kind"], "completed");
}

#[test]
fn a_slot_that_does_not_become_free_is_a_failure_of_its_own() {
    let state = tempfile::tempdir().unwrap();
    let scene = || Scene::new("wait=forever").start_env("XDG_STATE_HOME", state.path().to_str().unwrap());
    let holder = scene().flags(&["--max-parallel", "1"]);
    let running = holder.start();
    let cells = state.path().join("subcell/cells");
    crate::hook::wait_until(|| {
        let records = Scene::records_in(&cells);
        records
            .get("toolu_1")
            .filter(|record| record["keeper_process"].is_object())
            .map(|_| ())
    });
    let waiting = scene()
        .flags(&["--max-parallel", "1", "--slot-wait", "1"])
        .payload("tool_use_id", json!("toolu_2"));
    let run = waiting.run();
    assert!(run.echoed().contains("Cause (no_slot)"), "{}", run.echoed());
    // A cell in a cell needs none: its parent's holds one and waits for it.
    let nested = Scene::new("")
        .start_env("XDG_STATE_HOME", state.path().to_str().unwrap())
        .start_env("FULLSEND_HOOK_SPAWNED", "cell-0190f3a0-0000-7000-8000-000000000000")
        .flags(&["--max-parallel", "1", "--slot-wait", "1", "--max-depth", "2"])
        .payload("tool_use_id", json!("toolu_3"));
    nested.run().updated();
    let pid = rustix::process::Pid::from_raw(running.pid()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    running.wait();
}
