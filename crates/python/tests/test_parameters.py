"""Parameters: ``?``, ``$1`` and ``:name``, and where those are none."""

import freestone
import pytest
from freestone._parameters import rewritten


@pytest.mark.parametrize(
    "sql, names",
    [
        ("SELECT :a, :b, :a", ("a", "b")),
        ("SELECT ':a', \":b\", $$:c$$, $x$ :d $$ :e $x$, :f", ("f",)),
        ("SELECT 'it''s :a', E'\\' :b', :c", ("c",)),
        ("SELECT 1 -- :a\n, :b", ("b",)),
        ("SELECT /* :a /* :b */ :c */ :d", ("d",)),
        ("SELECT '1'::INT, :a::TEXT", ("a",)),
        ("SELECT x[1:n], x[:a], x[y:b]", ("a",)),
        ("SELECT 'unfinished :a", ()),
        ("SELECT /* unfinished :a", ()),
        ("SELECT $1, price$2$3, :a$", ("a",)),
        ("SELECT :_a1", ("_a1",)),
    ],
)
def test_names_are_found_where_they_are_parameters(sql, names):
    assert rewritten(sql)[1] == names


def test_the_rest_stays_as_it_is():
    sql = "SELECT ':a' || :b::text -- :c\n || :d || :b"
    assert rewritten(sql)[0] == "SELECT ':a' || $1::text -- :c\n || $2 || $1"


def test_all_three_forms(con):
    assert con.execute("SELECT ?, ?", [1, 2]).fetchall() == [(1, 2)]
    assert con.execute("SELECT $2, $1", (1, 2)).fetchall() == [(2, 1)]
    assert con.execute("SELECT :b, :a, :b", {"a": 1, "b": 2, "c": 3}).fetchall() == [(2, 1, 2)]
    assert con.execute("SELECT '?', '$1', \"a?\" FROM (SELECT 1 AS \"a?\") x").fetchone() == (
        "?",
        "$1",
        1,
    )


@pytest.mark.parametrize("given", [[], [1], [1, 2, 3]])
def test_as_many_values_as_parameters(con, given):
    with pytest.raises(freestone.ProgrammingError) as raised:
        con.execute("SELECT ?, ?", given)
    assert raised.value.sqlstate == "08P01"


def test_a_name_without_a_value(con):
    with pytest.raises(freestone.ProgrammingError, match=":b"):
        con.execute("SELECT :a, :b", {"a": 1})
    with pytest.raises(freestone.ProgrammingError, match="no parameter with a name"):
        con.execute("SELECT ?", {"a": 1})
    with pytest.raises(freestone.ProgrammingError, match="not int"):
        con.execute("SELECT ?", 1)


def test_many(con):
    con.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
    cursor = con.executemany("INSERT INTO t VALUES (:a, :b)", [{"a": n, "b": "x"} for n in range(9)])
    assert cursor.rowcount == 9
    assert con.executemany("UPDATE t SET b = ? WHERE a < ?", [("y", 3), ("z", 2)]).rowcount == 5
    assert con.executemany("DELETE FROM t WHERE a = ?", (n for n in [[1], [2], [99]])).rowcount == 2
    # All or nothing.
    with pytest.raises(freestone.IntegrityError) as raised:
        con.executemany("INSERT INTO t VALUES (?, ?)", [(100, "a"), (0, "b")])
    assert raised.value.sqlstate == "23505"
    assert con.execute("SELECT count(*) FROM t WHERE a = 100").fetchone() == (0,)
    assert not con.in_transaction
    assert con.executemany("INSERT INTO t VALUES (?, ?)", []).rowcount in (0, -1)
