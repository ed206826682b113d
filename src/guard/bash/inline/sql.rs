//! Statements for databases: which clients get them where, and which of them destroy.

use super::super::facts::{Fact, Query, Run};
use super::super::walk::{Input, Options, Valued, Walk};

/// Client programs with the options that carry statements; with words, where their other words are statements too.
const CLIENTS: &[(&str, &str, &[&str], bool)] = &[
    ("psql", "cfdhpUvLoPF", &["-c", "--command"], false),
    ("pgcli", "hpUd", &[], false),
    ("mysql", "ehuPD", &["-e", "--execute"], false),
    ("mariadb", "ehuPD", &["-e", "--execute"], false),
    ("sqlite3", "", &["-cmd"], true),
    ("sqlite", "", &[], true),
    ("duckdb", "cs", &["-c", "-s"], true),
    ("sqlcmd", "QqSUPdi", &["-Q", "-q"], false),
    ("clickhouse-client", "qhud", &["-q", "--query"], false),
    ("clickhouse", "qhud", &["-q", "--query"], false),
    ("cqlsh", "ekuf", &["-e", "--execute"], false),
    ("bq", "", &[], true),
    ("snowsql", "qf", &["-q", "--query"], false),
    ("cockroach", "e", &["-e", "--execute"], false),
    ("usql", "c", &["-c", "--command"], false),
    ("trino", "", &["--execute"], false),
    ("sqlplus", "", &[], false),
    ("influx", "", &["-execute"], false),
    ("mongosh", "uph", &["--eval"], false),
    ("mongo", "uph", &["--eval"], false),
    ("redis-cli", "hpnaui", &[], true),
    ("valkey-cli", "hpnaui", &[], true),
];

impl Walk<'_> {
    /// Notes the statements that a database client gets.
    pub(crate) fn queries(&mut self, run: &Run, input: &Input) {
        let Some((_, short, options_with, words)) = CLIENTS.iter().find(|(client, ..)| *client == run.verb) else {
            return;
        };
        if run.args.iter().any(|arg| arg == ":memory:") {
            return;
        }
        let options = Options::parse(&run.args, Valued { short, long: &LONG }, false);
        let mut texts: Vec<String> = options.values(options_with).map(str::to_owned).collect();
        if let Some(at) = run
            .args
            .iter()
            .position(|arg| arg.len() > 2 && options_with.contains(&arg.as_str()))
        {
            texts.extend(run.args.get(at + 1).cloned());
        }
        if *words {
            texts.push(options.words.join(" "));
            texts.extend(options.words.iter().skip(1).map(|word| (*word).to_owned()));
        }
        if let Some(file) = options.value(&["-f", "--file", "-i"]) {
            texts.push(self.content(file));
        }
        texts.extend(input.as_deref().map(str::to_owned));
        for text in texts {
            for line in text.lines() {
                if let Some(code) = line
                    .trim_start()
                    .strip_prefix("\\!")
                    .or_else(|| line.trim_start().strip_prefix(".shell "))
                {
                    self.nested_code(code, &run.verb, run.span);
                }
            }
            self.note(Fact::Query(Query {
                client: run.verb.clone(),
                text,
                span: run.span,
            }));
        }
    }
}

/// Long options of clients that take a value.
const LONG: [&str; 11] = [
    "--command",
    "--execute",
    "--query",
    "--eval",
    "--file",
    "--host",
    "--port",
    "--username",
    "--dbname",
    "--database",
    "--user",
];

/// What a statement destroys, in words; `None` where it does not.
pub(crate) fn destroys(query: &Query) -> Option<&'static str> {
    match query.client.as_str() {
        "mongosh" | "mongo" => mongo(&query.text),
        "redis-cli" | "valkey-cli" => redis(&query.text),
        _ => statements(&query.text),
    }
}

fn mongo(text: &str) -> Option<&'static str> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let table = [
        ("dropDatabase(", "drops a database"),
        (".drop(", "drops a collection"),
        ("deleteMany({})", "deletes every document"),
        ("remove({})", "deletes every document"),
        ("dropUser(", "drops a user"),
    ];
    table
        .iter()
        .find(|(call, _)| text.contains(call))
        .map(|(_, what)| *what)
}

fn redis(text: &str) -> Option<&'static str> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace().map(str::to_ascii_uppercase);
        words
            .any(|word| matches!(word.as_str(), "FLUSHALL" | "FLUSHDB"))
            .then_some("empties a database")
    })
}

fn statements(text: &str) -> Option<&'static str> {
    words(text).split(|word| word == ";").find_map(|statement| {
        let words: Vec<&str> = statement.iter().map(String::as_str).collect();
        statement_destroys(&words)
    })
}

fn statement_destroys(words: &[&str]) -> Option<&'static str> {
    // The statement may stand behind others' words: `EXPLAIN ANALYZE`, `BEGIN`, a path of a database.
    words.iter().enumerate().find_map(|(at, word)| {
        let rest = words.get(at + 1..).unwrap_or(&[]);
        let next = rest.first().copied().unwrap_or("");
        let leads = at == 0
            || words
                .get(at - 1)
                .is_none_or(|before| !matches!(*before, "FROM" | "INTO" | "TABLE" | "ON" | "AS" | "SELECT" | "LIKE"));
        match *word {
            "DROP" if leads => match next {
                "TABLE" | "DATABASE" | "SCHEMA" | "OWNED" | "ROLE" | "USER" | "TABLESPACE" | "KEYSPACE"
                | "COLLECTION" | "MATERIALIZED" | "COLUMN" | "PARTITION" | "FOREIGN" | "TEMP" | "TEMPORARY" => {
                    Some("drops data")
                }
                _ => None,
            },
            "TRUNCATE" if at == 0 && !next.is_empty() && next != "(" => Some("empties a table"),
            "DELETE" if next == "FROM" && !is_narrowed(rest) && rest.len() > 1 => Some("deletes every row"),
            "UPDATE" if at == 0 && rest.contains(&"SET") && !is_narrowed(rest) => Some("changes every row"),
            _ => None,
        }
    })
}

/// Whether a condition leaves rows out: `WHERE true` and `WHERE 1=1` do not.
fn is_narrowed(words: &[&str]) -> bool {
    let Some(at) = words.iter().position(|word| *word == "WHERE") else {
        return false;
    };
    let condition: Vec<&str> = words.iter().skip(at + 1).copied().filter(|word| *word != "(").collect();
    match condition.as_slice() {
        ["TRUE" | "1"] => false,
        [left, right] => left != right || !left.chars().all(|c| c.is_ascii_digit()),
        _ => true,
    }
}

/// The words of SQL in capitals, without texts and comments.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut chars = text.chars().peekable();
    let mut word = String::new();
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() || matches!(c, '_' | '.') {
            word.extend(c.to_uppercase());
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        match c {
            '\'' => while chars.next().is_some_and(|c| c != '\'') {},
            '-' if chars.peek() == Some(&'-') => while chars.next().is_some_and(|c| c != '\n') {},
            '/' if chars.peek() == Some(&'*') => {
                let mut before = ' ';
                for c in chars.by_ref() {
                    if before == '*' && c == '/' {
                        break;
                    }
                    before = c;
                }
            }
            ';' => words.push(";".to_owned()),
            '(' => words.push("(".to_owned()),
            _ => {}
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}
