#!/usr/bin/env python3
"""TPC-DS beside DuckDB: `make bench-tpcds`.

    bench/suites/tpcds.py PROGRAM [--scale 1] [--runs 3] [--only 4,22]

The data and the 99 queries are those of DuckDB's generator, which its Python package had built in
until 0.10. Both databases hold the same tables, in files, as loaded, and are asked in turns, hot; a
line has the medians of the runs. Answers are compared.

The program ends with 1 if an answer differs.
"""

import argparse
import json
import math
import os
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

CACHE = Path(os.environ.get("CACHE", Path.home() / ".cache/freestone/suites"))
# The last versions with the generator, and the one that is measured.
GENERATOR = ["duckdb==0.9.2"]
MEASURED = ["duckdb==2.0.0", "psycopg[binary]==3.3.9"]
GENERATE = """
import duckdb, json, sys
scale, folder = float(sys.argv[1]), sys.argv[2]
db = duckdb.connect()
db.execute("LOAD tpcds")
db.execute(f"CALL dsdgen(sf={scale})")
tables = db.execute("SELECT table_name, sql FROM duckdb_tables()").fetchall()
for name, _ in tables:
    db.execute(f"COPY {name} TO '{folder}/{name}.parquet' (FORMAT parquet)")
queries = db.execute("SELECT query_nr, query FROM tpcds_queries()").fetchall()
with open(f"{folder}/suite.json", "w", encoding="utf-8") as file:
    json.dump({"tables": dict(tables), "queries": {str(n): q for n, q in queries}}, file)
"""


def python_with(name, packages):
    """The Python of an environment that has some packages."""
    folder = CACHE / f"venv-{name}"
    if not (folder / "ready").exists():
        print(f"installing {' '.join(packages)}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin/pip", "install", "-q", *packages], check=True)
        (folder / "ready").touch()
    return str(folder / "bin/python")


def generated(scale):
    """The folder with the data of a scale."""
    folder = CACHE / f"tpcds-{scale:g}"
    if not (folder / "suite.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        print(f"generating TPC-DS at scale {scale:g}", flush=True)
        python = python_with("generator", GENERATOR)
        subprocess.run([python, "-c", GENERATE, str(scale), str(folder)], check=True)
    return folder


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def comparable(rows):
    """Rows in an order of their own, numbers with six digits."""
    def value(cell):
        if cell is None:
            return ""
        try:
            return f"{float(cell):.6g}"
        except (TypeError, ValueError):
            return str(cell).strip()
    return sorted(tuple(value(cell) for cell in row) for row in rows)


def load(program, folder, suite):
    """Both databases, loaded once."""
    ours, theirs = folder / "freestone", folder / "duckdb.db"
    statements = [*suite["tables"].values()]
    statements += [f"COPY {name} FROM '{folder}/{name}.parquet';" for name in suite["tables"]]
    if not ours.exists():
        print("loading Freestone", flush=True)
        (folder / "load.sql").write_text("\n".join(statements), encoding="utf-8")
        subprocess.run([program, str(ours), "-f", str(folder / "load.sql")], check=True,
                       stdout=subprocess.DEVNULL)
    if not theirs.exists():
        print("loading DuckDB", flush=True)
        import duckdb
        with duckdb.connect(str(theirs)) as db:
            for statement in statements:
                db.execute(statement)
    return ours, theirs


def measure(options):
    """Asks both in turns; says how many queries fail."""
    import duckdb
    import psycopg
    folder = generated(options.scale)
    suite = json.loads((folder / "suite.json").read_text(encoding="utf-8"))
    ours, theirs = load(options.program, folder, suite)
    port = free_port()
    server = subprocess.Popen([options.program, "serve", str(ours), "--port", str(port)],
                              stdout=subprocess.DEVNULL)
    failed, ratios, totals = [], [], [0.0, 0.0]
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        duck = duckdb.connect(str(theirs), read_only=True)
        address = f"host=127.0.0.1 port={port} user=tester dbname=freestone"
        with psycopg.connect(address, autocommit=True) as db:
            chosen = options.only.split(",") if options.only else sorted(suite["queries"], key=int)
            for number in chosen:
                query = suite["queries"][number].strip().rstrip(";")
                asks = [lambda: duck.execute(query).fetchall(),
                        lambda: db.execute(query).fetchall()]
                try:
                    answers = [comparable(ask()) for ask in asks]
                except duckdb.Error as error:
                    asks[1]()
                    print(f"Q{number:3} DuckDB refuses: {str(error).splitlines()[0]}", flush=True)
                    continue
                times = [[], []]
                for _ in range(options.runs):
                    for side, ask in enumerate(asks):
                        start = time.perf_counter()
                        ask()
                        times[side].append(time.perf_counter() - start)
                medians = [statistics.median(side) for side in times]
                ratio = medians[1] / medians[0]
                ratios.append((ratio, number))
                totals = [total + median for total, median in zip(totals, medians)]
                remark = ""
                if answers[0] != answers[1]:
                    remark = "ANOTHER ANSWER"
                    failed.append(number)
                print(f"Q{number:3} DuckDB {medians[0] * 1e3:9.1f} ms  Freestone "
                      f"{medians[1] * 1e3:9.1f} ms  ratio {ratio:6.2f}  {remark}",
                      flush=True)
    finally:
        server.terminate()
        server.wait()
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio, _ in ratios))
    slower = sum(ratio > 1 for ratio, _ in ratios)
    worst = ", ".join(f"Q{number} {ratio:.1f}" for ratio, number in sorted(ratios)[:-6:-1])
    print(f"geometric mean {mean:.2f} of DuckDB's time, total {totals[1] / totals[0]:.2f}, slower in "
          f"{slower} of {len(ratios)}; worst: {worst}")
    print(f"queries with another answer: {', '.join(failed) or 'none'}")
    return len(failed)


def main():
    parser = argparse.ArgumentParser(description="TPC-DS beside DuckDB")
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", help="numbers of queries, with commas")
    options = parser.parse_args()
    try:
        import psycopg  # noqa: F401
        import duckdb  # noqa: F401
    except ImportError:
        python = python_with("measured", MEASURED)
        os.execv(python, [python, os.path.abspath(__file__), *sys.argv[1:]])
    sys.exit(1 if measure(options) else 0)


if __name__ == "__main__":
    main()
