"""ADBC's driver for Flight SQL, and calls that no driver makes."""

import base64
import datetime
import decimal
import os
import sys
import threading
import unittest

import adbc_driver_flightsql.dbapi as flightsql
import pandas
import pyarrow
import pyarrow.flight as flight

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import tests

WHERE = f"grpc://127.0.0.1:{os.environ['FREESTONE_FLIGHT']}"


# What pyarrow raises for errors of a server.
REFUSED = (flight.FlightError, pyarrow.ArrowException)


def command(kind, body):
    """A message of Flight SQL, in an Any."""
    name = f"type.googleapis.com/arrow.flight.protocol.sql.{kind}".encode()
    return b"\n" + bytes([len(name)]) + name + b"\x12" + bytes([len(body)]) + body


def fetched(client, kind, body):
    info = client.get_flight_info(flight.FlightDescriptor.for_command(command(kind, body)))
    return client.do_get(info.endpoints[0].ticket).read_all()


def connected(user=None, password="", autocommit=True):
    kwargs = {} if user is None else {"username": user, "password": password}
    return flightsql.connect(WHERE, db_kwargs=kwargs, autocommit=autocommit)


class Adbc(unittest.TestCase):
    def setUp(self):
        self.connection = connected()
        self.addCleanup(self.connection.close)
        self.cursor = self.connection.cursor()
        self.addCleanup(self.cursor.close)

    def made(self, table, columns):
        self.cursor.execute(f"DROP TABLE IF EXISTS {table}")
        self.cursor.execute(f"CREATE TABLE {table} ({columns})")

    def rows(self, sql, values=None):
        self.cursor.execute(sql, values)
        return self.cursor.fetchall()

    def test_values_go_and_come_back(self):
        values = {
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
        }
        for kind, value in values.items():
            self.made("av", f"k INT, v {kind}")
            self.cursor.execute("INSERT INTO av VALUES (?, ?), (2, NULL)", (1, value))
            self.assertEqual(self.rows("SELECT v FROM av WHERE v = ?", (value,)), [(value,)], kind)
            self.assertEqual(self.rows("SELECT v FROM av WHERE k = 2"), [(None,)], kind)

    def test_many_rows_of_values(self):
        self.made("am", "k INT PRIMARY KEY, name TEXT")
        self.cursor.executemany("INSERT INTO am VALUES (?, ?)", [(number, f"n{number}") for number in range(500)])
        self.assertEqual(self.rows("SELECT count(*), max(name) FROM am"), [(500, "n99")])
        # All of them or none.
        with self.assertRaises(flightsql.Error):
            self.cursor.executemany("INSERT INTO am VALUES (?, ?)", [(1000, "a"), (1, "twice")])
        self.assertEqual(self.rows("SELECT count(*) FROM am"), [(500,)])
        self.cursor.execute("UPDATE am SET name = 'x' WHERE k < 7")
        self.assertEqual(self.rows("SELECT count(*) FROM am WHERE name = 'x'"), [(7,)])

    def test_a_large_result_as_arrow(self):
        self.cursor.execute("SELECT value AS k, 'row ' || value AS t FROM generate_series(1, 1000000) AS g(value)")
        count, total = 0, 0
        for batch in self.cursor.fetch_record_batch():
            count += batch.num_rows
            total += pyarrow.compute.sum(batch.column(0)).as_py()
        self.assertEqual((count, total), (1_000_000, 500_000_500_000))

    def test_tables_are_made_and_filled(self):
        table = pyarrow.table(
            {
                "k": pyarrow.array(range(100_000), pyarrow.int64()),
                "share": pyarrow.array([None if n % 3 else n / 8 for n in range(100_000)]),
                "name": pyarrow.array([f"n{n % 7}" for n in range(100_000)]),
                "day": pyarrow.array([datetime.date(2024, 1, 1)] * 100_000),
            }
        )
        self.cursor.execute("DROP TABLE IF EXISTS ai")
        self.assertEqual(self.cursor.adbc_ingest("ai", table, mode="create"), 100_000)
        self.assertEqual(self.cursor.adbc_ingest("ai", table.to_reader(1000), mode="append"), 100_000)
        self.assertEqual(self.rows("SELECT count(*), count(share), min(day) FROM ai")[0][:2], (200_000, 66_668))
        with self.assertRaises(flightsql.Error):
            self.cursor.adbc_ingest("ai", table, mode="create")
        with self.assertRaises(flightsql.Error):
            self.cursor.adbc_ingest("nowhere", table, mode="append")
        self.assertEqual(self.cursor.adbc_ingest("ai", table.slice(0, 10), mode="replace"), 10)
        self.assertEqual(self.rows("SELECT count(*) FROM ai"), [(10,)])
        frame = pandas.read_sql("SELECT k, name FROM ai ORDER BY k", self.connection)
        self.assertEqual(frame["name"].tolist(), [f"n{n % 7}" for n in range(10)])

    def test_transactions(self):
        self.made("at", "k INT")
        with connected(autocommit=False) as other, other.cursor() as cursor:
            cursor.execute("INSERT INTO at VALUES (1)")
            self.assertEqual(self.rows("SELECT count(*) FROM at"), [(0,)])
            other.rollback()
            cursor.execute("INSERT INTO at VALUES (2)")
            cursor.adbc_ingest("at", pyarrow.table({"k": pyarrow.array([3, 4], pyarrow.int32())}), mode="append")
            other.commit()
            self.assertEqual(self.rows("SELECT count(*), sum(k) FROM at"), [(3, 9)])
            other.rollback()

    def test_what_there_is(self):
        for name in ("oc", "op"):
            self.cursor.execute(f"DROP TABLE IF EXISTS {name}")
        self.cursor.execute("CREATE TABLE op (a INT PRIMARY KEY, b VARCHAR(20) NOT NULL)")
        self.cursor.execute("CREATE TABLE oc (id INT PRIMARY KEY, p INT REFERENCES op (a) ON DELETE CASCADE)")
        found = self.connection.adbc_get_objects(depth="all", table_name_filter="o_").read_all().to_pylist()
        tables = {
            table["table_name"]: table
            for catalog in found
            for schema in catalog["catalog_db_schemas"]
            for table in schema["db_schema_tables"]
        }
        self.assertEqual(sorted(tables), ["oc", "op"], found)
        self.assertEqual([column["column_name"] for column in tables["op"]["table_columns"]], ["a", "b"])
        # The driver does not ask for keys.
        client = flight.connect(WHERE)
        self.addCleanup(client.close)
        of_table = b"\x1a\x02oc"
        [key] = fetched(client, "CommandGetPrimaryKeys", of_table).to_pylist()
        self.assertEqual((key["column_name"], key["key_sequence"]), ("id", 1))
        [key] = fetched(client, "CommandGetImportedKeys", of_table).to_pylist()
        self.assertEqual([key["pk_table_name"], key["pk_column_name"], key["fk_column_name"]], ["op", "a", "p"])
        self.assertEqual((key["update_rule"], key["delete_rule"]), (3, 0))
        schema = self.connection.adbc_get_table_schema("op")
        self.assertEqual([str(field.type) for field in schema], ["int32", "string"])
        self.assertIn("BASE TABLE", self.connection.adbc_get_table_types())
        self.assertEqual(self.connection.adbc_get_info()["vendor_name"], "Freestone")

    def test_errors_say_what_and_where(self):
        for sql, state in [("SELECT * FROM nowhere", "42P01"), ("SELEC 1", "42601"), ("SELECT 1; SELECT 2", "42601")]:
            with self.assertRaises(flightsql.Error) as caught:
                self.cursor.execute(sql)
                self.cursor.fetchall()
            self.assertIn(state, str(caught.exception), sql)
        # What fails while rows are on their way.
        with self.assertRaises(flightsql.Error) as caught:
            self.rows("SELECT 10 / (value - 900000) FROM generate_series(1, 1000000) AS g(value)")
        self.assertIn("22012", str(caught.exception))
        self.assertEqual(self.rows("SELECT 1"), [(1,)])

    def test_a_query_that_nobody_reads_is_given_up(self):
        other = connected()
        cursor = other.cursor()
        cursor.execute("SELECT value FROM generate_series(1, 1000000000000) AS g(value)")
        reader = cursor.fetch_record_batch()
        self.assertGreater(next(reader).num_rows, 0)
        reader.close()
        cursor.close()
        other.close()
        self.assertEqual(self.rows("SELECT 1"), [(1,)])

    def test_many_at_once(self):
        self.made("aw", "k INT")
        failed = []

        def work(number):
            try:
                with connected() as own, own.cursor() as cursor:
                    for turn in range(20):
                        cursor.execute("INSERT INTO aw VALUES (?)", (number * 100 + turn,))
                        cursor.execute("SELECT count(*) FROM aw WHERE k = ?", (number * 100 + turn,))
                        assert cursor.fetchone() == (1,)
            except Exception as error:  # noqa: BLE001
                failed.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        self.assertEqual(self.rows("SELECT count(*) FROM aw"), [(160,)])


class Rights(unittest.TestCase):
    """Roles see what they were granted, and nobody is who it says without its password."""

    def setUp(self):
        admin = connected()
        self.addCleanup(admin.close)
        self.admin = admin.cursor()
        self.addCleanup(self.admin.close)
        self.forget()
        # Once there are roles, nobody else comes in by an unknown name.
        self.addCleanup(self.forget)
        for sql in [
            "CREATE USER fay PASSWORD 'right'",
            "CREATE USER gus PASSWORD 'own'",
            "CREATE TABLE secrets (k INT)",
            "CREATE TABLE open_ones (k INT)",
            "INSERT INTO secrets VALUES (1)",
            "INSERT INTO open_ones VALUES (2)",
            "GRANT SELECT ON open_ones TO fay",
        ]:
            self.admin.execute(sql)

    def forget(self):
        for kind, name in [("TABLE", "secrets"), ("TABLE", "open_ones"), ("ROLE", "fay"), ("ROLE", "gus")]:
            self.admin.execute(f"DROP {kind} IF EXISTS {name}")

    def test_passwords(self):
        with connected("fay", "right") as own, own.cursor() as cursor:
            cursor.execute("SELECT current_user")
            self.assertEqual(cursor.fetchone(), ("fay",))
        for user, password in [("fay", "wrong"), ("fay", ""), ("gus", "right")]:
            with self.assertRaises(flightsql.Error) as caught, connected(user, password) as own:
                own.cursor().execute("SELECT 1")
            self.assertIn("28P01", str(caught.exception))

    def test_what_was_not_granted(self):
        with connected("fay", "right") as own, own.cursor() as cursor:
            cursor.execute("SELECT k FROM open_ones")
            self.assertEqual(cursor.fetchall(), [(2,)])
            for sql in ["SELECT k FROM secrets", "INSERT INTO open_ones VALUES (3)", "SELECT * FROM '/etc/passwd'"]:
                with self.assertRaises(flightsql.Error) as caught:
                    cursor.execute(sql)
                    cursor.fetchall()
                self.assertIn("42501", str(caught.exception), sql)
            with self.assertRaises(flightsql.Error) as caught:
                cursor.adbc_ingest("open_ones", pyarrow.table({"k": [1]}), mode="append")
            self.assertIn("42501", str(caught.exception))
            found = own.adbc_get_objects(depth="tables").read_all().to_pylist()
            self.assertNotIn("secrets", str(found))

    def client(self, header=None):
        client = flight.connect(WHERE)
        self.addCleanup(client.close)
        headers = [] if header is None else [(b"authorization", header.encode())]
        return client, flight.FlightCallOptions(headers=headers)

    def refused(self, client, options, state):
        asked = command("CommandStatementQuery", b"\n\x08SELECT 1")
        with self.assertRaises(REFUSED) as caught:
            client.get_flight_info(flight.FlightDescriptor.for_command(asked), options)
        self.assertIn(state, str(caught.exception))

    def test_tokens_that_were_not_given(self):
        for token in ["nothing", "token x", "from 127.0.0.1:1 fay", ""]:
            client, options = self.client(f"Bearer {token}")
            self.refused(client, options, "28000")
        client, options = self.client("Basic " + base64.b64encode(b"fay:wrong").decode())
        self.refused(client, options, "28P01")
        client, options = self.client("Nonsense")
        self.refused(client, options, "28000")

    def test_a_role_that_is_no_more(self):
        client = flight.connect(WHERE)
        self.addCleanup(client.close)
        header = client.authenticate_basic_token("gus", "own")
        self.admin.execute("DROP ROLE gus")
        self.refused(client, flight.FlightCallOptions(headers=[header]), "28000")

    def test_a_token_of_a_former_password(self):
        client = flight.connect(WHERE)
        self.addCleanup(client.close)
        header = client.authenticate_basic_token("fay", "right")
        options = flight.FlightCallOptions(headers=[header])
        asked = command("CommandStatementQuery", b"\n\x08SELECT 1")
        client.get_flight_info(flight.FlightDescriptor.for_command(asked), options)
        self.admin.execute("ALTER ROLE fay PASSWORD 'new'")
        self.refused(client, options, "28000")

    def test_statements_and_transactions_of_others(self):
        """What is kept for one client no other can use, by whatever name."""
        with connected(autocommit=False) as own, own.cursor() as cursor:
            cursor.execute("SELECT k FROM secrets")
            self.assertEqual(cursor.fetchall(), [(1,)])
            other, _ = self.client()
            header = other.authenticate_basic_token("fay", "right")
            options = flight.FlightCallOptions(headers=[header])
            for kind in ["CommandPreparedStatementQuery", "TicketStatementQuery"]:
                with self.assertRaises(REFUSED):
                    other.do_get(flight.Ticket(command(kind, b"\n\x04abcd")), options).read_all()

    def test_bytes_that_mean_nothing(self):
        client, options = self.client()
        for nonsense in [b"", b"\xff" * 100, b"\n\x05hello\x12\x00"]:
            with self.assertRaises(REFUSED):
                client.get_flight_info(flight.FlightDescriptor.for_command(nonsense), options)
            with self.assertRaises(REFUSED):
                client.do_get(flight.Ticket(nonsense), options).read_all()
        with connected() as own, own.cursor() as cursor:
            cursor.execute("SELECT 1")
            self.assertEqual(cursor.fetchone(), (1,))


if __name__ == "__main__":
    tests.main()
