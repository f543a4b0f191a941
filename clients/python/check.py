"""Real clients of PostgreSQL against `freestone serve`: psycopg, asyncpg, SQLAlchemy, psql.

    clients/run.sh        starts a server, sets clients up and runs this

Each test says what a user of that client expects; none of them knows Freestone.
"""

import asyncio
import datetime
import decimal
import os
import subprocess
import unittest
import uuid

import asyncpg
import psycopg
import sqlalchemy

PORT = int(os.environ["FREESTONE_PORT"])
WHERE = f"host=127.0.0.1 port={PORT} user=tester dbname=freestone"

VALUES = {
    "BOOLEAN": True,
    "SMALLINT": -7,
    "INTEGER": 70_000,
    "BIGINT": 1 << 40,
    "DOUBLE PRECISION": 0.125,
    "DECIMAL(12,3)": decimal.Decimal("-1234.500"),
    "TEXT": "wörd 'quoted'",
    "BYTEA": b"\x00\xff",
    "DATE": datetime.date(1999, 12, 31),
    "TIME": datetime.time(23, 59, 58, 5),
    "TIMESTAMP": datetime.datetime(2024, 2, 29, 1, 2, 3, 4),
    "TIMESTAMP WITH TIME ZONE": datetime.datetime(
        2024, 2, 29, 1, 2, 3, tzinfo=datetime.timezone.utc
    ),
    "UUID": uuid.UUID("00112233-4455-6677-8899-aabbccddeeff"),
}


class Psycopg(unittest.TestCase):
    def setUp(self):
        self.connection = psycopg.connect(WHERE, autocommit=True)
        self.addCleanup(self.connection.close)

    def test_values_come_back(self):
        for binary in (False, True):
            with self.connection.cursor(binary=binary) as cursor:
                for kind, value in VALUES.items():
                    cursor.execute("DROP TABLE IF EXISTS v")
                    cursor.execute(f"CREATE TABLE v (k INT, v {kind})")
                    cursor.execute("INSERT INTO v VALUES (%s, %s), (2, NULL)", (1, value))
                    cursor.execute("SELECT v FROM v WHERE v = %s", (value,))
                    self.assertEqual(cursor.fetchall(), [(value,)], kind)
                    cursor.execute("SELECT v FROM v WHERE k = %s", (2,))
                    self.assertEqual(cursor.fetchone(), (None,), kind)

    def test_many_rows_copied_in_and_read_in_parts(self):
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS many")
            cursor.execute("CREATE TABLE many (k INT, name TEXT)")
            with cursor.copy("COPY many FROM STDIN") as copy:
                for number in range(50_000):
                    copy.write_row((number, f"row\t{number}" if number % 7 else None))
        with self.connection.transaction(), self.connection.cursor("some") as cursor:
            cursor.itersize = 1000
            try:
                cursor.execute("SELECT k FROM many ORDER BY k")
                self.assertEqual([row[0] for row in cursor], list(range(50_000)))
            except psycopg.errors.FeatureNotSupported:
                pass  # DECLARE CURSOR
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT count(*), count(name) FROM many")
            self.assertEqual(cursor.fetchone(), (50_000, 50_000 - 7143))
            with cursor.copy("COPY (SELECT * FROM many WHERE k < 2 ORDER BY k) TO STDOUT") as copy:
                self.assertEqual(list(copy.rows()), [("0", None), ("1", "row\t1")])

    def test_transactions_and_errors(self):
        with self.connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS t")
            cursor.execute("CREATE TABLE t (k INT PRIMARY KEY)")
            with self.assertRaises(psycopg.errors.UniqueViolation):
                with self.connection.transaction():
                    cursor.executemany("INSERT INTO t VALUES (%s)", [(1,), (2,), (1,)])
            cursor.execute("SELECT count(*) FROM t")
            self.assertEqual(cursor.fetchone(), (0,))
            with self.assertRaises(psycopg.errors.UndefinedTable) as caught:
                cursor.execute("SELECT * FROM nowhere")
            self.assertIn("nowhere", str(caught.exception))

    def test_prepared_statements(self):
        with self.connection.cursor() as cursor:
            for number in range(20):
                cursor.execute("SELECT %s::int + 1", (number,), prepare=True)
                self.assertEqual(cursor.fetchone(), (number + 1,))


class Asyncpg(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.connection = await asyncpg.connect(
            host="127.0.0.1", port=PORT, user="tester", database="freestone"
        )

    async def asyncTearDown(self):
        await self.connection.close()

    async def test_values_come_back(self):
        # A table for each: this client remembers statements by their texts.
        for number, (kind, value) in enumerate(VALUES.items()):
            table = f"av{number}"
            await self.connection.execute(f"DROP TABLE IF EXISTS {table}")
            await self.connection.execute(f"CREATE TABLE {table} (k INT, v {kind})")
            await self.connection.execute(f"INSERT INTO {table} VALUES ($1, $2)", 1, value)
            found = await self.connection.fetchval(f"SELECT v FROM {table} WHERE v = $1", value)
            self.assertEqual(found, value, kind)

    async def test_transactions_and_cursors(self):
        async with self.connection.transaction():
            sql = "SELECT value FROM generate_series(1, 1000) ORDER BY value"
            found = [row["value"] async for row in self.connection.cursor(sql, prefetch=100)]
        self.assertEqual(found, list(range(1, 1001)))

    async def test_a_statement_is_cancelled(self):
        sql = "SELECT count(*) FROM generate_series(1, 1000000000000) WHERE value % 7 = 8"
        with self.assertRaises(asyncio.TimeoutError):
            await self.connection.fetch(sql, timeout=0.5)
        self.assertEqual(await self.connection.fetchval("SELECT 1"), 1)


class SqlAlchemy(unittest.TestCase):
    def test_tables_made_filled_and_reflected(self):
        engine = sqlalchemy.create_engine(f"postgresql+psycopg://tester@127.0.0.1:{PORT}/freestone")
        meta = sqlalchemy.MetaData()
        people = sqlalchemy.Table(
            "people",
            meta,
            sqlalchemy.Column("id", sqlalchemy.Integer, primary_key=True, autoincrement=False),
            sqlalchemy.Column("name", sqlalchemy.String(20), nullable=False),
            sqlalchemy.Column("paid", sqlalchemy.Numeric(10, 2)),
        )
        with engine.begin() as connection:
            connection.execute(sqlalchemy.text("DROP TABLE IF EXISTS people"))
            people.create(connection)
            rows = [{"id": 1, "name": "ann", "paid": decimal.Decimal("1.50")}, {"id": 2, "name": "bob", "paid": None}]
            connection.execute(people.insert(), rows)
            found = connection.execute(sqlalchemy.select(people).order_by(people.c.id)).all()
            self.assertEqual(found, [(1, "ann", decimal.Decimal("1.50")), (2, "bob", None)])
        engine.dispose()


class Psql(unittest.TestCase):
    def psql(self, *commands):
        arguments = ["psql", "-X", "-q", "-h", "127.0.0.1", "-p", str(PORT), "-U", "tester", "-d", "freestone"]
        for command in commands:
            arguments += ["-c", command]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout + done.stderr

    def test_tables_are_described(self):
        made = "DROP TABLE IF EXISTS p; CREATE TABLE p (k INT PRIMARY KEY, name VARCHAR(20) NOT NULL, c DECIMAL(9,2) DEFAULT 1)"
        self.assertEqual(self.psql(made), "")
        shown = self.psql(r"\dt")
        self.assertIn("| p ", shown)
        self.assertIn("main", self.psql(r"\dn"))
        self.assertIn("freestone", self.psql(r"\l"))

    def test_rows_are_copied(self):
        out = self.psql(
            "CREATE TABLE IF NOT EXISTS pc (a INT)", "DELETE FROM pc",
            "COPY (SELECT value FROM generate_series(1, 3) ORDER BY value) TO STDOUT",
        )
        self.assertEqual(out, "1\n2\n3\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
