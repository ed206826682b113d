#!/bin/bash
# check-mlflow.sh: starts MLflow's server on loopback, makes cells by real runs of the hook (one that completes, one that
# fails, one that is lost), sends their spans with `subcell emit`, and reads them back by MLflow's API.
set -euo pipefail
cd "$(dirname "$0")/.."

mlflow=$(scripts/get-mlflow.sh)
cargo build --locked --quiet --features stand-ins --bin subcell --bin subcell-parent --bin subcell-standin
exec "$mlflow/bin/python" tests/mlflow/check.py target/debug
