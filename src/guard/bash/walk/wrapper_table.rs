//! The table of programs that start another program given in their arguments.

use super::super::facts::Run;
use super::option::{Options, Valued};

/// How a program finds the program that it starts.
pub(crate) struct Wrapper {
    pub names: &'static [&'static str],
    /// Options that take a value.
    pub valued: Valued,
    /// The subcommand that must come first, where there is one.
    pub sub: &'static [&'static str],
    /// Words to leave out before the program.
    pub skip: usize,
    /// Whether assignments come before the program.
    pub assigns: bool,
    /// Whether the words are joined and given to a shell.
    pub shell: bool,
}

/// A plain wrapper, from which the table's other rows differ.
const PLAIN: Wrapper = Wrapper {
    names: &[],
    valued: Valued { short: "", long: &[] },
    sub: &[],
    skip: 0,
    assigns: false,
    shell: false,
};

const fn valued(short: &'static str, long: &'static [&'static str]) -> Valued {
    Valued { short, long }
}

pub(crate) const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &["sudo"],
        valued: valued(
            "ughpCrtUDRT",
            &[
                "--user",
                "--group",
                "--host",
                "--prompt",
                "--close-from",
                "--role",
                "--type",
                "--other-user",
                "--chdir",
                "--chroot",
            ],
        ),
        assigns: true,
        ..PLAIN
    },
    Wrapper {
        names: &["runuser"],
        valued: valued("ugGsc", &["--user", "--group", "--command", "--shell"]),
        ..PLAIN
    },
    Wrapper {
        names: &["doas"],
        valued: valued("uC", &[]),
        ..PLAIN
    },
    Wrapper {
        names: &["run0", "pkexec"],
        valued: valued("u", &["--user", "--group", "--unit", "--property"]),
        ..PLAIN
    },
    Wrapper {
        names: &["env"],
        valued: valued("uCSP", &["--unset", "--chdir", "--split-string"]),
        assigns: true,
        ..PLAIN
    },
    Wrapper {
        names: &["nice"],
        valued: valued("n", &["--adjustment"]),
        ..PLAIN
    },
    Wrapper {
        names: &["ionice"],
        valued: valued("cnpPu", &["--class", "--classdata"]),
        ..PLAIN
    },
    Wrapper {
        names: &["timeout", "gtimeout"],
        valued: valued("ks", &["--kill-after", "--signal"]),
        skip: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["stdbuf"],
        valued: valued("ioe", &["--input", "--output", "--error"]),
        ..PLAIN
    },
    Wrapper {
        names: &["time", "gtime"],
        valued: valued("fo", &["--format", "--output"]),
        ..PLAIN
    },
    Wrapper {
        names: &[
            "nohup",
            "setsid",
            "unbuffer",
            "fakeroot",
            "winpty",
            "torsocks",
            "torify",
            "proxychains",
            "proxychains4",
            "catchsegv",
            "chronic",
            "eatmydata",
            "nocache",
            "dumb-init",
            "tini",
            "dbus-run-session",
            "command",
            "builtin",
            "noglob",
            "nocorrect",
            "ifne",
            "vipe",
            "daemonize",
            "nq",
            "tsp",
            "ccache",
            "sccache",
            "distcc",
            "pueue",
        ],
        ..PLAIN
    },
    Wrapper {
        names: &[
            "xvfb-run",
            "caffeinate",
            "rlwrap",
            "ltrace",
            "cpulimit",
            "retry",
            "watchexec",
        ],
        valued: valued(
            "enstwlpofFd",
            &["--server-args", "--limit", "--exts", "--watch", "--times", "--delay"],
        ),
        ..PLAIN
    },
    Wrapper {
        names: &["bwrap"],
        valued: valued(
            "",
            &[
                "--bind",
                "--ro-bind",
                "--dev",
                "--proc",
                "--tmpfs",
                "--chdir",
                "--setenv",
            ],
        ),
        ..PLAIN
    },
    Wrapper {
        names: &["exec"],
        valued: valued("a", &[]),
        ..PLAIN
    },
    Wrapper {
        names: &["busybox", "toybox", "coreutils"],
        ..PLAIN
    },
    Wrapper {
        names: &["chrt", "taskset"],
        valued: valued("pTPD", &[]),
        skip: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["numactl"],
        valued: valued("NmCpix", &["--membind", "--cpunodebind", "--interleave"]),
        ..PLAIN
    },
    Wrapper {
        names: &["prlimit"],
        ..PLAIN
    },
    Wrapper {
        names: &["chroot", "gosu", "su-exec", "setuidgid", "chpst"],
        valued: valued("ubrenlmdofcpt", &["--userspec", "--groups"]),
        skip: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["unshare", "firejail", "proot", "setpriv"],
        valued: valued(
            "SGRwbrq",
            &["--root", "--wd", "--setuid", "--setgid", "--reuid", "--regid"],
        ),
        ..PLAIN
    },
    Wrapper {
        names: &["nsenter"],
        valued: valued("tSG", &["--target", "--setuid", "--setgid"]),
        ..PLAIN
    },
    Wrapper {
        names: &["strace"],
        valued: valued("eopsPubaEIOSX", &[]),
        ..PLAIN
    },
    Wrapper {
        names: &["valgrind"],
        ..PLAIN
    },
    Wrapper {
        names: &["perf"],
        valued: valued("eorCpF", &["--event", "--output"]),
        sub: &["stat", "record", "trace"],
        ..PLAIN
    },
    Wrapper {
        names: &["flock"],
        valued: valued("wEc", &["--timeout", "--wait", "--command", "--conflict-exit-code"]),
        skip: 1,
        ..PLAIN
    },
    Wrapper {
        names: &[
            "ld.so",
            "ld-linux-x86-64.so.2",
            "ld-linux.so.2",
            "ld-linux-aarch64.so.1",
            "ld-musl-x86_64.so.1",
        ],
        valued: valued("", &["--library-path", "--preload", "--argv0"]),
        ..PLAIN
    },
    Wrapper {
        names: &["npx", "bunx", "pnpx"],
        valued: valued("pc", &["--package", "--call"]),
        ..PLAIN
    },
    Wrapper {
        names: &["npm"],
        valued: valued("pcw", &["--package", "--call", "--workspace", "--prefix"]),
        sub: &["exec", "x"],
        ..PLAIN
    },
    Wrapper {
        names: &["pnpm", "yarn", "bun", "deno"],
        valued: valued("C", &["--filter", "--cwd", "--package"]),
        sub: &["exec", "dlx", "x"],
        ..PLAIN
    },
    Wrapper {
        names: &["uvx"],
        valued: valued("p", &["--from", "--with", "--python"]),
        ..PLAIN
    },
    Wrapper {
        names: &["uv", "poetry", "pipenv", "rye", "pdm", "hatch", "pipx", "pixi"],
        valued: valued(
            "pe",
            &[
                "--with",
                "--python",
                "--extra",
                "--group",
                "--package",
                "--project",
                "--directory",
                "--env-file",
                "--spec",
                "--from",
            ],
        ),
        sub: &["run"],
        ..PLAIN
    },
    Wrapper {
        names: &["uv"],
        valued: valued("p", &["--from", "--with", "--python"]),
        sub: &["tool"],
        skip: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["conda", "mamba", "micromamba"],
        valued: valued("np", &["--name", "--prefix", "--cwd"]),
        sub: &["run"],
        ..PLAIN
    },
    Wrapper {
        names: &[
            "bundle",
            "rbenv",
            "pyenv",
            "nodenv",
            "asdf",
            "mise",
            "rtx",
            "nvm",
            "volta",
            "aws-vault",
            "op",
            "doppler",
            "chamber",
            "infisical",
        ],
        valued: valued("Cp", &["--node", "--npm", "--project", "--config", "--env-file"]),
        sub: &["exec", "x", "run"],
        ..PLAIN
    },
    Wrapper {
        names: &["direnv"],
        sub: &["exec"],
        skip: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["dotenv", "dotenvx", "cross-env", "env-cmd", "foreground"],
        valued: valued("fep", &["--file"]),
        assigns: true,
        ..PLAIN
    },
    Wrapper {
        names: &["systemd-run", "systemd-inhibit"],
        valued: valued(
            "ptuHMEGC",
            &[
                "--unit",
                "--property",
                "--uid",
                "--gid",
                "--slice",
                "--setenv",
                "--working-directory",
                "--on-active",
                "--on-calendar",
                "--what",
                "--who",
                "--why",
                "--mode",
                "--description",
            ],
        ),
        ..PLAIN
    },
    Wrapper {
        names: &["start-stop-daemon"],
        valued: valued(
            "xpucdnkaRsN",
            &[
                "--exec",
                "--pidfile",
                "--chuid",
                "--name",
                "--startas",
                "--chdir",
                "--user",
            ],
        ),
        ..PLAIN
    },
    Wrapper {
        names: &["gdb", "lldb"],
        valued: valued("xo", &["-ex", "--ex", "--command"]),
        ..PLAIN
    },
    Wrapper {
        names: &["flatpak", "snap"],
        sub: &["run"],
        ..PLAIN
    },
    Wrapper {
        names: &["lxc", "multipass", "incus", "distrobox", "toolbox"],
        valued: valued("cn", &["--env", "--cwd", "--user", "--name", "--container"]),
        sub: &["exec", "run", "enter"],
        skip: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["nix-shell", "nix"],
        valued: valued("pA", &["--run", "--command", "--packages"]),
        sub: &["develop", "shell"],
        ..PLAIN
    },
    Wrapper {
        names: &["watch"],
        valued: valued("nq", &["--interval", "--equexit"]),
        shell: true,
        ..PLAIN
    },
    Wrapper {
        names: &["hyperfine"],
        valued: valued(
            "wmMrpcSnNsu",
            &[
                "--warmup",
                "--runs",
                "--prepare",
                "--cleanup",
                "--export-json",
                "--export-markdown",
                "--shell",
            ],
        ),
        shell: true,
        ..PLAIN
    },
    Wrapper {
        names: &["entr"],
        ..PLAIN
    },
    Wrapper {
        names: &["concurrently"],
        valued: valued("nckp", &["--names", "--prefix-colors"]),
        shell: true,
        ..PLAIN
    },
    Wrapper {
        names: &["heroku"],
        valued: valued("a", &["--app"]),
        sub: &["run"],
        shell: true,
        ..PLAIN
    },
];

impl Wrapper {
    pub(crate) fn takes(&self, run: &Run) -> bool {
        let named = self.names.contains(&run.verb.as_str());
        named && (self.sub.is_empty() || self.sub_at(run).is_some())
    }

    /// Where the subcommand stands: the first argument that is no option.
    fn sub_at(&self, run: &Run) -> Option<usize> {
        let at = Options::parse(&run.args, self.valued, true).first_word;
        run.args
            .get(at)
            .filter(|arg| self.sub.contains(&arg.as_str()))
            .map(|_| at)
    }

    pub(crate) fn after_sub(&self, run: &Run) -> usize {
        if self.sub.is_empty() {
            0
        } else {
            self.sub_at(run).map_or(0, |at| at + 1)
        }
    }
}
