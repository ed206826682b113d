//! `run-telemetry.jsonl`, which fullsend writes into a run's folder: one OTLP/JSON `TracesData` a line, ids in hexadecimal
//! (fullsend v0.36; the `run` span itself comes last, when the post script has ended).

use std::path::Path;

use serde_json::Value as Json;

use super::bar::{Bar, Facts, Origin, Outcome};
use crate::base::{BoundedReadError, Links, SpanId, TraceContext, UnixNanos, read_bounded};
use crate::protocol::Tokens;

/// The file's name.
pub const RUN_FILE: &str = "run-telemetry.jsonl";

/// A run has a handful of spans of some kilobytes each.
const LIMIT: u64 = 64 * 1024 * 1024;

/// A file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("read {RUN_FILE}")]
pub struct RunFileError(#[from] BoundedReadError);

/// What it holds.
#[derive(Debug, Default)]
pub struct RunFile {
    /// Its spans.
    pub bars: Vec<Bar>,
    /// Its `resourceSpans`, as they stand.
    pub resource_spans: Vec<Json>,
    /// What cannot be read, told in full.
    pub broken: Vec<String>,
}

impl RunFile {
    /// Reads the file of the run in `dir`; nothing where there is none.
    ///
    /// # Errors
    /// [`RunFileError`] where there is one that cannot be read, is no regular file or is larger than 64 MiB.
    pub fn read(dir: &Path) -> Result<Option<Self>, RunFileError> {
        match read_bounded(&dir.join(RUN_FILE), LIMIT, Links::Refuse) {
            Ok(bytes) => Ok(Some(Self::parse(&bytes))),
            Err(BoundedReadError::Missing) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the lines of a file; those that are not what they should be are told and left out.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let mut file = Self::default();
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            if let Err(what) = file.line(line) {
                file.broken.push(format!("{RUN_FILE}, line {}: {what}", number + 1));
            }
        }
        file
    }

    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        let data: Json = serde_json::from_slice(line).map_err(|error| format!("no JSON: {error}"))?;
        let Some(resources) = data.get("resourceSpans").and_then(Json::as_array) else {
            return Err("no resourceSpans".to_owned());
        };
        let mut unread = 0_usize;
        for span in resources.iter().flat_map(|resource| below(resource, "scopeSpans")) {
            for span in below(span, "spans") {
                match bar(span) {
                    Some(bar) => self.bars.push(bar),
                    None => unread += 1,
                }
            }
        }
        self.resource_spans.extend(resources.iter().cloned());
        if unread > 0 {
            return Err(format!("{unread} without a valid id or time"));
        }
        Ok(())
    }

    /// The span that fullsend gives its post script as `TRACEPARENT`: the root of its spans, also where that is not written
    /// yet. None where the spans do not agree on one.
    #[must_use]
    pub fn root(&self) -> Option<TraceContext> {
        let above = |bar: &Bar| {
            let parent = bar.parent?;
            let is_here = self.bars.iter().any(|other| other.span_id == parent);
            (!is_here).then_some(parent)
        };
        let written = self.bars.iter().filter(|bar| bar.name == "run").map(|bar| bar.span_id);
        let mut roots: Vec<SpanId> = written.collect();
        if roots.is_empty() {
            roots = self.bars.iter().filter_map(above).collect();
        }
        let first = *roots.first()?;
        let trace_id = self.bars.first()?.trace_id;
        let agree = roots.iter().all(|root| *root == first) && self.bars.iter().all(|bar| bar.trace_id == trace_id);
        agree.then_some(TraceContext {
            trace_id,
            span_id: first,
            sampled: true,
        })
    }
}

fn below<'a>(value: &'a Json, name: &str) -> impl Iterator<Item = &'a Json> {
    value.get(name).and_then(Json::as_array).into_iter().flatten()
}

fn bar(span: &Json) -> Option<Bar> {
    let text = |name: &str| span.get(name).and_then(Json::as_str);
    let start = UnixNanos::from_nanos(whole(span.get("startTimeUnixNano")?)?);
    let end = UnixNanos::from_nanos(whole(span.get("endTimeUnixNano")?)?);
    // Go's writer gives enumerations as numbers, others as their names.
    let code = span.get("status").and_then(|status| status.get("code"));
    let failed = code.is_some_and(|code| *code == 2 || *code == "STATUS_CODE_ERROR");
    let why = || {
        let message = span.get("status").and_then(|status| status.get("message"));
        message.and_then(Json::as_str).unwrap_or_default().to_owned()
    };
    Some(Bar {
        trace_id: text("traceId")?.to_ascii_lowercase().parse().ok()?,
        span_id: text("spanId")?.to_ascii_lowercase().parse().ok()?,
        parent: text("parentSpanId").and_then(|id| id.to_ascii_lowercase().parse().ok()),
        name: text("name").unwrap_or_default().to_owned(),
        origin: Origin::Run,
        start,
        end: end.max(start),
        outcome: if failed { Outcome::Failed(why()) } else { Outcome::Fine },
        facts: facts(span),
    })
}

fn facts(span: &Json) -> Facts {
    let value = |name: &str| {
        let mut attributes = below(span, "attributes");
        attributes
            .find(|attribute| attribute.get("key").is_some_and(|key| key == name))?
            .get("value")
    };
    let text = |name: &str| Some(value(name)?.get("stringValue")?.as_str()?.to_owned());
    let count = |name: &str| whole(value(name)?.get("intValue")?);
    let cost = value("fullsend.cost_usd").and_then(|value| {
        let double = value.get("doubleValue").and_then(Json::as_f64);
        #[expect(clippy::cast_precision_loss, reason = "whole dollars are far below 2^53")]
        double.or_else(|| Some(whole(value.get("intValue")?)? as f64))
    });
    Facts {
        agent: text("gen_ai.agent.name"),
        description: None,
        model: text("gen_ai.request.model"),
        tokens: Tokens {
            input: count("gen_ai.usage.input_tokens"),
            output: count("gen_ai.usage.output_tokens"),
            cache_read: count("gen_ai.usage.cache_read.input_tokens"),
            cache_creation: count("gen_ai.usage.cache_creation.input_tokens"),
        },
        cost_usd: cost.filter(|usd| usd.is_finite()),
    }
}

/// A 64-bit integer: a text by the rules, a number as some write it.
fn whole(value: &Json) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

#[cfg(test)]
#[path = "run_file_tests.rs"]
mod tests;
