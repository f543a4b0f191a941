"""Values of every kind, as parameters and in results."""

import datetime as dt
import decimal
import math
import uuid
import zoneinfo

import freestone
import numpy
import pandas
import pyarrow
import pytest

UTC = dt.timezone.utc

SAME = [
    ("BOOLEAN", True),
    ("SMALLINT", -32768),
    ("INTEGER", 2**31 - 1),
    ("BIGINT", -(2**63)),
    ("BIGINT", 2**63 - 1),
    ("REAL", 0.1),
    ("DOUBLE PRECISION", 1e-300),
    ("DOUBLE PRECISION", math.inf),
    ("DECIMAL(38,10)", decimal.Decimal("-1234567890123456789012345678.0123456789")),
    ("DECIMAL(38,0)", decimal.Decimal(10**37)),
    ("TEXT", "Grüße, 'quoted' \\ \n 🪨"),
    ("TEXT", ""),
    ("BYTEA", b"\x00\xff'\\"),
    ("DATE", dt.date(2024, 2, 29)),
    ("DATE", dt.date(1, 1, 1)),
    ("DATE", dt.date(9999, 12, 31)),
    ("TIME", dt.time(23, 59, 59, 999999)),
    ("TIMESTAMP", dt.datetime(1969, 12, 31, 23, 59, 59, 1)),
    ("TIMESTAMP", dt.datetime(9999, 12, 31, 23, 59, 59, 999999)),
    ("TIMESTAMP WITH TIME ZONE", dt.datetime(2024, 7, 1, 12, tzinfo=UTC)),
    ("INTERVAL", dt.timedelta(days=0, hours=-3, microseconds=7)),
    ("INTERVAL", freestone.Interval(14, -3, 5)),
    ("UUID", uuid.UUID("12345678-1234-5678-1234-567812345678")),
]


@pytest.mark.parametrize("kind, value", SAME, ids=lambda value: str(value)[:30])
def test_a_value_comes_back_as_it_was_stored(con, kind, value):
    con.execute(f"CREATE TABLE t (k INTEGER, v {kind})")
    con.execute("INSERT INTO t VALUES (?, ?), (2, NULL)", [1, value])
    con.execute("INSERT INTO t VALUES ($1, $2)", [3, value])
    rows = con.execute("SELECT v FROM t ORDER BY k").fetchall()
    assert rows == [(value,), (None,), (value,)]
    assert type(rows[0][0]) is type(value)


TYPED = [
    value
    for value in (value for _, value in SAME)
    if not isinstance(value, (decimal.Decimal, bytes))
]


@pytest.mark.parametrize("value", TYPED, ids=lambda value: str(value)[:30])
def test_a_parameter_has_the_type_of_its_object(con, value):
    (found,) = con.execute("SELECT ?", [value]).fetchone()
    assert (found, type(found)) == (value, type(value))


def test_decimals_and_bytes_as_parameters(con):
    found = con.execute("SELECT ?, ?", [decimal.Decimal("12.50"), b"ab"]).fetchone()
    assert found == (decimal.Decimal("12.50"), b"ab")
    assert con.execute("SELECT ?", [decimal.Decimal("1E+3")]).fetchone() == (1000,)
    with pytest.raises(freestone.DataError, match="NUMERIC cannot be NaN"):
        con.execute("SELECT ?", [decimal.Decimal("NaN")])


def test_whole_numbers_beyond_bigint(con):
    con.execute("CREATE TABLE t (v DECIMAL(38,0))")
    con.execute("INSERT INTO t VALUES (?)", [10**37])
    assert con.execute("SELECT v FROM t WHERE v > ?", [2**64]).fetchone() == (10**37,)


def test_nan(con):
    (found,) = con.execute("SELECT ?", [math.nan]).fetchone()
    assert math.isnan(found)


def test_time_zones(con):
    berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    moment = dt.datetime(2024, 7, 1, 12, 30, tzinfo=berlin)
    con.execute("CREATE TABLE t (v TIMESTAMPTZ)")
    con.execute("INSERT INTO t VALUES (?)", [moment])
    (found,) = con.execute("SELECT v FROM t").fetchone()
    assert found == moment and found.utcoffset() == dt.timedelta(0)
    odd = dt.datetime(2024, 7, 1, tzinfo=dt.timezone(dt.timedelta(hours=-5, minutes=-30)))
    assert con.execute("SELECT ?", [odd]).fetchone() == (odd,)


def test_lists(con):
    assert con.execute("SELECT ?", [[1, 2, None]]).fetchone() == ([1, 2, None],)
    assert con.execute("SELECT ?", [["a", "b"]]).fetchone() == (["a", "b"],)
    days = [dt.date(2024, 1, 1), dt.date(2024, 1, 2)]
    assert con.execute("SELECT ?", [days]).fetchone() == (days,)
    con.execute("CREATE TABLE t AS SELECT value AS k FROM generate_series(1, 10) AS g(value)")
    found = con.execute("SELECT k FROM t WHERE k = ANY(?) ORDER BY k", [[3, 7, 70]]).fetchall()
    assert found == [(3,), (7,)]
    assert con.execute("SELECT [[1, 4], [2, 3]]").fetchone() == ([[1, 4], [2, 3]],)
    with pytest.raises(freestone.DataError):
        con.execute("SELECT [[1], [2, 3]]").fetchall()


def test_numpy_and_pandas_scalars(con):
    given = [
        numpy.int32(7),
        numpy.float64(0.5),
        numpy.bool_(True),
        numpy.str_("x"),
        numpy.datetime64("2024-02-29T01:02:03"),
        pandas.Timestamp("2024-02-29 01:02:03"),
        pandas.NaT,
        pandas.NA,
        numpy.array([1, 2]),
    ]
    moment = dt.datetime(2024, 2, 29, 1, 2, 3)
    found = con.execute("SELECT " + ", ".join("?" * len(given)), given).fetchone()
    assert found == (7, 0.5, True, "x", moment, moment, None, None, [1, 2])


def test_what_is_no_value(con):
    with pytest.raises(freestone.ProgrammingError, match="object cannot be a parameter") as raised:
        con.execute("SELECT ?", [object()])
    assert raised.value.sqlstate == "07006"


def test_dates_beyond_pythons(con):
    far = pyarrow.table({"d": pyarrow.array([3_000_000], pyarrow.date32())})
    result = con.execute("SELECT d FROM far")
    with pytest.raises(freestone.DataError) as raised:
        result.fetchone()
    assert raised.value.sqlstate == "22008"


def test_structs(con):
    lent = pyarrow.table({"s": pyarrow.array([{"a": 1, "b": "x"}, None])})
    assert con.execute("SELECT s, (s).a FROM lent").fetchall() == [({"a": 1, "b": "x"}, 1), (None, None)]
    (found,) = con.execute("SELECT ROW(1, 'x')").fetchone()
    assert found == {"f1": 1, "f2": "x"}
