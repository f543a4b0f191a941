#!/bin/sh
# Clients of PostgreSQL against the server: `make clients`.
set -eu
program=$1
here=$(dirname "$0")
venv=${FREESTONE_CLIENTS:-$HOME/.cache/freestone/clients-venv}
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -c 'import psycopg, asyncpg, sqlalchemy' 2>/dev/null ||
    "$venv/bin/pip" install --quiet --disable-pip-version-check 'psycopg[binary]' asyncpg sqlalchemy
log=$(mktemp)
"$program" serve --port 0 >"$log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true; rm -f "$log"' EXIT
for _ in $(seq 100); do
    port=$(sed -n 's/^listening on .*:\([0-9]*\): .*/\1/p' "$log")
    [ -n "$port" ] && break
    sleep 0.1
done
[ -n "$port" ] || { cat "$log"; exit 1; }
FREESTONE_PORT=$port "$venv/bin/python" "$here/check.py"
