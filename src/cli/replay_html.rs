//! `subcell replay html`: a page that holds everything.

use std::fs::Permissions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::Args;
use tempfile::NamedTempFile;

use super::replay::{Failure, InputArgs};
use crate::replay::page::Page;
use crate::replay::timeline::{Filter, PlayError, Screen, Tree, play};

/// Writes the timeline of a run as one self-contained page.
///
/// Example: `subcell replay html transcripts/ --output run.html`
#[derive(Debug, Args)]
pub(crate) struct HtmlArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The page; `-` is stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Writes the page.
pub(super) fn run(args: &HtmlArgs) -> Result<(), Failure> {
    let (tree, mut screen) = args.input.load()?;
    if args.output == Path::new("-") {
        return page(&tree, &mut screen, io::stdout().lock());
    }
    let failed = |source| Failure::Output(args.output.clone(), source);
    // Whole or not at all: a page that was written halfway looks like one of a shorter run.
    let folder = args.output.parent().filter(|folder| !folder.as_os_str().is_empty());
    let unfinished = NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(failed)?;
    match page(&tree, &mut screen, unfinished.as_file()) {
        Err(Failure::Play(PlayError(source))) => return Err(failed(source)),
        other => other?,
    }
    // What a run said is for whoever ran it.
    unfinished
        .as_file()
        .set_permissions(Permissions::from_mode(0o600))
        .map_err(failed)?;
    unfinished.persist(&args.output).map_err(|error| failed(error.error))?;
    Ok(())
}

fn page(tree: &Tree, screen: &mut Screen, out: impl Write) -> Result<(), Failure> {
    let mut views = tree.views();
    screen.beforehand(&mut views);
    let out = BufWriter::with_capacity(64 * 1024, out);
    let mut page = Page::start(out, &views).map_err(PlayError)?;
    play(tree, &Filter::default(), screen, &mut page)?;
    Ok(())
}
