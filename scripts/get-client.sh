#!/bin/bash
# get-client.sh VERSION: installs that version of the real client from npm into target/clients/VERSION and prints the
# path of its binary. Does nothing where it is installed; several calls at once are safe.
set -euo pipefail

version=${1:?usage: get-client.sh VERSION (as 2.1.332)}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "get-client.sh: $version is not a version" >&2; exit 64; }

case $(uname -m) in
  x86_64) platform=linux-x64 ;;
  aarch64) platform=linux-arm64 ;;
  *) echo "get-client.sh: no client is known for $(uname -m)" >&2; exit 1 ;;
esac
ldd --version 2>&1 | grep -qi musl && platform=$platform-musl

clients=$(cd "$(dirname "$0")/.." && pwd)/target/clients
binary=node_modules/@anthropic-ai/claude-code-$platform/claude

if [[ ! -x $clients/$version/$binary ]]; then
  mkdir -p "$clients"
  # Installed beside its place and renamed into it: nobody sees half a client.
  unfinished=$(mktemp -d "$clients/.$version.XXXXXX")
  trap 'rm -rf "$unfinished"' EXIT
  # --force: npm would refuse this version, or take an older one, where its "engines" asks for a newer Node; the client
  # is a native binary and does not use Node at all.
  npm install --prefix "$unfinished" --silent --no-audit --no-fund --force "@anthropic-ai/claude-code@$version" >&2
  found=$("$unfinished/$binary" --version)
  [[ $found == "$version "* ]] || { echo "get-client.sh: asked for $version, got $found" >&2; exit 1; }
  chmod 755 "$unfinished"
  # Whoever comes second keeps what the first one put there.
  mv -T "$unfinished" "$clients/$version" 2>/dev/null || [[ -x $clients/$version/$binary ]]
fi
echo "$clients/$version/$binary"
