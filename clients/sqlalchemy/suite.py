"""Runs SQLAlchemy's dialect suite in a database, and says how many of the tests that apply pass.

At least 90 of 100 must. Those in `known-failures.txt` count as skipped, any other that fails
as failed. `suite.py --write` writes it anew.
"""

import os
import re
import subprocess
import sys

import psycopg

WANTED = 0.90
HERE = os.path.dirname(os.path.abspath(__file__))
KNOWN = os.path.join(HERE, "known-failures.txt")


def main():
    port = os.environ["FREESTONE_PORT"]
    where = f"127.0.0.1:{port}/{os.environ.get('PGDATABASE', 'freestone')}"
    with psycopg.connect(f"postgresql://tester@{where}", autocommit=True) as connection:
        for schema in ("test_schema",):
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        # The suite wants the database for itself.
        own = "WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        tables = connection.execute(f"SELECT schemaname, tablename FROM pg_tables {own}").fetchall()
        for view in connection.execute(f"SELECT schemaname, viewname FROM pg_views {own}").fetchall():
            connection.execute('DROP VIEW "{}"."{}"'.format(*view))
        if tables:
            names = ", ".join('"{}"."{}"'.format(*table) for table in tables)
            connection.execute(f"DROP TABLE {names} CASCADE")
        for sequence in connection.execute("SELECT relname FROM pg_class WHERE relkind = 'S'").fetchall():
            connection.execute('DROP SEQUENCE "{}" CASCADE'.format(*sequence))
    writes = "--write" in sys.argv
    more = [argument for argument in sys.argv[1:] if argument != "--write"]
    command = [
        sys.executable, "-B", "-m", "pytest", "-c", "setup.cfg", "-rfE", "--maxfail", "100000",
        "--dburi", f"postgresql+psycopg://tester@{where}", *more,
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
    names = (re.match(r"(?:FAILED|ERROR) test_suite.py::(.*?)(?: - .*)?$", line) for line in lines)
    missed = sorted({re.sub(r"_postgresql\+psycopg[0-9_]*", "", name[1]) for name in names if name})
    if writes:
        with open(KNOWN, "w", encoding="utf-8") as file:
            file.writelines(f"{name}\n" for name in missed)
    known = set(missed)
    if os.path.exists(KNOWN):
        with open(KNOWN, encoding="utf-8") as file:
            known = {line.rstrip("\n") for line in file}
    else:
        print("\n".join(missed))
    new = [name for name in missed if name not in known]
    for name in new:
        print(f"FAILED {name}")
    passed, skipped = counts["passed"], counts["skipped"]
    apply = passed + len(missed)
    share = passed / apply if apply else 0
    print(f"SQLAlchemy's dialect suite: {passed} of {apply} tests that apply pass ({share:.1%}),")
    print(f"{len(missed) - len(new)} are known not to, {skipped} do not apply")
    if not apply:
        print("\n".join(lines[-30:]), done.stderr[-3000:])
    failed = (len(new) if os.path.exists(KNOWN) else 0) + int(share < WANTED)
    print(f"{passed} passed, {failed} failed, {skipped + len(missed) - len(new)} skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
