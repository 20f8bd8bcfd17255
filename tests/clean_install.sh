#!/usr/bin/env bash
# The wheel in a fresh environment without the repository: it begins a record, imports results and builds.
set -euo pipefail
python=${1:-python3}
repository=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m pip wheel -q --no-deps -w "$work/wheel" "$repository"
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q -c "$repository/constraints.txt" "$work"/wheel/*.whl
mkdir "$work/lab" && cd "$work/lab"
git init -q .
"$work/venv/bin/findings" init
printf 'name,accuracy\nsmall,0.50\n' > results.csv
"$work/venv/bin/findings" import results.csv --unit accuracy=share
git add . && git -c user.name=Anyone -c user.email=anyone@example.org commit -qm One
CI=1 "$work/venv/bin/findings" build
CI=1 "$work/venv/bin/findings" verify site
if "$work/venv/bin/python" -c 'import pytest' 2>/dev/null; then echo "development tools are installed"; exit 1; fi
