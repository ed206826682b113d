#!/bin/bash
# get-mlflow.sh: installs MLflow from PyPI (wheels only, every version pinned in tests/mlflow/requirements.txt) into a
# virtual environment below target/ and prints its folder. Needs a Python from 3.11 on with venv. Does nothing where it is
# installed.
set -euo pipefail
cd "$(dirname "$0")/.."

requirements=tests/mlflow/requirements.txt
folder=$PWD/target/mlflow-$(sha256sum "$requirements" | cut -c1-12)
if [[ ! -e $folder/complete ]]; then
  python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' || {
    echo "get-mlflow.sh: a python3 from 3.11 on with venv is needed (Debian: python3-venv)" >&2
    exit 1
  }
  rm -rf "$folder"
  python3 -m venv "$folder"
  # --no-deps: the list is complete, and leaves out what only models need.
  "$folder/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --no-deps -r "$requirements" >&2
  touch "$folder/complete"
fi
echo "$folder"
