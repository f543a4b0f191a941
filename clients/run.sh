#!/usr/bin/env bash
# Clients of PostgreSQL against the server, each from its registry: `make clients`.
#
#     clients/run.sh PROGRAM [CLIENT …]
#
# A client is a folder here with a script `run`, which sets it up in $CACHE, checks it at
# $FREESTONE_PORT and ends with `N passed, N failed, N skipped`. What a machine lacks is
# skipped, and said; with CI set it counts as failed.
set -uo pipefail
program=$1
shift
cd "$(dirname "$0")" || exit 1
clients=("$@")
[ ${#clients[@]} -gt 0 ] || clients=(psql python node pgx jdbc pgbench dump catalogue adbc dbt sqlalchemy orm django alembic)
export CACHE=${FREESTONE_CLIENTS:-$HOME/.cache/freestone/clients}
mkdir -p "$CACHE"

database=$(mktemp -d)
log=$database/log
"$program" serve "$database/db" --port 0 --flight 127.0.0.1:0 --connections 200 >"$log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; rm -rf "$database"' EXIT
port='' FREESTONE_FLIGHT=''
for _ in $(seq 100); do
    port=$(sed -n 's/^listening on .*:\([0-9]*\): .*/\1/p' "$log")
    FREESTONE_FLIGHT=$(sed -n 's/^Flight SQL at .*:\([0-9]*\)$/\1/p' "$log")
    [ -n "$port" ] && [ -n "$FREESTONE_FLIGHT" ] && break
    sleep 0.1
done
[ -n "$port" ] || { cat "$log"; exit 1; }
export FREESTONE_FLIGHT FREESTONE_PORT=$port PGHOST=127.0.0.1 PGPORT=$port PGUSER=tester PGDATABASE=freestone

passed=0 failed=0 skipped=0 summary=()
for client in "${clients[@]}"; do
    begin=$(date +%s)
    missing=
    for tool in $(sed -n 's/^# needs: //p' "$client/run"); do
        command -v "$tool" >/dev/null || missing="$missing $tool"
    done
    if [ -n "$missing" ]; then
        summary+=("$client: skipped: no$missing")
        if [ -n "${CI:-}" ]; then failed=$((failed + 1)); else skipped=$((skipped + 1)); fi
        continue
    fi
    echo "--- $client"
    # One that prints no counts at all has failed. Maven colours what it prints, whoever reads it.
    counts=$(cd "$client" && timeout 600 ./run 2>&1 | sed -u $'s/\e\\[[0-9;]*m//g' | tee /dev/stderr |
        grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' | tail -1)
    [ -n "$counts" ] || counts="0 passed, 1 failed, 0 skipped"
    read -r p _ f _ s _ <<<"$counts"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    summary+=("$client: $counts, $(($(date +%s) - begin)) s")
done 2> >(sed 's/^\([0-9]* passed, \)/  \1/')
# The line of each client is set in, so that only the last is a sum.
sleep 0.2
if ! kill -0 $server 2>/dev/null; then
    echo "the server has stopped:"
    tail -20 "$log"
    failed=$((failed + 1))
fi
echo
printf '%s\n' "${summary[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
