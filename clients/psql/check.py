"""psql: what it is asked to describe, and rows that it copies."""

import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import tests

MADE = """
DROP VIEW IF EXISTS pv; DROP TABLE IF EXISTS pc; DROP TABLE IF EXISTS p; DROP SEQUENCE IF EXISTS ps;
CREATE TABLE p (k INT PRIMARY KEY, name VARCHAR(20) NOT NULL, c DECIMAL(9,2) DEFAULT 1, CONSTRAINT pos CHECK (c > 0));
CREATE TABLE pc (id SERIAL PRIMARY KEY, p INT REFERENCES p (k) ON DELETE CASCADE, b BYTEA, t TIMESTAMPTZ);
CREATE INDEX pc_p ON pc (p); CREATE VIEW pv AS SELECT k, name FROM p; CREATE SEQUENCE ps START 5;
"""


def psql(*commands, flags="-Xq"):
    arguments = ["psql", flags, "-v", "ON_ERROR_STOP=1"]
    for command in commands:
        arguments += ["-c", command]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
    said = [line for line in done.stderr.splitlines(True) if not line.startswith("NOTICE:")]
    return done.stdout + "".join(said)


class Psql(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        assert "ERROR" not in psql(MADE), psql(MADE)

    def shows(self, command, *wanted):
        shown = psql(command)
        self.assertNotIn("ERROR", shown, command)
        for text in wanted:
            self.assertIn(text, shown, command)

    def test_a_table_is_described(self):
        self.shows(
            r"\d p",
            " k      | integer               |           | not null | ",
            " name   | character varying(20) |           | not null | ",
            " c      | numeric(9,2)          |           |          | 1",
            '"p_pkey" PRIMARY KEY',
            '"pos" CHECK',
            'TABLE "pc" CONSTRAINT "pc_p_fkey" FOREIGN KEY (p) REFERENCES',
        )
        self.shows(r"\d pc", "ON DELETE CASCADE", '"pc_p" btree (p)', "timestamp with time zone", "nextval(")
        self.shows(r"\d+ p", "integer", "Access method: heap")

    def test_other_things_are_described(self):
        # Columns of views have no lengths.
        self.shows(r"\d pv", " name   | character varying(20) ")
        self.shows(r"\d+ pv", "SELECT p.k,")
        self.shows(r"\d pc_p", "integer")
        self.shows(r"\d ps", "bigint", "|     5 |")
        self.shows(r"\d", "| p ", "| pv ", "| ps ")

    def test_everything_is_listed(self):
        self.shows(r"\dt", "| p ", "| pc ")
        self.shows(r"\dt+", "bytes", "permanent")
        self.shows(r"\di", "pc_p", "p_pkey")
        self.shows(r"\di+", "pc_p")
        self.shows(r"\dv+", "pv")
        self.shows(r"\ds", "ps", "pc_id_seq")
        self.shows(r"\dn+", "public")
        self.shows(r"\l", "freestone")
        self.shows(r"\l+", "pg_default")
        self.shows(r"\dp", "| p ")
        self.shows(r"\du", "freestone")
        for command in [r"\df", r"\dT", r"\dT+", r"\dx", r"\db", r"\dC", r"\do", r"\dc", r"\dF", r"\dd", r"\dA"]:
            self.shows(command)

    def test_rows_are_copied(self):
        out = psql(
            "DROP TABLE IF EXISTS pr",
            "CREATE TABLE pr (a INT, b TEXT)",
            "INSERT INTO pr SELECT value, 'v' || value FROM generate_series(1, 3) AS g(value)",
            "COPY (SELECT * FROM pr ORDER BY a) TO STDOUT",
            "COPY (SELECT * FROM pr ORDER BY a) TO STDOUT WITH (FORMAT csv, HEADER)",
        )
        self.assertEqual(out, "1\tv1\n2\tv2\n3\tv3\na,b\n1,v1\n2,v2\n3,v3\n")

    def test_rows_are_told_as_what_gave_them(self):
        out = psql(
            "DROP TABLE IF EXISTS pg",
            "CREATE TABLE pg (k INT)",
            "/* with a comment */ INSERT INTO pg VALUES (1) RETURNING k",
            "PREPARE more AS INSERT INTO pg VALUES ($1) RETURNING k",
            "EXECUTE more(2)",
            "PREPARE all_of_it AS SELECT k FROM pg",
            "EXECUTE all_of_it",
            "UPDATE pg SET k = k + 1 RETURNING k",
            "DELETE FROM pg RETURNING k",
            flags="-XAt",
        )
        tags = [line for line in out.splitlines() if not line.isdigit()]
        made = ["DROP TABLE", "CREATE TABLE", "INSERT 0 1", "PREPARE", "INSERT 0 1", "PREPARE"]
        self.assertEqual(tags, [*made, "UPDATE 2", "DELETE 2"])

    def test_rows_are_fetched_in_parts(self):
        text = "\\set FETCH_COUNT 10\nSELECT value FROM generate_series(1, 25) AS g(value) ORDER BY value;\n"
        done = subprocess.run(["psql", "-XqAt"], input=text, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout.split(), [str(number) for number in range(1, 26)])

    def test_errors_have_their_place(self):
        shown = psql("SELECT a FROM nowhere")
        self.assertIn('ERROR:  table "nowhere" does not exist', shown)
        self.assertIn("LINE 1", shown)


if __name__ == "__main__":
    tests.main()
