//! What a run in fullsend's manner left.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// The trace and the span that fullsend gives its post script.
pub(crate) const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
pub(crate) const RUN_SPAN: &str = "b7ad6b7169203331";

/// A run that has ended.
pub(crate) struct Ended {
    pub(crate) home: tempfile::TempDir,
    pub(crate) validation: Output,
    pub(crate) post: Option<Output>,
    /// The spans that the post script sent, as OTLP/JSON has them.
    pub(crate) spans: Vec<Value>,
    pub(crate) requests: Vec<Value>,
    pub(crate) iterations: usize,
}

impl Ended {
    pub(crate) fn iteration(&self, relative: &str) -> PathBuf {
        self.home
            .path()
            .join(format!("run/iteration-{}", self.iterations))
            .join(relative)
    }

    pub(crate) fn output(&self, name: &str) -> String {
        fs::read_to_string(self.iteration("output").join(name)).unwrap_or_default()
    }

    pub(crate) fn told(&self) -> String {
        String::from_utf8_lossy(&self.validation.stdout).into_owned()
    }

    pub(crate) fn records(&self) -> Vec<Value> {
        let entries = fs::read_dir(self.iteration("output/.subcell/cells"))
            .into_iter()
            .flatten()
            .flatten();
        let paths = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "json"));
        paths
            .map(|path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
            .collect()
    }

    pub(crate) fn of_kind(&self, kind: &str) -> Vec<Value> {
        let word = |record: &Value| {
            record["state"]["ending"]["kind"]
                .as_str()
                .or(record["state"]["kind"].as_str())
                == Some(kind)
        };
        self.records().into_iter().filter(word).collect()
    }

    pub(crate) fn transcripts(&self) -> usize {
        fs::read_dir(self.iteration("transcripts")).unwrap().count()
    }

    pub(crate) fn assert_complete(&self) {
        assert!(
            self.validation.status.success(),
            "{}; {:#?}; {}",
            self.told(),
            self.records(),
            self.output("evaluation.md")
        );
        let post = self.post.as_ref().unwrap();
        assert!(post.status.success(), "{post:?}");
        // The sum over the records, also after the redaction.
        let costs: Value = serde_json::from_str(&self.output(".spawned-cost.json")).unwrap();
        let sum: f64 = self
            .records()
            .iter()
            .filter_map(|record| record["state"]["cost_usd"].as_f64())
            .sum();
        assert!(
            (costs["total_cost_usd"].as_f64().unwrap() - sum).abs() < 1e-9 && sum > 0.0,
            "{costs}"
        );
        self.assert_spans(sum);
    }

    /// One span for each cell, below the span that the post script was given, under the ids of the records.
    pub(crate) fn assert_spans(&self, cost: f64) {
        let cells: Vec<&Value> = self
            .spans
            .iter()
            .filter(|span| span["name"] == "spawned_agent")
            .collect();
        let ids: BTreeSet<&str> = cells.iter().map(|span| span["spanId"].as_str().unwrap()).collect();
        let records = self.of_kind("completed");
        let recorded: BTreeSet<&str> = records
            .iter()
            .map(|record| record["trace"]["span_id"].as_str().unwrap())
            .collect();
        assert_eq!((ids, cells.len()), (recorded, records.len()), "{:#?}", self.spans);
        let mut sum = 0.0;
        for span in cells {
            assert_eq!(
                (&span["traceId"], &span["parentSpanId"]),
                (&TRACE.into(), &RUN_SPAN.into()),
                "{span:#}"
            );
            let attributes = span["attributes"].as_array().unwrap();
            let cost = attributes
                .iter()
                .find(|attribute| attribute["key"] == "fullsend.cost_usd")
                .unwrap();
            sum += cost["value"]["doubleValue"].as_f64().unwrap();
        }
        assert!((sum - cost).abs() < 1e-9, "{sum} of {cost}");
    }
}

/// Starts a collector on the host, where post scripts run; told to end when it is dropped.
pub(crate) fn collector(file: &Path) -> (Collector, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/client/collector.mjs");
    let mut node = Command::new("node")
        .arg(script)
        .arg(file)
        .arg("0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("start the collector");
    let mut url = String::new();
    BufReader::new(node.stdout.take().unwrap()).read_line(&mut url).unwrap();
    (Collector(node), url.trim().to_owned())
}

pub(crate) struct Collector(Child);

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Every span of the requests in a collector's file.
pub(crate) fn spans(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    let list = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
    let requests = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let resources = requests.flat_map(|request| list(&request, "resourceSpans"));
    let scopes = resources.flat_map(|resource| list(&resource, "scopeSpans"));
    scopes.flat_map(|scope| list(&scope, "spans")).collect()
}
