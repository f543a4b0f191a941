#!/usr/bin/env bash
# Key look-ups over a socket, prepared (`pgbench -S -M prepared`), with 1 and 16 clients:
# PostgreSQL and Freestone in turns, on the same cores.
#
#     clients/pgbench.sh PROGRAM        PAIRS=5 SECONDS_EACH=5 SCALE=10
#
# Prints latencies, throughputs and the medians of the pairs' ratios; ends with 1 if one of these
# is not what is wanted.
set -euo pipefail
program=$1
pairs=${PAIRS:-5} seconds=${SECONDS_EACH:-5} scale=${SCALE:-10}
binaries=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
PATH=$PATH:$binaries
for tool in pgbench psql initdb pg_ctl; do
    command -v $tool >/dev/null || { echo "needs a PostgreSQL server to compare with: no $tool" >&2; exit 1; }
done
folder=$(mktemp -d)
chmod 755 "$folder"
# PostgreSQL's server does not run as root.
as=()
if [ "$(id -u)" = 0 ]; then
    mkdir "$folder/pg"
    chown postgres "$folder/pg"
    as=(runuser -u postgres --)
else
    mkdir "$folder/pg"
fi
trap '"${as[@]}" "$(command -v pg_ctl)" -D "$folder/pg/data" -m immediate stop >/dev/null 2>&1 || true
      kill "${server:-}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
"${as[@]}" "$(command -v initdb)" -D "$folder/pg/data" -U tester -A trust -E UTF8 --no-locale >"$folder/initdb" || { cat "$folder/initdb"; exit 1; }
theirs=$((20000 + RANDOM % 20000))
"${as[@]}" "$(command -v pg_ctl)" -D "$folder/pg/data" -o "-p $theirs -k $folder/pg -c listen_addresses=127.0.0.1 -c shared_buffers=512MB" \
    -l "$folder/pg/log" -w start >/dev/null
psql -X -q -h 127.0.0.1 -p "$theirs" -U tester -d postgres -c "CREATE DATABASE freestone"
"$program" serve "$folder/db" --port 0 >"$folder/log" 2>&1 &
server=$!
ours=
for _ in $(seq 100); do
    ours=$(sed -n 's/^listening on .*:\([0-9]*\): .*/\1/p' "$folder/log")
    [ -n "$ours" ] && break
    sleep 0.1
done
for port in "$theirs" "$ours"; do
    pgbench -i -q -s "$scale" -h 127.0.0.1 -p "$port" -U tester freestone >/dev/null 2>"$folder/init" || { cat "$folder/init"; exit 1; }
done
look_up() { # port clients: milliseconds and transactions per second
    pgbench -n -S -M prepared -c "$2" -j $(($2 < 2 ? 1 : 2)) -T "$seconds" -h 127.0.0.1 -p "$1" -U tester freestone 2>/dev/null |
        awk '/^latency average/ {ms = $4} /^tps/ {tps = $3} END {print ms, tps}'
}
median() { sort -n | awk '{v[NR] = $1} END {print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }
missed=0
for clients in 1 16; do
    for port in "$theirs" "$ours"; do look_up "$port" "$clients" >/dev/null; done
    : >"$folder/ratios"
    for pair in $(seq "$pairs"); do
        read -r their_ms their_tps < <(look_up "$theirs" "$clients")
        read -r our_ms our_tps < <(look_up "$ours" "$clients")
        echo "$clients clients, pair $pair: PostgreSQL $their_ms ms, $their_tps/s; Freestone $our_ms ms, $our_tps/s"
        awk -v a="$their_tps" -v b="$our_tps" 'BEGIN {print b / a}' >>"$folder/ratios"
    done
    ratio=$(median <"$folder/ratios")
    if [ "$clients" = 1 ]; then
        awk -v r="$ratio" 'BEGIN {printf "1 client: latency %.2f x PostgreSQL'"'"'s (wanted: at most 1)\n", 1 / r; exit (r < 1)}' || missed=1
    else
        awk -v r="$ratio" 'BEGIN {printf "16 clients: throughput %.2f x PostgreSQL'"'"'s (wanted: at least 0.8)\n", r; exit (r < 0.8)}' || missed=1
    fi
done
exit $missed
