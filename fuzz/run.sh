#!/bin/sh
# Runs fuzz targets (all, or those named) for FUZZ_SECONDS each and prints what
# each did; stops at a crash, which it leaves in fuzz/artifacts/.
set -eu
cd "$(dirname "$0")"
seconds=${FUZZ_SECONDS:-60}
cache=${FREESTONE_FUZZ_CACHE:-$HOME/.cache/freestone/fuzz}
export CARGO_TARGET_DIR="$cache/target"
# The sanitizer's flag is unstable; this lets a stable compiler take it too.
# FUZZ_SANITIZER=none needs no such leave, and is faster.
sanitizer=${FUZZ_SANITIZER:-address}
[ "$sanitizer" = none ] || export RUSTC_BOOTSTRAP=1

PATH="$PATH:$cache/bin"
if ! command -v cargo-fuzz >/dev/null; then
    echo "installing cargo-fuzz into $cache"
    RUSTC_BOOTSTRAP=0 cargo install cargo-fuzz --version 0.13.2 --locked --quiet \
        --root "$cache" --target-dir "$cache/install"
    rm -rf "$cache/install"
fi

cargo fuzz build --features fuzzing --sanitizer "$sanitizer"
for target in ${*:-$(cargo fuzz list)}; do
    found="$cache/found/$target"
    log="$cache/$target.log"
    mkdir -p "$found" "artifacts/$target"
    # What a run finds is kept in the cache and makes the next one start there.
    if ! cargo fuzz run --features fuzzing --sanitizer "$sanitizer" "$target" "$found" "corpus/$target" -- \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -print_final_stats=1 >"$log" 2>&1
    then
        tail -n 60 "$log"
        echo "$target: crashed; see fuzz/artifacts/$target/ and $log" >&2
        exit 1
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    speed=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
    printf '%-10s %10s runs, %6s a second\n' "$target" "$runs" "$speed"
done
