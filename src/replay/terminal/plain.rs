//! The tree as text.

use std::io::{self, Write};

use anstyle::Style;
use serde_json::Value;

use super::super::inert::visible;
use super::super::timeline::{Diff, Event, Kind, Part, Role, SessionView, Sink, Summary};
use super::amounts;
use super::paint::{self, Paint};

/// Lines and bytes of a part that are shown without `--full`.
const LINES: usize = 12;
const BYTES: usize = 1600;

/// Writes text for people; one event after another, parts of the tree indented under the call that started them.
#[derive(Debug)]
pub struct Plain<W> {
    out: W,
    paint: Paint,
    /// Whether everything is shown in full.
    full: bool,
}

/// How much of a part is shown.
#[derive(Clone, Copy)]
struct Room {
    lines: usize,
    bytes: usize,
}

impl<W: Write> Plain<W> {
    /// Begins the output.
    pub const fn new(out: W, paint: Paint, full: bool) -> Self {
        Self { out, paint, full }
    }

    fn line(&mut self, depth: usize, text: &str) -> io::Result<()> {
        for _ in 0..depth {
            self.out.write_all("│ ".as_bytes())?;
        }
        self.out.write_all(text.as_bytes())?;
        self.out.write_all(b"\n")
    }

    fn part(&mut self, part: &Part, depth: usize, room: Room) -> io::Result<()> {
        match part {
            Part::Text(text) => self.text(text, depth, room),
            Part::Data(Value::Object(fields)) => {
                for (name, value) in fields {
                    match value {
                        Value::String(text) => self.text(&format!("{name}: {text}"), depth, room)?,
                        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                            self.text(&format!("{name}: {value}"), depth, room)?;
                        }
                    }
                }
                Ok(())
            }
            Part::Data(value) => self.text(&value.to_string(), depth, room),
            Part::Diff(diff) => self.diff(diff, depth, room),
            Part::Image(image) => {
                let text = format!("picture, {}, {} bytes of base64", image.media_type, image.base64_bytes);
                self.text(&text, depth, room)
            }
        }
    }

    fn text(&mut self, text: &str, depth: usize, room: Room) -> io::Result<()> {
        let mut bytes = 0;
        for (number, line) in text.split('\n').enumerate() {
            let left = room.bytes.saturating_sub(bytes);
            if number >= room.lines || left == 0 {
                return self.cut(text.len().saturating_sub(bytes), depth);
            }
            let shown = line.get(..line.floor_char_boundary(left)).unwrap_or(line);
            self.line(depth, &format!("    {}", visible(shown)))?;
            if shown.len() < line.len() {
                return self.cut(text.len().saturating_sub(bytes + shown.len()), depth);
            }
            bytes += line.len() + 1;
        }
        Ok(())
    }

    fn cut(&mut self, bytes: usize, depth: usize) -> io::Result<()> {
        let note = self
            .paint
            .dress(Style::new().dimmed(), format!("    … {bytes} bytes more (--full)"));
        self.line(depth, &note)
    }

    fn diff(&mut self, diff: &Diff, depth: usize, room: Room) -> io::Result<()> {
        self.line(depth, &format!("    {}", one_line(&diff.path)))?;
        let mut left = room.lines;
        for hunk in &diff.hunks {
            if let (Some(old), Some(new)) = (hunk.old_start, hunk.new_start) {
                self.line(depth, &format!("    @@ -{old} +{new} @@"))?;
            }
            for line in &hunk.lines {
                if left == 0 {
                    return self.line(depth, "    … more (--full)");
                }
                left -= 1;
                let shown = line.get(..line.floor_char_boundary(room.bytes)).unwrap_or(line);
                let dressed = self.paint.dress(paint::change(line), one_line(shown));
                self.line(depth, &format!("    {dressed}"))?;
            }
        }
        Ok(())
    }

    const fn room(&self) -> Room {
        if self.full {
            return Room {
                lines: usize::MAX,
                bytes: usize::MAX,
            };
        }
        Room {
            lines: LINES,
            bytes: BYTES,
        }
    }

    /// Whether an event gets one line: what the client and its hooks note, where nothing is wrong with it.
    const fn is_small(&self, event: &Event) -> bool {
        let noted = matches!(event.role, Role::Hook | Role::System | Role::Other);
        noted && event.fault.is_none() && !self.full
    }
}

impl<W: Write> Sink for Plain<W> {
    fn open(&mut self, session: &SessionView) -> io::Result<()> {
        let head = self
            .paint
            .dress(paint::session(session.failed), one_line(&title(session)));
        self.line(session.depth, &head)?;
        let mut notes = vec![amounts::totals(&session.totals)];
        if let Some(client) = &session.totals.client {
            let agrees = if client.agrees {
                "the same tokens"
            } else {
                "other tokens than the turns"
            };
            notes.push(format!(
                "the client's own figure for the whole session: {} · {} ({agrees})",
                amounts::tokens(&client.tokens),
                amounts::cost(client.cost_usd, false)
            ));
        }
        if let (Some(first), Some(last)) = (&session.first, &session.last) {
            notes.push(format!("{first} to {last}"));
        }
        notes.extend(session.ending.clone());
        notes.extend(session.file.clone());
        notes.extend(
            session
                .unreadable
                .as_ref()
                .map(|why| format!("not read to its end: {why}")),
        );
        for note in notes {
            let note = self.paint.dress(Style::new().dimmed(), one_line(&note));
            self.line(session.depth, &format!("  {note}"))?;
        }
        Ok(())
    }

    fn event(&mut self, event: &Event, session: &SessionView) -> io::Result<()> {
        let depth = session.depth;
        let mut head = vec![self.paint.dress(Style::new().dimmed(), one_line(&time(event)))];
        let mut what = event.role.word().to_owned();
        for word in [Some(event.label.as_str()), event.tool_use_id.as_deref(), fault(event)]
            .into_iter()
            .flatten()
            .filter(|word| !word.is_empty())
        {
            what.push(' ');
            what.push_str(word);
        }
        head.push(self.paint.dress(paint::event(event.role, event.fault), one_line(&what)));
        if event.copied {
            head.push("(copied from another session, counted there)".to_owned());
        }
        if let Some(turn) = &event.turn {
            let used = format!("[{}]", amounts::turn(turn));
            head.push(self.paint.dress(Style::new().dimmed(), one_line(&used)));
        }
        if self.is_small(event) {
            head.push(self.paint.dress(Style::new().dimmed(), visible(&event.summary())));
            return self.line(depth, head.join("  ").trim_end());
        }
        self.line(depth, head.join("  ").trim_end())?;
        let room = self.room();
        event.parts.iter().try_for_each(|part| self.part(part, depth, room))
    }

    fn close(&mut self, session: &SessionView) -> io::Result<()> {
        if session.depth == 0 { self.line(0, "") } else { Ok(()) }
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        for line in summary_lines(summary) {
            self.line(0, &one_line(&line))?;
        }
        self.out.flush()
    }
}

/// What stands at the end of every output for people.
fn summary_lines(summary: &Summary) -> Vec<String> {
    let mut lines = vec![format!("total  {}", amounts::totals(&summary.totals))];
    for (model, used) in &summary.totals.models {
        lines.push(format!(
            "  {model}  {} turns · {} · {}",
            used.turns,
            amounts::tokens(&used.tokens),
            amounts::cost(used.cost_usd, false)
        ));
    }
    lines.push(format!(
        "{} entries in {} sessions; {} events shown, {} kept back by filters",
        summary.entries, summary.sessions, summary.shown, summary.hidden
    ));
    if summary.copied > 0 {
        lines.push(format!(
            "{} entries copied from other sessions, counted there",
            summary.copied
        ));
    }
    if summary.broken > 0 {
        lines.push(format!("{} broken lines:", summary.broken));
    }
    for broken in &summary.broken_lines {
        lines.push(format!("  {} line {}: {}", broken.file, broken.line, broken.error));
    }
    for skipped in &summary.skipped {
        lines.push(format!("passed over: {} ({})", skipped.file, skipped.reason));
    }
    lines.extend(summary.redaction.as_ref().map(|masked| {
        let kinds: Vec<String> = masked
            .kinds
            .kinds()
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect();
        match (masked.on, kinds.is_empty()) {
            (false, _) => "secrets are not taken out (--no-redact)".to_owned(),
            (true, true) => "no secrets found to take out".to_owned(),
            (true, false) => format!("secrets taken out: {}", kinds.join(", ")),
        }
    }));
    lines
}

/// What has to stay in its line: a line feed in a name would let it write lines of its own.
fn one_line(text: &str) -> String {
    visible(text).replace('\n', "\u{240a}")
}

fn title(session: &SessionView) -> String {
    let what = match session.what {
        Kind::Session => "session",
        Kind::Cell => "cell",
        Kind::Echo => "echo",
        Kind::Subagent => "subagent",
        Kind::NoCell => "no cell",
    };
    let id = session.agent.as_deref().or(session.session.as_deref());
    let words = [
        Some(what.to_owned()),
        id.map(str::to_owned),
        session.agent_type.clone(),
        session
            .description
            .as_ref()
            .map(|description| format!("{description:?}")),
        session.call.as_ref().map(|call| format!("of {call}")),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The time of day; a time in another form as it stands.
fn time(event: &Event) -> String {
    let Some(at) = event.at.as_deref() else {
        return "            ".to_owned();
    };
    match at.as_bytes() {
        [_, _, _, _, b'-', _, _, b'-', _, _, b'T', ..] if at.is_ascii() => at.get(11..23).unwrap_or(at).to_owned(),
        _ => at.to_owned(),
    }
}

const fn fault(event: &Event) -> Option<&'static str> {
    match event.fault {
        None => None,
        Some(super::super::timeline::Fault::Error) => Some("ERROR"),
        Some(super::super::timeline::Fault::Refused) => Some("REFUSED"),
    }
}
