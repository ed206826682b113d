//! Machines, accounts and clouds.

use super::super::facts::Run;
use super::super::paths::Ground;
use super::super::policy::{Family, Severity};
use super::super::walk::{Options, Valued};
use super::table::{Rule, Shape, Test, except, flagged, has_flag, shape};

/// A rule of this family with its usual weight.
const PLAIN: Rule = Rule {
    id: "",
    family: Family::Destroy,
    severity: Severity::Critical,
    on: true,
    reason: "",
    instead: "report what has to be deleted or stopped, and let a person do it",
    test: Test::Replicates,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "destroy.cloud",
        reason: "it deletes something in a cloud or a cluster",
        test: Test::Shapes(CLOUD),
        ..PLAIN
    },
    Rule {
        id: "destroy.cloud-verb",
        reason: "it deletes something in a cloud",
        test: Test::Run(cloud_verb),
        ..PLAIN
    },
    Rule {
        id: "destroy.hosted",
        reason: "it deletes something that a service keeps for others",
        test: Test::Shapes(HOSTED),
        ..PLAIN
    },
    Rule {
        id: "destroy.containers",
        reason: "it deletes containers, images or volumes that it does not name",
        test: Test::Shapes(CONTAINERS),
        ..PLAIN
    },
    Rule {
        id: "destroy.containers-unnamed",
        severity: Severity::High,
        reason: "it deletes or stops every container or image there is",
        instead: "name the container or image that you made",
        test: Test::Run(unnamed_containers),
        ..PLAIN
    },
    Rule {
        id: "destroy.machine",
        reason: "it stops the machine or its services, or takes its accounts and network away",
        test: Test::Shapes(MACHINE),
        ..PLAIN
    },
    Rule {
        id: "destroy.processes",
        severity: Severity::High,
        reason: "it kills every process it can reach",
        instead: "kill the process you started, by its id",
        test: Test::Run(kills_all),
        ..PLAIN
    },
];

const CLOUD: &[Shape] = &[
    shape(&["kubectl", "oc", "k3s"], &["delete"]),
    shape(&["kubectl", "oc"], &["drain"]),
    flagged(&["kubectl", "oc"], &["replace"], &["--force"]),
    flagged(&["kubectl", "oc"], &["scale"], &["--replicas=0"]),
    shape(&["helm"], &["uninstall"]),
    shape(&["helm"], &["delete"]),
    shape(&["helm"], &["del"]),
    shape(&["helmfile"], &["destroy"]),
    shape(
        &[
            "terraform",
            "tofu",
            "terragrunt",
            "pulumi",
            "cdk",
            "cdktf",
            "sst",
            "serverless",
            "sls",
            "vagrant",
            "eksctl-x",
        ],
        &["destroy"],
    ),
    flagged(
        &["terraform", "tofu", "terragrunt"],
        &["apply"],
        &["-destroy", "--destroy"],
    ),
    shape(&["terraform", "tofu", "terragrunt"], &["state", "rm"]),
    shape(&["terragrunt"], &["destroy-all"]),
    shape(&["serverless", "sls", "sst", "sam", "amplify"], &["remove"]),
    shape(&["sam", "amplify", "copilot"], &["delete"]),
    shape(
        &[
            "eksctl",
            "kind",
            "minikube",
            "k3d",
            "kops",
            "doctl",
            "linode-cli",
            "hcloud",
            "scw",
            "civo",
            "vultr-cli",
            "oci",
            "ibmcloud",
            "aliyun",
            "openstack",
        ],
        &["delete"],
    ),
    shape(&["doctl", "hcloud", "openstack"], &["destroy"]),
    shape(&["argocd", "flux", "velero", "istioctl"], &["delete"]),
    shape(&["argocd"], &["app", "delete"]),
    shape(&["flux", "istioctl"], &["uninstall"]),
    shape(&["aws"], &["s3", "rb"]),
    flagged(&["aws"], &["s3", "rm"], &["--recursive"]),
    flagged(&["aws"], &["s3", "sync"], &["--delete"]),
    flagged(&["gsutil"], &["rm"], &["-r", "-R"]),
    shape(&["gsutil"], &["rb"]),
    flagged(&["gsutil"], &["rsync"], &["-d"]),
    flagged(&["gcloud"], &["storage", "rm"], &["-r", "--recursive"]),
    flagged(&["s3cmd", "mc", "s5cmd"], &["rm"], &["--recursive", "-r", "--force"]),
    shape(&["s3cmd", "mc"], &["rb"]),
    flagged(&["s3cmd"], &["del"], &["--recursive", "-r", "--force", "-f"]),
    shape(&["rclone"], &["purge"]),
    shape(&["rclone"], &["delete"]),
    shape(&["azcopy"], &["remove"]),
    shape(&["restic", "borg"], &["forget"]),
    shape(&["borg", "restic"], &["delete"]),
    shape(&["restic"], &["prune"]),
    shape(&["vault"], &["delete"]),
    shape(&["vault"], &["secrets", "disable"]),
    shape(&["vault"], &["kv", "destroy"]),
    shape(&["vault"], &["kv", "metadata", "delete"]),
    shape(&["nomad"], &["job", "stop"]),
    shape(&["nomad"], &["system", "gc"]),
    shape(&["virsh"], &["undefine"]),
    shape(&["virsh"], &["destroy"]),
    shape(&["multipass", "lxc", "incus"], &["delete"]),
    shape(&["VBoxManage", "vboxmanage"], &["unregistervm"]),
];

const HOSTED: &[Shape] = &[
    shape(&["gh"], &["repo", "delete"]),
    shape(&["gh"], &["release", "delete*"]),
    shape(&["gh"], &["secret", "delete"]),
    shape(&["gh"], &["variable", "delete"]),
    shape(&["gh"], &["issue", "delete"]),
    shape(&["gh"], &["gist", "delete"]),
    shape(&["gh"], &["run", "delete"]),
    shape(&["gh"], &["cache", "delete"]),
    shape(&["gh"], &["ssh-key", "delete"]),
    shape(&["gh"], &["codespace", "delete"]),
    shape(&["gh"], &["project", "delete"]),
    shape(&["gh"], &["repo", "archive"]),
    shape(&["gh", "glab"], &["api", "-X", "DELETE"]),
    shape(&["gh", "glab"], &["api", "--method", "DELETE"]),
    shape(&["gh", "glab"], &["api", "-XDELETE"]),
    shape(&["gh", "glab"], &["api", "--method=DELETE"]),
    shape(&["glab"], &["repo", "delete"]),
    shape(&["glab"], &["release", "delete"]),
    shape(&["npm", "pnpm", "yarn"], &["unpublish"]),
    shape(&["cargo"], &["yank"]),
    shape(&["gem"], &["yank"]),
    shape(&["heroku"], &["apps:destroy"]),
    shape(&["heroku"], &["apps:delete"]),
    shape(&["heroku"], &["pg:reset"]),
    shape(&["heroku"], &["addons:destroy"]),
    shape(&["fly", "flyctl"], &["destroy"]),
    shape(&["fly", "flyctl"], &["apps", "destroy"]),
    shape(&["fly", "flyctl"], &["volumes", "destroy"]),
    shape(&["vercel", "now"], &["remove"]),
    shape(&["vercel", "now"], &["rm"]),
    shape(&["netlify"], &["sites:delete"]),
    shape(&["wrangler", "railway", "render", "firebase", "supabase"], &["delete"]),
    shape(&["wrangler"], &["d1", "delete"]),
    shape(&["firebase"], &["*:delete"]),
    shape(&["firebase"], &["firestore:delete"]),
    shape(&["supabase"], &["projects", "delete"]),
    shape(&["planetscale", "pscale", "neonctl", "turso"], &["delete"]),
    shape(&["turso"], &["db", "destroy"]),
];

const CONTAINERS: &[Shape] = &[
    shape(&["docker", "podman", "nerdctl"], &["system", "prune"]),
    shape(&["podman"], &["system", "reset"]),
    shape(&["docker", "podman", "nerdctl"], &["volume", "prune"]),
    shape(&["docker", "podman", "nerdctl"], &["volume", "rm"]),
    shape(&["docker", "podman", "nerdctl"], &["volume", "remove"]),
    flagged(&["docker", "podman", "nerdctl"], &["image", "prune"], &["-a", "--all"]),
    flagged(
        &["docker", "podman", "nerdctl"],
        &["compose", "down"],
        &["-v", "--volumes", "--rmi"],
    ),
    flagged(
        &["docker-compose", "podman-compose"],
        &["down"],
        &["-v", "--volumes", "--rmi"],
    ),
    shape(&["docker"], &["swarm", "leave"]),
    shape(&["docker"], &["stack", "rm"]),
    shape(&["docker"], &["service", "rm"]),
];

const MACHINE: &[Shape] = &[
    except(&["shutdown"], &[], &["-c", "--show"]),
    shape(&["reboot", "halt", "poweroff"], &[]),
    shape(&["init", "telinit"], &["0"]),
    shape(&["init", "telinit"], &["6"]),
    shape(&["systemctl"], &["poweroff"]),
    shape(&["systemctl"], &["reboot"]),
    shape(&["systemctl"], &["halt"]),
    shape(&["systemctl"], &["kexec"]),
    shape(&["systemctl"], &["stop"]),
    shape(&["systemctl"], &["disable"]),
    shape(&["systemctl"], &["mask"]),
    shape(&["systemctl"], &["isolate"]),
    shape(&["userdel", "groupdel", "deluser", "delgroup"], &[]),
    flagged(&["passwd"], &[], &["-d", "-l", "--delete", "--lock"]),
    flagged(&["usermod"], &[], &["-L", "--lock", "-e", "--expiredate"]),
    flagged(&["crontab"], &[], &["-r"]),
    flagged(
        &["iptables", "ip6tables"],
        &[],
        &["-F", "--flush", "-X", "--delete-chain"],
    ),
    shape(&["nft"], &["flush"]),
    shape(&["ufw"], &["disable"]),
    shape(&["ufw"], &["reset"]),
    shape(&["ip"], &["link", "delete"]),
    shape(&["ip"], &["addr", "flush"]),
    shape(&["ip"], &["route", "flush"]),
    shape(&["apt", "apt-get", "aptitude"], &["purge"]),
    shape(&["apt", "apt-get", "aptitude"], &["remove"]),
    shape(&["dpkg"], &["--purge"]),
    shape(&["dpkg"], &["-P"]),
    shape(&["yum", "dnf", "zypper"], &["remove"]),
    shape(&["yum", "dnf"], &["erase"]),
    flagged(&["swapoff"], &[], &["-a"]),
    flagged(&["setenforce"], &["0"], &[]),
    shape(&["grub-install", "grub2-install", "efibootmgr-delete"], &[]),
    shape(&["kexec"], &["-e"]),
    shape(&["umount"], &["/"]),
    flagged(&["umount"], &[], &["-a", "--all"]),
];

/// Commands of cloud programs end in a verb: `aws rds delete-db-instance`, `gcloud projects delete`, `az group delete`.
fn cloud_verb(run: &Run, _: &Ground) -> bool {
    if !matches!(
        run.verb.as_str(),
        "aws" | "gcloud" | "az" | "bq" | "awslocal" | "aliyun" | "tccli" | "yc" | "oci"
    ) {
        return false;
    }
    let harmless = |arg: &String| {
        matches!(
            arg.as_str(),
            "--dry-run" | "help" | "--help" | "-h" | "--no-execute-changeset"
        )
    };
    if run.args.iter().any(harmless) {
        return false;
    }
    let words: Vec<&str> = Options::parse(
        &run.args,
        Valued {
            short: "",
            long: &["--region", "--profile", "--project", "--query", "--output"],
        },
        false,
    )
    .words
    .into_iter()
    .take(5)
    .collect();
    let destroys = |word: &&str| {
        ["delete", "terminate", "purge", "destroy"]
            .iter()
            .any(|verb| *word == *verb || word.strip_prefix(verb).is_some_and(|rest| rest.starts_with('-')))
            || matches!(*word, "rm" | "remove" if run.verb == "bq")
            || matches!(
                *word,
                "schedule-key-deletion" | "deregister-image" | "detach-volume" | "stop-instances" | "release-address"
            )
    };
    words.iter().skip(usize::from(run.verb == "aws")).any(destroys)
        || run.verb == "bq" && words.first() == Some(&"rm")
}

/// `docker rm -f $(docker ps -aq)`: whatever there is.
fn unnamed_containers(run: &Run, _: &Ground) -> bool {
    if !matches!(run.verb.as_str(), "docker" | "podman" | "nerdctl") {
        return false;
    }
    let words = Options::parse(
        &run.args,
        Valued {
            short: "H",
            long: &["--context", "--host"],
        },
        false,
    )
    .words;
    let removes = matches!(
        words.as_slice(),
        ["rm" | "rmi" | "kill" | "stop", ..] | ["container" | "image", "rm" | "kill" | "stop", ..]
    );
    removes
        && words
            .iter()
            .any(|word| word.chars().all(super::super::marks::is_unknown) && !word.is_empty())
}

fn kills_all(run: &Run, _: &Ground) -> bool {
    if run.args.iter().any(|arg| matches!(arg.as_str(), "-0" | "-l" | "-L")) {
        return false;
    }
    let words: Vec<&String> = run.args.iter().filter(|arg| !arg.starts_with('-')).collect();
    match run.verb.as_str() {
        "kill" => {
            // `kill -1` alone is a signal without a process; `kill -9 -1` and `kill -- -1` mean everybody.
            let everybody = run.args.iter().skip(1).any(|arg| arg == "-1");
            let first = run.args.first().is_some_and(|arg| {
                matches!(
                    arg.as_str(),
                    "-9" | "-KILL" | "-SIGKILL" | "-TERM" | "-15" | "-s" | "--" | "-n"
                )
            });
            everybody && first
                || run.args.iter().any(|arg| arg == "1")
                    && words.len() == 1
                    && words.first().is_some_and(|arg| *arg == "1")
        }
        "killall5" => true,
        "pkill" | "killall" => {
            let all = |arg: &&String| {
                matches!(
                    arg.as_str(),
                    "." | ".*" | "" | "bash" | "sh" | "init" | "systemd" | "sshd" | "zsh"
                )
            };
            words.iter().any(all) && !run.args.iter().any(|arg| arg == "-0")
                || has_flag(&run.args, "-u") && words.len() <= 1
                || has_flag(&run.args, "-v") && run.verb == "pkill"
        }
        _ => false,
    }
}
