#!/bin/sh
# Assembles the client's plugin form of subcell, with the binary in it, into DIR (default: target/plugin).
# A plugin holds its own binary: a bare name would be looked for on a PATH that a repository's settings can set.
set -eu
cd "$(dirname "$0")/.."
dir=${1:-target/plugin}
binary=${SUBCELL_BINARY:-$(scripts/build.sh)}
mkdir -p "$dir"
cp -R config/plugin/. "$dir/"
mkdir -p "$dir/bin"
cp "$binary" "$dir/bin/subcell.new"
chmod 755 "$dir/bin/subcell.new"
mv "$dir/bin/subcell.new" "$dir/bin/subcell"
cd "$dir" && pwd
