//! Wrappers of package managers, environments and tools of developers.

use super::row::{PLAIN, Wrapper, valued};

pub(super) const TOOLS: &[Wrapper] = &[
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
