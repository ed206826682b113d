//! `subcell model` as a process: what it tells, what it refuses, how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

fn model(script: &Path) -> Command {
    let mut model = Command::new(env!("CARGO_BIN_EXE_subcell"));
    model
        .env_clear()
        .arg("model")
        .arg("--script")
        .arg(script)
        .stdin(Stdio::null());
    model
}

fn refused(model: &mut Command) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = model.output().unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

#[test]
fn tells_where_it_listens_and_ends_on_each_signal() {
    let dir = tempfile::tempdir().unwrap();
    let (script, port_file) = (dir.path().join("script.json"), dir.path().join("port"));
    std::fs::write(&script, "{}").unwrap();
    for signal in [Signal::TERM, Signal::INT] {
        let mut model = model(&script)
            .arg("--port-file")
            .arg(&port_file)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(model.stdout.take().unwrap())
            .read_line(&mut url)
            .unwrap();
        let port = std::fs::read_to_string(&port_file).unwrap();
        assert_eq!(url, format!("http://127.0.0.1:{port}"));

        let mut client = TcpStream::connect(format!("127.0.0.1:{}", port.trim_end())).unwrap();
        client.write_all(b"HEAD / HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");

        kill_process(Pid::from_child(&model), signal).unwrap();
        assert_eq!(model.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn an_address_that_others_could_reach_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("script.json");
    std::fs::write(&script, "{}").unwrap();
    let (code, message) = refused(model(&script).args(["--listen", "0.0.0.0:0"]));
    assert_eq!(code, Some(64), "{message}");
    assert!(message.contains("0.0.0.0:0 is not a loopback address"), "{message}");
}

#[test]
fn a_script_that_cannot_be_used_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("script.json");
    let (code, message) = refused(&mut model(&script));
    assert_eq!(code, Some(66), "{message}");
    assert!(
        message.starts_with(&format!("subcell model: read the script {}: ", script.display())),
        "{message}"
    );

    std::fs::write(&script, "{\n\"rules\": [{\"when\": {}}]}").unwrap();
    let (code, message) = refused(&mut model(&script));
    assert_eq!(code, Some(65), "{message}");
    assert!(
        message.contains("missing field `answer` at line 2 column 22"),
        "{message}"
    );
}
