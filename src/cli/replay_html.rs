//! `subcell replay html`: a page that holds everything.

use std::fs::{FileType, OpenOptions, Permissions};
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
    // A link stays one: what it leads to is written.
    let output = std::fs::canonicalize(&args.output).unwrap_or_else(|_| args.output.clone());
    if tree.reads(&output) {
        return Err(Failure::OwnInput(args.output.clone()));
    }
    let special = |kind: FileType| !kind.is_file() && !kind.is_dir();
    if std::fs::metadata(&output).is_ok_and(|output| special(output.file_type())) {
        // A device or a pipe is written to, and never replaced by a file.
        let device = OpenOptions::new().write(true).open(&output).map_err(failed)?;
        return page(&tree, &mut screen, device).map_err(|failure| of_output(failure, failed));
    }
    // Whole or not at all: a page that was written halfway looks like one of a shorter run.
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
    let unfinished = NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(failed)?;
    page(&tree, &mut screen, unfinished.as_file()).map_err(|failure| of_output(failure, failed))?;
    // What a run said is for whoever ran it.
    unfinished
        .as_file()
        .set_permissions(Permissions::from_mode(0o600))
        .map_err(failed)?;
    unfinished.persist(&output).map_err(|error| failed(error.error))?;
    Ok(())
}

/// A failure to write, with the name of the file.
fn of_output(failure: Failure, failed: impl Fn(io::Error) -> Failure) -> Failure {
    if let Failure::Play(PlayError(source)) = failure {
        failed(source)
    } else {
        failure
    }
}

fn page(tree: &Tree, screen: &mut Screen, out: impl Write) -> Result<(), Failure> {
    let mut views = tree.views();
    screen.beforehand(&mut views);
    let out = BufWriter::with_capacity(64 * 1024, out);
    let mut page = Page::start(out, &views).map_err(PlayError)?;
    play(tree, &Filter::default(), screen, &mut page)?;
    Ok(())
}
