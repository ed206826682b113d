//! Work that goes on after the command.

use super::super::facts::{Action, CallKind, JobKind, Run};
use super::super::paths::Ground;
use super::super::policy::{Family, Severity};
use super::super::walk::{Options, Valued};
use super::table::{Rule, Shape, Test, except, flagged, has_flag, shape};

const INSTEAD: &str = "run it in the foreground and wait for it, or start it with `subcell run-record -- COMMAND`, which \
    records it and waits";

/// A rule of this family with its usual weight.
const PLAIN: Rule = Rule {
    id: "",
    family: Family::Background,
    severity: Severity::High,
    on: true,
    reason: "",
    instead: INSTEAD,
    test: Test::Replicates,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "background.ampersand",
        reason: "`&` leaves work running that nothing waits for",
        instead: "leave the `&` out, or end the same command with `wait`; for long work `subcell run-record -- COMMAND`",
        test: Test::Job(|job| !job.settled && job.how == JobKind::Ampersand),
        ..PLAIN
    },
    Rule {
        id: "background.ampersand-in-address",
        reason: "the `&` in an address without quotes puts the command in the background",
        instead: "put the address in quotes",
        test: Test::Job(|job| !job.settled && job.how == JobKind::AmpersandInAddress),
        ..PLAIN
    },
    Rule {
        id: "background.coproc",
        reason: "`coproc` starts work beside the command",
        test: Test::Job(|job| !job.settled && job.how == JobKind::Coprocess),
        ..PLAIN
    },
    Rule {
        id: "background.detach",
        reason: "it takes the work out of the shell's hands, so that nothing waits for it",
        test: Test::Shapes(DETACHING),
        ..PLAIN
    },
    Rule {
        id: "background.sudo",
        reason: "`sudo -b` leaves the command running",
        test: Test::Run(|run, _| {
            let valued = Valued {
                short: "ughpCrtUDRT",
                long: &["--user", "--group", "--host", "--prompt", "--chdir"],
            };
            run.verb == "sudo" && Options::parse(&run.args, valued, true).has(&["-b", "--background"])
        }),
        ..PLAIN
    },
    Rule {
        id: "background.daemon",
        reason: "it starts a process that stays after the command",
        test: Test::Shapes(DAEMONS),
        ..PLAIN
    },
    Rule {
        id: "background.service",
        reason: "it starts a service that stays after the command",
        test: Test::Run(starts_service),
        ..PLAIN
    },
    Rule {
        id: "background.schedule",
        reason: "it schedules work for later, when nobody looks",
        instead: "run it now, in the foreground",
        test: Test::Run(schedules),
        ..PLAIN
    },
    Rule {
        id: "background.schedule-file",
        reason: "a file there makes the system start work later, when nobody looks",
        instead: "run it now, in the foreground",
        test: Test::Touch(|touch, _| {
            matches!(touch.action, Action::Write | Action::Append)
                && touch.resolved.iter().any(|path| schedules_file(path))
        }),
        ..PLAIN
    },
    Rule {
        id: "background.terminal",
        reason: "a detached terminal keeps its programs running",
        test: Test::Run(detaches_terminal),
        ..PLAIN
    },
    Rule {
        id: "background.inline",
        reason: "the inline program starts a process that goes on by itself",
        instead: "let the program wait for what it starts",
        test: Test::Call(|call| call.kind == CallKind::Detaches),
        ..PLAIN
    },
    Rule {
        id: "background.container",
        on: false,
        reason: "a detached container goes on after the command",
        instead: "run it without `-d`, or remove it in the same command",
        test: Test::Shapes(CONTAINERS),
        ..PLAIN
    },
];

const DETACHING: &[Shape] = &[
    shape(&["disown"], &[]),
    shape(&["bg"], &[]),
    flagged(&["setsid"], &[], &["-f", "--fork"]),
    shape(&["daemonize", "daemon", "nq", "tsp"], &[]),
    flagged(&["start-stop-daemon"], &["--start"], &["-b", "--background"]),
    flagged(&["start-stop-daemon"], &["-S"], &["-b", "--background"]),
    except(
        &["systemd-run"],
        &[],
        &["--wait", "--scope", "-P", "--pipe", "--pty", "-t"],
    ),
    flagged(&["ssh", "autossh", "slogin"], &[], &["-f"]),
    flagged(&["wget"], &[], &["-b", "--background"]),
    flagged(&["sem", "parallel"], &[], &["--bg"]),
    shape(&["sem"], &["-j*"]),
    except(&["pueue"], &["add"], &[]),
    shape(&["nssm", "launchctl"], &["start"]),
    shape(&["launchctl"], &["load"]),
    shape(&["launchctl"], &["submit"]),
    shape(&["launchctl"], &["bootstrap"]),
    flagged(&["tmux"], &["run-shell"], &["-b"]),
];

const DAEMONS: &[Shape] = &[
    flagged(&["redis-server", "valkey-server"], &[], &["--daemonize"]),
    flagged(&["mongod", "mongos"], &[], &["--fork"]),
    flagged(&["gunicorn"], &[], &["--daemon", "-D"]),
    flagged(&["uwsgi"], &[], &["--daemonize", "--daemonize2", "-d"]),
    flagged(&["celery"], &[], &["--detach", "-D"]),
    shape(&["celery"], &["multi", "start"]),
    flagged(&["memcached", "haproxy", "aria2c"], &[], &["-d", "-D", "--daemon"]),
    flagged(
        &["php-fpm", "varnishd", "unicorn", "puma", "thin", "rails", "lighttpd"],
        &[],
        &["-D", "--daemon", "--daemonize", "-d"],
    ),
    flagged(
        &["rabbitmq-server", "elasticsearch", "opensearch"],
        &[],
        &["-detached", "-d", "--daemonize"],
    ),
    flagged(
        &[
            "rclone",
            "sshfs",
            "inotifywait",
            "mosquitto",
            "emacs",
            "git",
            "kibana",
            "fetchmail",
            "mpd",
        ],
        &[],
        &["--daemon"],
    ),
    flagged(
        &["socat", "stunnel", "dnsmasq", "qemu-system-x86_64", "rpcbind"],
        &[],
        &["--daemonize", "-daemonize"],
    ),
    except(&["supervisord"], &[], &["-n", "--nodaemon"]),
    except(
        &["nginx", "httpd", "apache2"],
        &[],
        &[
            "-t",
            "-v",
            "-V",
            "-T",
            "-s",
            "-h",
            "daemon off;",
            "-DFOREGROUND",
            "-X",
            "-S",
            "-M",
        ],
    ),
    except(
        &["sshd", "crond", "cron", "dockerd", "containerd", "postgres-daemon"],
        &[],
        &["-t", "-D", "-T", "-f", "-n"],
    ),
    shape(&["apachectl", "apache2ctl"], &["start"]),
    shape(
        &["pg_ctl", "pg_ctlcluster", "mysql.server", "lighttpd-angel", "ray"],
        &["start"],
    ),
    shape(&["pm2", "forever", "nodemon-daemon"], &["start"]),
    shape(&["pm2"], &["restart"]),
    shape(&["pm2"], &["resurrect"]),
    shape(&["pm2"], &["serve"]),
    shape(&["forever"], &["restart"]),
    shape(&["docker-machine", "colima", "minikube-daemon"], &["start"]),
    flagged(&["caddy"], &["start"], &[]),
    shape(&["mysqld_safe"], &[]),
    flagged(&["mysqld"], &[], &["--daemonize", "-D"]),
    flagged(
        &["pm2-runtime", "serve", "http-server", "live-server"],
        &[],
        &["--daemon", "--detach", "--background"],
    ),
    flagged(&["supervisorctl"], &["start"], &[]),
    flagged(
        &["uvicorn", "hypercorn", "daphne", "waitress-serve", "flask", "streamlit"],
        &[],
        &["--daemon", "--daemonize"],
    ),
    flagged(
        &["tailscaled", "ollama", "ngrok", "cloudflared", "frpc"],
        &[],
        &["--background", "--daemon", "-d", "--detach"],
    ),
];

const CONTAINERS: &[Shape] = &[
    flagged(&["docker", "podman", "nerdctl"], &["run"], &["-d", "--detach"]),
    flagged(&["docker", "podman", "nerdctl"], &["exec"], &["-d", "--detach"]),
    flagged(
        &["docker", "podman", "nerdctl"],
        &["compose", "up"],
        &["-d", "--detach"],
    ),
    flagged(&["docker-compose", "podman-compose"], &["up"], &["-d", "--detach"]),
];

/// `systemctl start x`, `service x start`, `/etc/init.d/x start`.
fn starts_service(run: &Run, _: &Ground) -> bool {
    let starts = |word: &String| {
        matches!(
            word.as_str(),
            "start" | "restart" | "reload-or-restart" | "enable" | "condrestart"
        )
    };
    match run.verb.as_str() {
        "systemctl" | "rc-service" | "brew" | "initctl" | "sv" | "s6-rc" | "svc" => {
            let words = Options::parse(
                &run.args,
                Valued {
                    short: "HMt",
                    long: &["--type", "--host"],
                },
                false,
            )
            .words;
            let words = words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
            let manages = run.verb != "brew" || words.first().is_some_and(|word| word == "services");
            manages && words.iter().take(2).any(starts) && !has_flag(&run.args, "--help")
        }
        "service" | "invoke-rc.d" => run.args.get(1).is_some_and(starts),
        _ => run.program.starts_with("/etc/init.d/") && run.args.first().is_some_and(starts),
    }
}

fn schedules(run: &Run, _: &Ground) -> bool {
    let options = Options::parse(
        &run.args,
        Valued {
            short: "fqtu",
            long: &[],
        },
        false,
    );
    match run.verb.as_str() {
        "at" => !options.has(&["-l", "-r", "-d", "-c", "-V"]) && !run.args.is_empty(),
        "batch" => !options.has(&["-V"]),
        // Without options it reads a table from its input; `-l` lists, `-r` deletes, which is another rule's matter.
        "crontab" => {
            let asks = options.has(&["-l", "-r", "-V"]);
            !asks
                && (run.args.iter().any(|arg| arg == "-" || arg == "-e")
                    || !options.words.is_empty()
                    || run.stdin.is_some())
        }
        "fcron" | "anacron" => true,
        "systemd-run" => options
            .flags
            .iter()
            .any(|(flag, _)| flag.starts_with("--on-") || flag.starts_with("--timer")),
        _ => false,
    }
}

/// Where cron, systemd, desktops and launchd look for work.
fn schedules_file(path: &str) -> bool {
    [
        "/var/spool/cron",
        "/etc/cron",
        "/etc/anacron",
        "/etc/systemd/system",
        "/etc/init.d",
    ]
    .iter()
    .any(|place| path.starts_with(place))
        || [
            "/.config/systemd/user/",
            "/.config/autostart/",
            "/Library/LaunchAgents/",
            "/Library/LaunchDaemons/",
        ]
        .iter()
        .any(|place| path.contains(place))
}

fn detaches_terminal(run: &Run, _: &Ground) -> bool {
    match run.verb.as_str() {
        // A `;` of its own divides commands of tmux.
        "tmux" => run.args.split(|arg| arg == ";").any(|args| {
            let options = Options::parse(
                args,
                Valued {
                    short: "fLSc",
                    long: &[],
                },
                true,
            );
            let sub = options.words.first().copied().unwrap_or("");
            let rest = args.get(options.first_word + 1..).unwrap_or(&[]);
            match sub {
                "new" | "new-session" => has_flag(rest, "-d") || !rest.is_empty(),
                "neww" | "new-window" | "splitw" | "split-window" | "respawn-pane" | "respawn-window" => {
                    !Options::parse(
                        rest,
                        Valued {
                            short: "stncFxyelp",
                            long: &[],
                        },
                        true,
                    )
                    .words
                    .is_empty()
                }
                _ => false,
            }
        }),
        "screen" => {
            let cluster = |arg: &String| {
                arg.starts_with('-') && !arg.starts_with("--") && arg.contains(['d', 'D']) && arg.contains('m')
            };
            let both = |letter: char| run.args.iter().any(|arg| *arg == format!("-{letter}"));
            run.args.iter().any(cluster) || both('m') && (both('d') || both('D'))
        }
        "dtach" | "abduco" => has_flag(&run.args, "-n"),
        "zellij" => run.args.iter().any(|arg| arg == "--create-background" || arg == "-b"),
        _ => false,
    }
}
