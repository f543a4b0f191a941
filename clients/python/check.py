"""Python's clients of PostgreSQL against `freestone serve`: psycopg, asyncpg, SQLAlchemy, pandas.

Each test says what a user of that client expects; none of them knows Freestone.
"""

import asyncio
import datetime
import decimal
import os
import sys
import unittest
import uuid

import asyncpg
import pandas
import psycopg
import sqlalchemy

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import tests

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
                for number, (kind, value) in enumerate(VALUES.items()):
                    table = f"v{number}"
                    cursor.execute(f"DROP TABLE IF EXISTS {table}")
                    cursor.execute(f"CREATE TABLE {table} (k INT, v {kind})")
                    cursor.execute(f"INSERT INTO {table} VALUES (%s, %s), (2, NULL)", (1, value))
                    cursor.execute(f"SELECT v FROM {table} WHERE v = %s", (value,))
                    self.assertEqual(cursor.fetchall(), [(value,)], kind)
                    cursor.execute(f"SELECT v FROM {table} WHERE k = %s", (2,))
                    self.assertEqual(cursor.fetchone(), (None,), kind)

    def test_notices(self):
        said = []
        self.connection.add_notice_handler(lambda notice: said.append((notice.severity, notice.sqlstate)))
        self.connection.execute("DROP TABLE IF EXISTS no_such_table")
        self.connection.execute("COMMIT")
        with psycopg.connect(WHERE) as own:
            own.add_notice_handler(lambda notice: said.append((notice.severity, notice.sqlstate)))
            own.execute("BEGIN")
        self.assertEqual(said, [("NOTICE", "00000"), ("WARNING", "25P01"), ("WARNING", "25001")])

    def test_many_rows_copied_in_and_read_in_parts(self):
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS many")
            cursor.execute("CREATE TABLE many (k INT, name TEXT)")
            with cursor.copy("COPY many FROM STDIN") as copy:
                for number in range(50_000):
                    copy.write_row((number, f"row\t{number}" if number % 7 else None))
        with self.connection.transaction(), self.connection.cursor("some") as cursor:
            cursor.itersize = 1000
            cursor.execute("SELECT k FROM many WHERE k >= %s ORDER BY k", (0,))
            self.assertEqual([row[0] for row in cursor], list(range(50_000)))
        with self.connection.cursor("held", scrollable=True, withhold=True) as cursor:
            cursor.execute("SELECT k FROM many ORDER BY k LIMIT 10")
            self.assertEqual(cursor.fetchmany(2), [(0,), (1,)])
            cursor.scroll(-1)
            self.assertEqual(cursor.fetchall(), [(number,) for number in range(1, 10)])
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


    def test_lists_of_values(self):
        with self.connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS few")
            cursor.execute("CREATE TABLE few (k INT, name TEXT)")
            cursor.execute("INSERT INTO few VALUES (1, 'a'), (2, 'b c'), (3, NULL)")
            for binary in (False, True):
                cursor.execute("SELECT k FROM few WHERE k = ANY(%s) ORDER BY k", ([1, 3, 9],), binary=binary)
                self.assertEqual(cursor.fetchall(), [(1,), (3,)])
                cursor.execute("SELECT array_agg(name ORDER BY k) FROM few", binary=binary)
                self.assertEqual(cursor.fetchone(), (["a", "b c", None],))

    def test_lists_of_objects(self):
        # In binary an object is its number: psycopg has no values for it.
        with self.connection.cursor() as cursor:
            said = "SELECT ARRAY['pg_class'::regclass, NULL], ARRAY['int4'::regtype], ROW('pg_class'::regclass)"
            for binary, objects, types in [
                (False, ["pg_class", None], ["integer"]),
                (True, [b"\x00\x00\x04\xeb", None], [b"\x00\x00\x00\x17"]),
            ]:
                cursor.execute(said, binary=binary)
                self.assertEqual([column.type_code for column in cursor.description], [2210, 2211, 2249])
                self.assertEqual(cursor.fetchone(), (objects, types, ("pg_class",)))

    def test_pipelines(self):
        with self.connection.pipeline(), self.connection.cursor() as cursor:
            for number in range(10):
                cursor.execute("SELECT %s::int", (number,))
            found = [cursor.fetchone()[0]]
            while cursor.nextset():
                found.append(cursor.fetchone()[0])
        self.assertEqual(found[-1], 9)


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
            sql = "SELECT value FROM generate_series(1, 1000) AS g(value) ORDER BY value"
            found = [row["value"] async for row in self.connection.cursor(sql, prefetch=100)]
        self.assertEqual(found, list(range(1, 1001)))

    async def test_a_statement_is_cancelled(self):
        sql = "SELECT count(*) FROM generate_series(1, 1000000000000) AS g(value) WHERE value % 7 = 8"
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


class Pandas(unittest.TestCase):
    def setUp(self):
        self.engine = sqlalchemy.create_engine(f"postgresql+psycopg://tester@127.0.0.1:{PORT}/freestone")
        self.addCleanup(self.engine.dispose)

    def test_frames_go_and_come_back(self):
        frame = pandas.DataFrame(
            {
                "number": [1, 2, 3],
                "share": [0.5, None, -2.25],
                "name": ["ann", None, "o'neil"],
                "day": pandas.to_datetime(["2024-02-29", "1999-12-31", None]),
                "paid": [True, False, True],
            }
        )
        for way in (None, "multi"):
            frame.to_sql("frames", self.engine, if_exists="replace", index=False, method=way)
            found = pandas.read_sql("SELECT * FROM frames ORDER BY number", self.engine)
            pandas.testing.assert_frame_equal(found, frame, check_dtype=False, check_datetimelike_compat=True)
        frame.to_sql("frames", self.engine, if_exists="append", index=False)
        counted = pandas.read_sql_query(
            sqlalchemy.text("SELECT name, count(*) AS n FROM frames WHERE number < :most GROUP BY name ORDER BY name"),
            self.engine,
            params={"most": 3},
        )
        self.assertEqual(counted["n"].tolist(), [2, 2])

    def test_a_table_is_read_by_its_name_and_in_parts(self):
        frame = pandas.DataFrame({"v": range(1000)})
        frame.to_sql("counted", self.engine, if_exists="replace", index_label="k")
        self.assertTrue(sqlalchemy.inspect(self.engine).has_table("counted"))
        found = pandas.read_sql_table("counted", self.engine, index_col="k")
        self.assertEqual(sorted(found["v"]), list(range(1000)))
        with self.engine.connect().execution_options(stream_results=True) as connection:
            parts = pandas.read_sql("SELECT v FROM counted ORDER BY v", connection, chunksize=300)
            self.assertEqual([len(part) for part in parts], [300, 300, 300, 100])


if __name__ == "__main__":
    tests.main()
