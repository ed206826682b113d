#!/bin/bash
# build.sh: builds the binary that is shipped and prints its path: static and not position-independent. That takes a
# third of the instructions at start-up, which every hook pays, and no LD_PRELOAD can enter it. Arguments are handed on to
# cargo build.
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
flags="-C target-feature=+crt-static -C relocation-model=static"
# Rust links with its own lld on this one, which keeps one of equal functions; other linkers do not know the option.
[[ $host != x86_64-unknown-linux-gnu ]] || flags+=" -C link-arg=-Wl,--icf=all"
# --target, even for the host itself: without it the flags would also apply to procedural macros, which cannot be static.
RUSTFLAGS=$flags \
  cargo build --release --locked --bin subcell --target "$host" "$@" >&2

binary=${CARGO_TARGET_DIR:-$PWD/target}/$host/release/subcell
headers=$(LC_ALL=C readelf --file-header --program-headers --wide "$binary")
if grep -q INTERP <<<"$headers" || ! grep -q 'Type: *EXEC' <<<"$headers"; then
  echo "build.sh: $binary is not static and position-dependent:" >&2
  echo "$headers" >&2
  exit 1
fi
realpath "$binary"
