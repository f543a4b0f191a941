# Two commands do all the set-up: `make demo` and `make test`.
# Dependencies are built once, into a folder that survives clean checkouts.
export CARGO_TARGET_DIR ?= $(HOME)/.cache/freestone/target
BIN := $(CARGO_TARGET_DIR)/release
# Always the whole workspace: a part of it would ask other features of the
# dependencies, and build those a second time.
CARGO_BUILD := cargo build --release --locked --workspace

.PHONY: demo test bench bench-oltp bench-tpcds lab clients python referee histories appends soak fuzz fuzz-long lint clean setup build

demo: build            ## TPC-H at scale factor 1: generate, load, query, verify
	$(BIN)/freestone tpch --scale 1 --db ./demo-db
	@echo "The database is yours to explore: $(BIN)/freestone ./demo-db"

test: setup            ## every test of the project
	cargo xtask test

bench: setup           ## Freestone beside DuckDB
	$(CARGO_BUILD) --bin freestone --bin freestone-bench
	$(BIN)/freestone-bench --scale 1 --db ./bench-db

lab: build             ## the papers' experiments at a small scale, and a page of what they found
	$(BIN)/freestone lab run all --quick --out ./lab-results
	$(BIN)/freestone lab report --from ./lab-results --out ./lab.html

clients: build         ## psql, Python, node, Go, Java, pgbench, pg_dump, ORMs, migrations, what tools ask the catalog
	clients/run.sh $(BIN)/freestone

bench-oltp: build      ## transactions and look-ups beside PostgreSQL: TPC-C, pgbench, sysbench, YCSB, CH-benCHmark; ONLY=pgbench asks one
	bench/oltp/run.py $(BIN)/freestone $(if $(ONLY),--only $(ONLY))

bench-tpcds: build     ## TPC-DS beside DuckDB: answers and times
	bench/suites/tpcds.py $(BIN)/freestone

python: setup          ## the Python package: its wheel, into an environment of its own, and its tests
	$(CARGO_BUILD) --lib
	crates/python/run-tests.sh $(BIN)/lib_freestone.so

referee: setup         ## the language front asked what PostgreSQL was asked; a million random statements if it is installed
	$(CARGO_BUILD) --bin referee --bin freestone
	$(BIN)/referee corpus
	$(BIN)/referee corpus --serve $(BIN)/freestone
	$(BIN)/referee laws
	$(BIN)/referee generate --own --serve $(BIN)/freestone --statements $${STATEMENTS:-1000000}
	$(BIN)/referee generate --own --serve $(BIN)/freestone --statements $${CHANGES:-100000} --changes
	$(BIN)/referee views --own --serve $(BIN)/freestone --statements $${VIEWS:-3000}

histories: setup       ## random transactions of several sessions, step by step beside PostgreSQL
	$(CARGO_BUILD) --bin referee --bin freestone
	$(BIN)/referee histories --own --serve $(BIN)/freestone --cases $${CASES:-1000} --jobs 2
	$(BIN)/referee histories --own --serve $(BIN)/freestone --cases $${CASES:-1000} --jobs 2 --foreign

appends: setup         ## lists that clients append to, under kill -9, and a search for anomalies; TRANSACTIONS (350000) at each level
	$(CARGO_BUILD) --bin referee --bin freestone
	for level in read-committed repeatable-read serializable; do \
	  $(BIN)/referee appends --serve $(BIN)/freestone --isolation $$level \
	    --transactions $${TRANSACTIONS:-350000} --kills $${KILLS:-100} || exit 1; \
	done

soak: build            ## longer: 250 kills, crashes, transfers, orders of threads
	$(CARGO_BUILD) --bin kill
	$(BIN)/kill --rounds 50
	$(BIN)/kill --transactions --rounds 200
	FREESTONE_CRASH_POINTS=300000 FREESTONE_TRANSFER_SECONDS=60 \
	  cargo test --release --locked --workspace --test storage -- crash_model transfers
	cd models/commit-order && cargo test --locked

fuzz: setup            ## arbitrary bytes for every decoder, FUZZ_SECONDS (60) for each
	fuzz/run.sh

fuzz-long: setup       ## the same, five minutes for each
	FUZZ_SECONDS=$${FUZZ_SECONDS:-300} fuzz/run.sh

lint: setup            ## format, house rules, clippy, licences
	cargo fmt --all --check
	cargo xtask tidy
	cargo xtask lint
	@if command -v cargo-deny >/dev/null; then cargo deny check bans licenses sources; \
	 else echo "cargo-deny is not installed: licences and sources not checked"; fi

clean:                 ## the databases and our own build results, not the dependencies'
	rm -rf ./demo-db ./bench-db ./lab-results ./lab.html
	cargo clean --release --package freestone --package freestone-bench \
	  --package freestone-allocator --package freestone-cli \
	  --package freestone-calibrate --package freestone-lab --package freestone-model \
	  --package freestone-exec --package freestone-frontend --package freestone-referee --package freestone-python --package freestone-server --package freestone-storage \
	  --package freestone-testkit --package xtask

build: setup
	$(CARGO_BUILD) --bin freestone

setup:
	@command -v cargo >/dev/null || { echo "needs a Rust toolchain: cargo 1.95 or newer" >&2; exit 1; }
	@command -v cc >/dev/null || { echo "needs a C compiler: cc" >&2; exit 1; }
