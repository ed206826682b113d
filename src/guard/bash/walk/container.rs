//! Containers: what runs in them, and which directories of the host they hold.

use super::super::facts::{Mount, Place, Run};
use super::super::marks::{ANY, HOME};
use super::option::{Options, Valued};
use super::state::{Input, Walk};

/// Options of container programs that take a value.
const CONTAINER: Valued = Valued {
    short: "vepwulhmcfn",
    long: &[
        "--name",
        "--network",
        "--net",
        "--mount",
        "--env",
        "--env-file",
        "--entrypoint",
        "--label",
        "--hostname",
        "--user",
        "--workdir",
        "--volume",
        "--publish",
        "--memory",
        "--cpus",
        "--platform",
        "--restart",
        "--gpus",
        "--device",
        "--add-host",
        "--dns",
        "--ip",
        "--link",
        "--log-driver",
        "--pid",
        "--ipc",
        "--security-opt",
        "--cap-add",
        "--cap-drop",
        "--shm-size",
        "--tmpfs",
        "--ulimit",
        "--volumes-from",
        "--pull",
        "--runtime",
        "--cidfile",
        "--expose",
        "--file",
        "--project-name",
        "--profile",
        "--index",
        "--namespace",
        "--container",
        "--context",
        "--image",
        "--host",
        "--config",
        "--userns",
        "--cgroupns",
        "--annotation",
        "--detach-keys",
        "--stop-timeout",
        "--mac-address",
    ],
};

impl Walk<'_> {
    /// `docker run`, `docker exec`, `kubectl exec` and their like.
    pub(crate) fn container(&mut self, run: &Run, input: &Input) -> Option<String> {
        let mut args = run.args.as_slice();
        let mut action = "";
        for _ in 0..3 {
            let options = Options::parse(args, CONTAINER, true);
            let (at, word) = (options.first_word, options.words.first().copied()?);
            args = args.get(at + 1..).unwrap_or(&[]);
            if matches!(word, "run" | "exec" | "create") {
                action = word;
                break;
            }
            if !matches!(word, "compose" | "container") {
                return None;
            }
        }
        if action.is_empty() {
            return None;
        }
        let options = Options::parse(args, CONTAINER, true);
        let mut fields: Vec<String> = options.words.iter().skip(1).map(|word| (*word).to_owned()).collect();
        if fields.first().is_some_and(|field| field == "--") {
            fields.remove(0);
        }
        if let Some(entry) = options.value(&["--entrypoint"]) {
            fields.insert(0, entry.to_owned());
        }
        let compose = run.verb.ends_with("compose") || run.args.iter().any(|arg| arg == "compose");
        let fresh = action == "run" && matches!(run.verb.as_str(), "docker" | "podman" | "nerdctl") && !compose;
        let mounts = if fresh { self.mounts(&options) } else { Vec::new() };
        let place = if fresh {
            Place::Container(mounts)
        } else {
            Place::Elsewhere
        };
        let dir = options.value(&["-w", "--workdir"]).map_or_else(
            || {
                if fresh {
                    "/".to_owned()
                } else {
                    self.ground.project.clone()
                }
            },
            str::to_owned,
        );
        if fields.is_empty() {
            return Some(ANY.to_string());
        }
        Some(self.elsewhere(place, dir, |walk| walk.nested(fields, &run.verb, input, run.span)))
    }

    fn mounts(&self, options: &Options<'_>) -> Vec<Mount> {
        let mut mounts = Vec::new();
        for volume in options.values(&["-v", "--volume"]) {
            let mut parts = volume.split(':');
            if let (Some(host), Some(inside)) = (parts.next(), parts.next())
                && host.starts_with(['/', '.', '~', HOME, ANY])
                && !parts
                    .next()
                    .is_some_and(|mode| mode.split(',').any(|mode| mode == "ro"))
            {
                mounts.push(Mount {
                    host: self.absolute(host),
                    inside: inside.to_owned(),
                });
            }
        }
        for mount in options.values(&["--mount"]) {
            let field = |names: &[&str]| {
                mount
                    .split(',')
                    .filter_map(|part| part.split_once('='))
                    .find(|(key, _)| names.contains(key))
                    .map(|(_, v)| v)
            };
            let read_only = mount
                .split(',')
                .any(|part| part.starts_with("ro") || part.starts_with("readonly"));
            if let (Some(host), Some(inside)) = (field(&["source", "src"]), field(&["target", "dst", "destination"]))
                && !read_only
                && host.starts_with(['/', '.', '~', HOME, ANY])
            {
                mounts.push(Mount {
                    host: self.absolute(host),
                    inside: inside.to_owned(),
                });
            }
        }
        mounts
    }
}
