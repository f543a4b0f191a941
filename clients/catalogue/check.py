"""Tools that describe a database: the shapes of their questions to the catalogue, with the rows of PostgreSQL 15.

A file of this folder is a tool: `# name`, a statement, `----` and its rows, as psql prints them with `|` between
columns and `~` for NULL, up to a blank line. Rows of a query without ORDER BY are sorted. A statement may be several,
and commands of psql.

Questions whose tests are named in `known-failures.txt` give other rows: the check fails when one of them gives those of
PostgreSQL, so that the list stays true.
"""

import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import tests

# The schema makes roles, and then only roles may connect: every database has this superuser.
USER = "freestone"
with open(os.path.join(HERE, "known-failures.txt"), encoding="utf-8") as file:
    KNOWN = set(file.read().split())
CLEAN = """
SET client_min_messages = error;
DROP SCHEMA IF EXISTS depot CASCADE;
DROP SCHEMA IF EXISTS "Depot 2" CASCADE;
DROP ROLE IF EXISTS depot_clerk;
DROP ROLE IF EXISTS depot_staff;
"""


def psql(*arguments, text=None):
    command = ["psql", "-XqAt", "-U", USER, "-P", "null=~", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", *arguments]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


def questions(path):
    """The name, statement and rows of each question of a file."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    begin = None
    for at, line in enumerate([*lines, "# "]):
        if not line.startswith("# "):
            continue
        if begin is not None:
            block = lines[begin + 1 : at]
            split = block.index("----")
            rows = block[split + 1 :]
            while rows and not rows[-1]:
                rows.pop()
            yield lines[begin][2:], "\n".join(block[:split]), rows
        begin = at


class Catalogue(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        psql(text=CLEAN)
        with open(os.path.join(HERE, "schema.sql"), encoding="utf-8") as file:
            made = psql(text=file.read())
        assert "ERROR" not in made, made

    @classmethod
    def tearDownClass(cls):
        psql(text=CLEAN)


def unordered(statement):
    return statement.startswith(("SELECT", "WITH")) and "ORDER BY" not in statement.rsplit(")", 1)[-1]


def question(statement, rows):
    def asks(self):
        shown = psql(text=f"{statement}\n;\n").split("\n")
        if shown[-1] == "":
            shown.pop()
        if unordered(statement):
            shown.sort()
        self.assertEqual(shown, rows, statement)

    return asks


for name in sorted(os.listdir(HERE)):
    if name.endswith(".txt"):
        tool = name[:-4]
        for title, statement, rows in questions(os.path.join(HERE, name)):
            label = f"test_{tool}_{title}".replace(" ", "_")
            assert not hasattr(Catalogue, label), label
            asks = question(statement, rows)
            if label.removeprefix("test_") in KNOWN:
                KNOWN.remove(label.removeprefix("test_"))
                asks = unittest.expectedFailure(asks)
            setattr(Catalogue, label, asks)
assert not KNOWN, f"no questions: {sorted(KNOWN)}"


if __name__ == "__main__":
    tests.main()
