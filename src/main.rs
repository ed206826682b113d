//! The `subcell` binary: calls the library and hands its exit code on.

fn main() -> std::process::ExitCode {
    subcell::cli::main().into()
}
