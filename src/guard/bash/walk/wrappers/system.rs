//! Wrappers of the system: other users, limits, terminals, tracers, services.

use super::row::{PLAIN, Wrapper, valued};

pub(super) const SYSTEM: &[Wrapper] = &[
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
        names: &["setarch"],
        skip: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["linux32", "linux64", "i386", "x86_64", "uname26"],
        ..PLAIN
    },
    // BSD's form: `script FILE PROGRAM …`.
    Wrapper {
        names: &["script"],
        valued: valued("cITOEBmtF", &["--command", "--log-in", "--log-out", "--log-io"]),
        skip: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["sshpass"],
        valued: valued("pfPd", &[]),
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
];
