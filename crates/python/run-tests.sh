#!/bin/sh
# The tests of the Python package against a wheel in an environment of its own:
# run-tests.sh LIBRARY [arguments of pytest]
set -eu
library=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    echo "skipped: no python3 with venv"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
venv=${FREESTONE_PYTHON:-$HOME/.cache/freestone/python-venv}
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -c 'import dbapi20, numpy, pandas, polars, pyarrow, pytest' 2>/dev/null ||
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/tests/requirements.txt"
wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
wheel=$("$venv/bin/python" "$here/pack.py" "$library" "$wheels")
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"
cd "$here/tests"
exec "$venv/bin/python" -m pytest -q "$@" .
