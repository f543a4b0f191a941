"""Frames by name, registered or not, and as rows to insert."""

import datetime as dt

import freestone
import numpy
import pandas
import polars
import pyarrow as pa
import pytest

everywhere = pandas.DataFrame({"place": ["here", "there"]})


def test_variables_are_tables(con):
    pd_frame = pandas.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"]})
    pl_frame = polars.DataFrame({"a": [2, 3, 4], "c": [1.5, None, 3.5]})
    arrow_table = pa.table({"a": pa.array([3, 4, 5], pa.int8()), "d": [True, None, False]})
    rows = con.execute(
        "SELECT t.a, b, c, d FROM pd_frame JOIN pl_frame USING (a) JOIN arrow_table t ON t.a = pl_frame.a"
    ).fetchall()
    assert rows == [(3, "z", None, True)]
    assert con.execute("SELECT count(*) FROM everywhere").fetchone() == (2,)
    assert con.execute("SELECT sum(a) FROM pl_frame p WHERE p.a > 2").fetchone() == (7,)


def test_names_fold_as_in_sql(con):
    DF = pandas.DataFrame({"A": [1]})
    assert con.execute('SELECT "A" FROM DF').fetchone() == (1,)
    assert con.execute('SELECT "A" FROM "DF"').fetchone() == (1,)


def test_other_sources(con):
    lazy = polars.LazyFrame({"a": [1, 2]}).filter(polars.col("a") > 1)
    batch = pa.record_batch({"a": [5, 6]})
    reader = pa.RecordBatchReader.from_batches(batch.schema, iter([batch, batch]))
    assert con.execute("SELECT a FROM lazy").fetchall() == [(2,)]
    assert con.execute("SELECT sum(a) FROM batch").fetchone() == (11,)
    assert con.execute("SELECT sum(a) FROM reader").fetchone() == (22,)
    cursor = con.execute("SELECT 7 AS a")
    assert con.execute("SELECT a FROM cursor").fetchall() == [(7,)]


def test_a_stream_is_read_once(con):
    batch = pa.record_batch({"a": [1]})
    reader = pa.RecordBatchReader.from_batches(batch.schema, iter([batch]))
    with pytest.raises(freestone.ProgrammingError, match="only once"):
        con.execute("SELECT * FROM reader x JOIN reader y ON x.a = y.a").fetchall()


def test_a_stream_of_python_may_ask_the_database_itself(con):
    schema = pa.schema([("a", pa.int64())])

    def batches():
        for n in range(3):
            (value,) = con.execute("SELECT ? * 10", [n]).fetchone()
            yield pa.record_batch({"a": [value]}, schema=schema)

    reader = pa.RecordBatchReader.from_batches(schema, batches())
    assert con.execute("SELECT sum(a) FROM reader").fetchone() == (30,)


def test_a_failing_stream(con):
    schema = pa.schema([("a", pa.int64())])

    def batches():
        yield pa.record_batch({"a": [1]}, schema=schema)
        raise ValueError("no more stones")

    reader = pa.RecordBatchReader.from_batches(schema, batches())
    with pytest.raises(freestone.Error, match="no more stones"):
        con.execute("SELECT sum(a) FROM reader").fetchall()


def test_tables_of_the_database_come_first(con):
    stones = pandas.DataFrame({"a": [1]})
    con.execute("CREATE TABLE stones (b TEXT)")
    assert con.execute("SELECT * FROM stones").fetchall() == []
    assert con.execute("WITH everywhere AS (SELECT 1 AS n) SELECT * FROM everywhere").fetchall() == [(1,)]


def test_what_is_no_frame_is_unknown(con):
    number = 7
    series = pandas.Series([1])
    for name in ("number", "series", "nothing"):
        with pytest.raises(freestone.ProgrammingError) as raised:
            con.execute(f"SELECT * FROM {name}")
        assert raised.value.sqlstate == "42P01"
    con.replacement_scans = False
    with pytest.raises(freestone.ProgrammingError):
        con.execute("SELECT * FROM everywhere")


def test_registering(con):
    con.register("lent", polars.DataFrame({"a": [1, 2]}))
    assert con.execute("SELECT sum(a) FROM lent").fetchone() == (3,)
    con.register("lent", pandas.DataFrame({"a": [10]}))
    assert con.execute("SELECT sum(a) FROM lent").fetchone() == (10,)
    con.unregister("lent")
    with pytest.raises(freestone.ProgrammingError):
        con.execute("SELECT * FROM lent")
    with pytest.raises(freestone.ProgrammingError):
        con.unregister("lent")
    with pytest.raises(freestone.ProgrammingError) as raised:
        con.register("lent", [1, 2])
    assert raised.value.sqlstate == "42804"


def test_types_of_pandas(con):
    frame = pandas.DataFrame(
        {
            "i": numpy.array([1, 2], "uint8"),
            "u": numpy.array([1, 2**63], "uint64"),
            "f": numpy.array([0.5, numpy.nan], "float32"),
            "s": ["a", None],
            "c": pandas.Categorical(["x", "y"]),
            "t": pandas.to_datetime(["2024-01-01 10:00", None]),
            "z": pandas.to_datetime(["2024-01-01 10:00", None], utc=True),
            "d": pandas.to_timedelta(["1 day", "2 days 03:00:00"]),
            "b": [b"\x01", None],
            "n": pandas.array([1, None], "Int64"),
            "l": [[1, 2], []],
        }
    )
    row = con.execute("SELECT * FROM frame").fetchone()
    moment = dt.datetime(2024, 1, 1, 10)
    utc = moment.replace(tzinfo=dt.timezone.utc)
    assert row == (1, 1, 0.5, "a", "x", moment, utc, dt.timedelta(1), b"\x01", 1, [1, 2])
    found = con.execute("SELECT c, sum(i), max(u), count(n) FROM frame GROUP BY c ORDER BY c")
    assert found.fetchall() == [("x", 1, 1, 1), ("y", 2, 2**63, 0)]
    assert con.create_table("kept", frame[["i", "u", "f", "s", "c", "t", "z", "b", "n"]]) == 2
    assert con.execute("SELECT u, c, t, n FROM kept ORDER BY i").fetchall() == [
        (1, "x", moment, 1),
        (2**63, "y", None, None),
    ]


def test_slices_and_nulls_of_arrow(con):
    whole = pa.table(
        {
            "k": range(1000),
            "s": [None if n % 5 == 0 else f"text that is long enough {n}" for n in range(1000)],
            "v": pa.array([None if n % 7 == 0 else n for n in range(1000)], pa.int32()),
            "l": [[n, None] if n % 3 else None for n in range(1000)],
            "b": [None if n % 4 == 0 else n % 2 == 0 for n in range(1000)],
        }
    )
    views = whole.set_column(1, "s", whole["s"].cast(pa.string_view()))
    for table in (whole, views, whole.set_column(1, "s", whole["s"].dictionary_encode())):
        part = table.slice(123, 456)
        expected = [tuple(row.values()) for row in part.to_pylist()]
        assert con.execute("SELECT * FROM part").fetchall() == expected
        assert con.execute("SELECT count(s), sum(v), count(l) FROM part").fetchone() == (
            part["s"].length() - part["s"].null_count,
            sum(v for v in part["v"].to_pylist() if v is not None),
            part["l"].length() - part["l"].null_count,
        )


def test_inserting(con):
    con.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT, day DATE DEFAULT DATE '2000-01-01')")
    assert con.insert("t", pandas.DataFrame({"name": ["a", "b"], "id": [1, 2]})) == 2
    assert con.insert("t", polars.DataFrame({"x": [3], "y": ["c"]}), columns=["id", "name"]) == 1
    batch = pa.record_batch({"id": [4], "day": [dt.date(2024, 1, 1)]})
    assert con.insert("main.t", pa.RecordBatchReader.from_batches(batch.schema, [batch])) == 1
    assert con.insert("t", con.execute("SELECT 5 AS id")) == 1
    old = dt.date(2000, 1, 1)
    assert con.execute("SELECT * FROM t ORDER BY id").fetchall() == [
        (1, "a", old),
        (2, "b", old),
        (3, "c", old),
        (4, None, dt.date(2024, 1, 1)),
        (5, None, old),
    ]
    with pytest.raises(freestone.IntegrityError):
        con.insert("t", polars.DataFrame({"id": [6, 1]}))
    with pytest.raises(freestone.ProgrammingError) as raised:
        con.insert("t", polars.DataFrame({"colour": [6]}))
    assert raised.value.sqlstate == "42703"
    assert con.execute("SELECT count(*) FROM t").fetchone() == (5,)
    with con.transaction():
        con.insert("t", polars.DataFrame({"id": [7]}))
        con.rollback()
    assert con.execute("SELECT count(*) FROM t").fetchone() == (5,)


def test_a_million_rows_in_and_out(con):
    frame = polars.DataFrame({"k": range(1_000_000), "v": [n % 97 for n in range(1_000_000)]})
    assert con.create_table("t", frame, {"layout": "column", "sort_by": "k"}) == 1_000_000
    assert con.insert("t", frame) == 1_000_000
    again = con.execute("SELECT k, v FROM t").fetch_pl()
    assert again.height == 2_000_000
    assert again["v"].sum() == 2 * frame["v"].sum()


def test_threads_do_not_see_each_others_frames(con):
    import threading

    failures = []

    def work(number):
        mine = polars.DataFrame({"a": [number]})
        for _ in range(100):
            found = con.execute("SELECT a FROM mine").fetchall()
            if found != [(number,)]:
                failures.append(found)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
