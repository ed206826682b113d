//! The table of dangerous calls.

use super::language::Language;

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// Gives its argument to a shell, or starts the program that its arguments name.
    Starts,
    /// Deletes a tree.
    DeletesTree,
    /// Deletes a tree if an option says so, else a file.
    Deletes,
    /// Replaces the content of the file that the first argument names.
    Writes,
    /// Replaces the content of the file it is called on.
    WritesSelf,
    /// Opens the file that the first argument names, perhaps for writing.
    Opens,
    /// Moves the first argument to the second.
    Moves,
    /// Writes to the second argument.
    Copies,
    /// Changes the mode of the first argument.
    Permits,
    /// Runs its argument as a program of the same language.
    Evaluates,
    /// Lets a process go on by itself.
    Detaches,
    /// Sends a signal.
    Kills,
    /// Gives a statement to a database.
    Queries,
}

/// Calls by name, in every language that has them under it. A name that other libraries use too is listed with a word
/// that the program must hold (the module it comes from).
const CALLS: &[(&str, &str, Does)] = &[
    ("system", "", Does::Starts),
    ("system2", "", Does::Starts),
    ("script", "do shell", Does::Starts),
    ("popen", "", Does::Starts),
    ("popen2", "", Does::Starts),
    ("popen3", "", Does::Starts),
    ("getoutput", "", Does::Starts),
    ("getstatusoutput", "", Does::Starts),
    ("shell_exec", "", Does::Starts),
    ("passthru", "", Does::Starts),
    ("proc_open", "", Does::Starts),
    ("pcntl_exec", "", Does::Starts),
    ("execute", "os", Does::Starts),
    ("check_call", "", Does::Starts),
    ("check_output", "", Does::Starts),
    ("run", "subprocess", Does::Starts),
    ("call", "subprocess", Does::Starts),
    ("Popen", "", Does::Starts),
    ("run", "invoke", Does::Starts),
    ("create_subprocess_shell", "", Does::Starts),
    ("create_subprocess_exec", "", Does::Starts),
    ("execv", "", Does::Starts),
    ("execve", "", Does::Starts),
    ("execvp", "", Does::Starts),
    ("execl", "", Does::Starts),
    ("execlp", "", Does::Starts),
    ("spawnl", "", Does::Starts),
    ("spawnlp", "", Does::Starts),
    ("spawnv", "", Does::Starts),
    ("spawn", "", Does::Starts),
    ("spawnSync", "", Does::Starts),
    ("execSync", "", Does::Starts),
    ("execFile", "", Does::Starts),
    ("execFileSync", "", Does::Starts),
    ("execa", "", Does::Starts),
    ("capture2", "", Does::Starts),
    ("capture2e", "", Does::Starts),
    ("capture3", "", Does::Starts),
    ("rmtree", "", Does::DeletesTree),
    ("rm_rf", "", Does::DeletesTree),
    ("rm_r", "", Does::DeletesTree),
    ("remove_dir", "", Does::DeletesTree),
    ("remove_entry", "", Does::DeletesTree),
    ("remove_entry_secure", "", Does::DeletesTree),
    ("remove_tree", "", Does::DeletesTree),
    ("rimraf", "", Does::DeletesTree),
    ("removeSync", "", Does::DeletesTree),
    ("emptyDir", "", Does::DeletesTree),
    ("emptyDirSync", "", Does::DeletesTree),
    ("rmSync", "", Does::Deletes),
    ("rm", "fs", Does::Deletes),
    ("rm", "FileUtils", Does::Deletes),
    ("rm_f", "", Does::Deletes),
    ("rmdirSync", "", Does::Deletes),
    ("rmdir", "", Does::Deletes),
    ("unlink", "", Does::Deletes),
    ("unlinkSync", "", Does::Deletes),
    ("remove", "os", Does::Deletes),
    ("removedirs", "", Does::Deletes),
    ("delete", "File", Does::Deletes),
    ("write_text", "", Does::WritesSelf),
    ("write_bytes", "", Does::WritesSelf),
    ("touch", "pathlib", Does::WritesSelf),
    ("writeFile", "", Does::Writes),
    ("writeFileSync", "", Does::Writes),
    ("appendFile", "", Does::Writes),
    ("appendFileSync", "", Does::Writes),
    ("createWriteStream", "", Does::Writes),
    ("truncate", "os", Does::Writes),
    ("truncateSync", "", Does::Writes),
    ("file_put_contents", "", Does::Writes),
    ("write", "File", Does::Writes),
    ("write", "IO", Does::Writes),
    ("binwrite", "", Does::Writes),
    ("outputFileSync", "", Does::Writes),
    ("open", "", Does::Opens),
    ("openSync", "", Does::Opens),
    ("fopen", "", Does::Opens),
    ("rename", "", Does::Moves),
    ("renameSync", "", Does::Moves),
    ("replace", "os", Does::Moves),
    ("move", "shutil", Does::Moves),
    ("mv", "FileUtils", Does::Moves),
    ("copy", "shutil", Does::Copies),
    ("copy2", "shutil", Does::Copies),
    ("copyfile", "shutil", Does::Copies),
    ("copytree", "shutil", Does::Copies),
    ("copyFileSync", "", Does::Copies),
    ("copyFile", "", Does::Copies),
    ("cpSync", "", Does::Copies),
    ("cp", "FileUtils", Does::Copies),
    ("symlink", "", Does::Copies),
    ("symlinkSync", "", Does::Copies),
    ("link", "os", Does::Copies),
    ("chmod", "", Does::Permits),
    ("chmodSync", "", Does::Permits),
    ("chown", "", Does::Permits),
    ("eval", "", Does::Evaluates),
    ("exec", "", Does::Evaluates),
    ("compile", "exec", Does::Evaluates),
    ("Function", "", Does::Evaluates),
    ("instance_eval", "", Does::Evaluates),
    ("runInThisContext", "", Does::Evaluates),
    ("load", "", Does::Evaluates),
    ("loadstring", "", Does::Evaluates),
    ("create_function", "", Does::Evaluates),
    ("fork", "", Does::Detaches),
    ("forkpty", "", Does::Detaches),
    ("setsid", "", Does::Detaches),
    ("pcntl_fork", "", Does::Detaches),
    ("DaemonContext", "", Does::Detaches),
    ("daemonize", "", Does::Detaches),
    ("daemon", "Process", Does::Detaches),
    ("detach", "Process", Does::Detaches),
    ("unref", "", Does::Detaches),
    ("kill", "", Does::Kills),
    ("killpg", "", Does::Kills),
    ("execute", "", Does::Queries),
    ("executescript", "", Does::Queries),
    ("query", "", Does::Queries),
    ("raw", "", Does::Queries),
];

/// Languages whose calls need no brackets.
pub(super) fn bare_calls(language: Language) -> bool {
    matches!(
        language,
        Language::Ruby | Language::Perl | Language::Php | Language::AppleScript
    )
}

/// What a call of `name` does in a program that holds the given text.
pub(super) fn does(name: &str, language: Language, program: &str) -> Option<Does> {
    // In these, `exec` starts a program; in Python it runs Python, and in Node it may be that of a pattern.
    if name == "exec" && matches!(language, Language::Ruby | Language::Perl | Language::Php) {
        return Some(Does::Starts);
    }
    if name == "exec" && language == Language::Node && program.contains("child_process") {
        return Some(Does::Starts);
    }
    if name == "load" && language != Language::Lua || name == "fork" && language == Language::Node {
        return None;
    }
    CALLS
        .iter()
        .find(|(call, module, _)| *call == name && program.contains(module))
        .map(|(_, _, does)| *does)
}
