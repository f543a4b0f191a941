"""Cursors: fetching, Arrow, pandas, Polars, printing."""

import decimal
import subprocess
import sys
import textwrap
import time

import freestone
import pandas
import polars
import pyarrow as pa
import pytest

MANY = "SELECT value AS k, value % 7 AS m, 'row ' || value AS t FROM generate_series(1, 50000) AS g(value)"


def test_fetching(stones):
    cursor = stones.execute("SELECT name, mohs FROM stones ORDER BY mohs")
    assert cursor.fetchone() == ("talc", decimal.Decimal("1.0"))
    assert cursor.rownumber == 1
    assert cursor.fetchmany(1) == [("quartz", decimal.Decimal("7.0"))]
    assert list(cursor) == [("diamond", decimal.Decimal("10.0"))]
    assert (cursor.fetchone(), cursor.fetchmany(5), cursor.fetchall()) == (None, [], [])
    with pytest.raises(freestone.ProgrammingError, match="no result"):
        stones.execute("DELETE FROM stones").fetchone()


def test_ways_to_read_can_be_mixed(con):
    cursor = con.execute(MANY)
    first = [cursor.fetchone() for _ in range(10)] + cursor.fetchmany(3000)
    table = cursor.fetch_arrow()
    keys = [row[0] for row in first] + table["k"].to_pylist()
    assert sorted(keys) == list(range(1, 50001))
    assert cursor.fetchone() is None
    cursor = con.execute(MANY)
    next(cursor)
    assert sum(batch.num_rows for batch in cursor.batches()) == 49999


def test_description_and_counts(stones):
    cursor = stones.execute("SELECT * FROM stones")
    assert [column[:2] for column in cursor.description] == [
        ("name", "text"),
        ("mohs", "numeric(3,1)"),
        ("found", "date"),
    ]
    assert cursor.description[1][4:6] == (3, 1)
    kinds = [column[1] for column in cursor.description]
    assert kinds == [freestone.STRING, freestone.NUMBER, freestone.DATETIME]
    assert kinds[0] != freestone.NUMBER
    assert cursor.rowcount == -1
    assert stones.execute("UPDATE stones SET mohs = 2 WHERE mohs < 5").rowcount == 1
    assert stones.execute("INSERT INTO stones (name) VALUES ('a'), ('b')").rowcount == 2
    cursor = stones.execute("DELETE FROM stones WHERE name = 'a' RETURNING name")
    assert cursor.fetchall() == [("a",)]
    assert stones.execute("CREATE TABLE t (a INT)").statusmessage == "CREATE TABLE"


def test_arrow(stones):
    cursor = stones.execute("SELECT * FROM stones ORDER BY mohs")
    table = cursor.fetch_arrow()
    assert table.column_names == ["name", "mohs", "found"]
    assert table.schema.field("mohs").type == pa.decimal128(3, 1)
    assert table["name"].to_pylist() == ["talc", "quartz", "diamond"]
    assert table["found"].null_count == 1
    table.validate(full=True)
    empty = stones.execute("SELECT * FROM stones WHERE mohs > 99").fetch_arrow()
    assert (empty.num_rows, empty.schema) == (0, table.schema)


def test_capsules(con):
    assert pa.table(con.execute(MANY)).num_rows == 50000
    assert polars.DataFrame(con.execute(MANY)).height == 50000
    assert pa.schema(con.execute(MANY)).names == ["k", "m", "t"]
    batch = next(con.execute(MANY).batches())
    assert pa.record_batch(batch).num_rows == len(batch) > 0
    assert "rows and 3 columns" in repr(batch)
    # Slices of columns with NULL, in every kind of array.
    con.execute("CREATE TABLE n (a INT, b TEXT, c BOOLEAN)")
    con.executemany(
        "INSERT INTO n VALUES (?, ?, ?)",
        [(None, None, None) if k % 3 else (k, str(k), k % 2 == 0) for k in range(100)],
    )
    cursor = con.execute("SELECT *, [a, a] AS l FROM n")
    rows = cursor.fetchmany(17)
    table = cursor.fetch_arrow()
    table.validate(full=True)
    rows += [tuple(row.values()) for row in table.to_pylist()]
    assert rows == con.execute("SELECT *, [a, a] AS l FROM n").fetchall()


def test_a_failing_stream_says_why(con):
    with pytest.raises(Exception, match="division by zero"):
        pa.table(con.execute("SELECT 1 / (value - 30000) FROM generate_series(1, 50000) AS g(value)"))
    with pytest.raises(freestone.DataError, match="division by zero"):
        con.execute("SELECT 1 / (value - 30000) FROM generate_series(1, 50000) AS g(value)").fetch_arrow()


def test_record_batches(con):
    reader = con.execute(MANY).fetch_record_batch(20_000)
    assert sorted(batch.num_rows for batch in reader) == [10_000, 20_000, 20_000]
    reader = con.execute(MANY).fetch_record_batch()
    assert sum(batch.num_rows for batch in reader) == 50_000
    with pytest.raises(freestone.DataError):
        list(con.execute(MANY).fetch_record_batch(0))


def test_pandas_and_polars(stones):
    sql = "SELECT name, mohs::DOUBLE PRECISION AS mohs, found FROM stones ORDER BY mohs"
    frame = stones.execute(sql).fetch_df()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["mohs"].tolist() == [1.0, 7.0, 10.0]
    assert frame["name"].tolist() == ["talc", "quartz", "diamond"]
    frame = stones.execute(sql).fetch_pl()
    assert isinstance(frame, polars.DataFrame)
    assert frame["name"].to_list() == ["talc", "quartz", "diamond"]
    assert frame["found"].null_count() == 1
    assert stones.execute(sql).pl().equals(frame)
    assert stones.execute(sql).df().equals(stones.execute(sql).fetch_df())


def test_arrow_of_every_type_is_usable(con):
    """What pyarrow computes on, not only what it holds."""
    table = con.execute("SELECT m, t FROM (" + MANY + ") x WHERE k <= 100").fetch_arrow()
    grouped = table.group_by("m").aggregate([("t", "count")])
    assert grouped.num_rows == 7
    assert table.sort_by("t").num_rows == 100
    import pyarrow.compute as pc

    assert pc.sum(pc.equal(table["t"], "row 7")).as_py() == 1


def test_it_prints(stones):
    cursor = stones.execute("SELECT * FROM stones ORDER BY mohs")
    text = repr(cursor)
    assert text.splitlines() == [
        "┌─────────┬──────────────┬────────────┐",
        "│ name    │ mohs         │ found      │",
        "│ text    │ numeric(3,1) │ date       │",
        "├─────────┼──────────────┼────────────┤",
        "│ talc    │          1.0 │ NULL       │",
        "│ quartz  │          7.0 │ 2024-02-29 │",
        "│ diamond │         10.0 │ 1869-03-01 │",
        "└─────────┴──────────────┴────────────┘",
        "3 rows × 3 columns",
    ]
    assert repr(cursor) == text
    assert len(cursor.fetchall()) == 3
    assert "0 rows" in repr(cursor)
    assert repr(stones.execute("DELETE FROM stones")) == "<freestone.Cursor: DELETE 3>"


def test_a_long_result_prints_its_beginning(con):
    cursor = con.execute(MANY + " ORDER BY value")
    lines = repr(cursor).splitlines()
    assert len(lines) == 20 + 6
    assert lines[-1] == "first 20 rows, there are more × 3 columns"
    assert cursor.fetchone()[0] == 1
    assert repr(cursor).splitlines()[4].split()[1] == "2"
    assert len(cursor.fetchall()) == 49999


def test_it_prints_in_notebooks(con):
    shown = con.execute("SELECT '<b>' AS \"a&b\", NULL AS n, 1 AS i")._repr_html_()
    assert "&lt;b&gt;" in shown and "a&amp;b" in shown and "<i>NULL</i>" in shown
    assert "<b>" not in shown
    assert con.execute("CREATE TABLE t (a INT)")._repr_html_() == "&lt;freestone.Cursor: CREATE TABLE&gt;"


def test_explain_and_advise(stones):
    assert "predicted" in stones.explain("SELECT name FROM stones WHERE mohs > ?", [3]).lower()
    assert "rows" in stones.explain("SELECT count(*) FROM stones", analyze=True)
    stones.execute("VACUUM stones")
    stones.advise("SELECT sum(mohs) FROM stones").fetchall()
    stones.advise(table="stones").fetchall()
    stones.advise().fetchall()
    with pytest.raises(freestone.ProgrammingError):
        stones.advise("SELECT 1", table="stones")


def test_a_progress_bar_comes_after_half_a_second_and_goes(capsys):
    con = freestone.connect(progress=True, threads=1)
    con.execute("SELECT 1").fetchall()
    assert capsys.readouterr().err == ""
    # As much work as takes this machine well over half a second.
    drawn, took, rows = "", 0.0, 9_000_000
    while took < 1.5:
        rows, begin = rows * 2, time.monotonic()
        con.execute(
            "SELECT count(*) FROM generate_series(1, 10) a(value), generate_series(1, ?) b(value)"
            " WHERE a.value * b.value % 7 = 3",
            [rows],
        ).fetchall()
        drawn, took = capsys.readouterr().err, time.monotonic() - begin
    assert " s" in drawn and drawn.endswith("\r\x1b[K")


def test_ten_million_rows_in_bounded_memory():
    script = textwrap.dedent(
        """
        import freestone

        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096

        con = freestone.connect()
        con.execute("CREATE TABLE t AS SELECT value AS k, value * 31 % 1000003 AS v,"
                    " 'name ' || value % 1000 AS s FROM generate_series(1, 10000000) AS g(value)")
        con.execute("SELECT count(*), sum(v) FROM t").fetchall()
        sum(batch.num_rows for batch in con.execute("SELECT * FROM t WHERE k < 500000").batches())
        before, most, rows = resident(), 0, 0
        for number, batch in enumerate(con.execute("SELECT * FROM t").batches()):
            rows += batch.num_rows
            if number % 50 == 0:
                most = max(most, resident())
        print(rows, (max(most, resident()) - before) >> 20)
        """
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    rows, grown = map(int, ran.stdout.split())
    assert rows == 10_000_000
    assert grown < 100, f"grew by {grown} MiB"
