"""Connections, transactions, errors, threads."""

import os
import signal
import subprocess
import sys
import threading
import time

import freestone
import pytest

# Minutes, in steps of which each is short: a join without a key lets go of its thread only
# after some of them.
SLOW = (
    "SELECT count(*) FROM generate_series(1, 10) a(value), generate_series(1, 9000000000) b(value)"
    " WHERE a.value * b.value % 7 = 3"
)


def test_errors_say_what_where_and_how(con):
    con.execute("CREATE TABLE stones (a INTEGER)")
    with pytest.raises(freestone.ProgrammingError) as raised:
        con.execute("SELECT *\nFROM stone")
    error = raised.value
    assert (error.sqlstate, error.line, error.column) == ("42P01", 2, 6)
    assert "stones" in error.hint and "HINT" in str(error)


@pytest.mark.parametrize(
    "sql, kind",
    [
        ("SELEC 1", freestone.ProgrammingError),
        ("SELECT 1 / 0", freestone.DataError),
        ("INSERT INTO t VALUES (NULL)", freestone.IntegrityError),
        ("LISTEN x", freestone.NotSupportedError),
        ("SET threads = 'many'", freestone.DataError),
    ],
)
def test_exceptions_follow_sqlstate(con, sql, kind):
    con.execute("CREATE TABLE t (a INTEGER NOT NULL)")
    with pytest.raises(kind) as raised:
        con.execute(sql).fetchall()
    assert raised.value.sqlstate
    assert isinstance(raised.value, con.DatabaseError)


def test_transactions(con):
    con.execute("CREATE TABLE t (a INTEGER)")
    with con.transaction():
        con.execute("INSERT INTO t VALUES (1)")
        with pytest.raises(ZeroDivisionError), con.transaction():
            con.execute("INSERT INTO t VALUES (2)")
            raise ZeroDivisionError
    with pytest.raises(freestone.DataError), con.transaction():
        con.execute("INSERT INTO t VALUES (3)")
        con.execute("SELECT 1 / 0").fetchall()
    assert not con.in_transaction
    assert con.execute("SELECT a FROM t").fetchall() == [(1,)]
    con.begin()
    con.execute("DELETE FROM t")
    con.rollback()
    con.commit()
    assert con.execute("SELECT count(*) FROM t").fetchone() == (1,)


def test_transactions_that_begin_by_themselves(tmp_path):
    path = tmp_path / "db"
    with freestone.connect(path) as con:
        con.execute("CREATE TABLE t (a INTEGER)")
    con = freestone.connect(path, autocommit=False)
    con.execute("INSERT INTO t VALUES (1)")
    assert con.in_transaction
    con.rollback()
    con.execute("INSERT INTO t VALUES (2)")
    con.commit()
    con.execute("INSERT INTO t VALUES (3)")
    con.close()
    with freestone.connect(path) as con:
        assert con.execute("SELECT a FROM t").fetchall() == [(2,)]
    with freestone.connect(path, autocommit=False) as con:
        con.execute("INSERT INTO t VALUES (4)")
    with pytest.raises(KeyError), freestone.connect(path, autocommit=False) as con:
        con.execute("INSERT INTO t VALUES (5)")
        raise KeyError
    with freestone.connect(path) as con:
        assert con.execute("SELECT a FROM t ORDER BY a").fetchall() == [(2,), (4,)]


def test_connections_share_a_database(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    one = freestone.connect("db")
    two = freestone.connect(tmp_path / "." / "db")
    one.execute("CREATE TABLE t AS SELECT 1 AS a")
    cursor = two.execute("SELECT a FROM t")
    one.close()
    assert cursor.fetchall() == [(1,)]
    left = two.execute("SELECT a FROM t")
    two.close()
    with pytest.raises(freestone.InterfaceError, match="closed"):
        left.fetchall()
    # It has closed with its last connection: another process may write it now.
    script = "import freestone; freestone.connect('db').execute('INSERT INTO t VALUES (2)')"
    subprocess.run([sys.executable, "-c", script], check=True)
    with freestone.connect("db") as con:
        assert con.execute("SELECT a FROM t ORDER BY a").fetchall() == [(1,), (2,)]


def test_reading_only(tmp_path):
    path = tmp_path / "db"
    with pytest.raises(freestone.Error):
        freestone.connect(path, read_only=True)
    writer = freestone.connect(path)
    writer.execute("CREATE TABLE t AS SELECT 1 AS a")
    reader = freestone.connect(path, read_only=True)
    with pytest.raises(freestone.InternalError) as raised:
        reader.execute("INSERT INTO t VALUES (2)")
    assert raised.value.sqlstate == "25006"
    writer.execute("INSERT INTO t VALUES (3)")
    assert reader.execute("SELECT count(*) FROM t").fetchone() == (2,)
    reader.close()
    writer.close()


def test_options():
    con = freestone.connect(threads=1, memory_limit="1GB", settings={"timezone": "Europe/Berlin"})
    assert con.execute("SHOW threads").fetchone() == ("1",)
    assert con.execute("SHOW timezone").fetchone() == ("Europe/Berlin",)
    with pytest.raises(freestone.DataError):
        freestone.connect(memory_limit="much")
    with pytest.raises(freestone.ProgrammingError):
        freestone.connect(settings={"colour": "red"})


def test_two_sessions_in_memory(con):
    other = con.duplicate()
    con.begin()
    con.execute("CREATE TABLE t (a INTEGER)")
    with pytest.raises(freestone.ProgrammingError):
        other.execute("SELECT * FROM t")
    con.commit()
    assert other.execute("SELECT count(*) FROM t").fetchone() == (0,)
    other.close()
    assert not con.closed


def test_threads(con):
    con.execute("CREATE TABLE t (a INTEGER PRIMARY KEY)")
    failures = []

    def work(number):
        try:
            mine = con.duplicate() if number % 2 else con
            for n in range(50):
                mine.execute("INSERT INTO t VALUES (?)", [number * 1000 + n])
                mine.execute("SELECT count(*) FROM t WHERE a >= ?", [number * 1000]).fetchone()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert con.execute("SELECT count(*) FROM t").fetchone() == (300,)


def test_others_run_while_the_database_works(con):
    ticks = []
    worker = threading.Thread(target=lambda: pytest.raises(freestone.Error, con.execute(SLOW).fetchall))
    worker.start()
    begun = time.monotonic()
    while time.monotonic() - begun < 0.5:
        ticks.append(1)
        time.sleep(0.005)
    con.interrupt()
    worker.join(10)
    assert not worker.is_alive()
    assert len(ticks) > 30


def test_an_interrupt_stops_a_query(con):
    timer = threading.Timer(0.3, con.interrupt)
    timer.start()
    begun = time.monotonic()
    with pytest.raises(freestone.OperationalError) as raised:
        con.execute(SLOW).fetchall()
    assert raised.value.sqlstate == "57014"
    assert time.monotonic() - begun < 5
    assert con.execute("SELECT 1").fetchone() == (1,)


@pytest.fixture
def interruptible():
    # Whoever runs the tests in the background has the signal ignored, by them as well.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_control_c_stops_a_query(con):
    con.execute("CREATE TABLE t (a INTEGER)")
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        con.execute(SLOW).fetchall()
    assert time.monotonic() - begun < 5
    # Also one of many changes, of which nothing stays.
    many = [[n] for n in range(1_000_000)]
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        con.executemany("INSERT INTO t VALUES (?)", many)
    assert not con.in_transaction
    assert con.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_a_closed_connection(con):
    cursor = con.execute("SELECT 1")
    con.close()
    con.close()
    for act in (con.commit, con.cursor, cursor.fetchall, lambda: con.execute("SELECT 1")):
        with pytest.raises(freestone.InterfaceError) as raised:
            act()
        assert raised.value.sqlstate == "08003"
    assert "closed" in repr(con)


def test_after_a_fork_it_is_refused(con):
    con.execute("SELECT 1").fetchall()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            con.execute("SELECT 1").fetchall()
            os.write(writer, b"ran")
        except freestone.InterfaceError as error:
            os.write(writer, str(error.hint).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert b"spawn" in os.read(reader, 1000)


def test_several_statements(con):
    result = con.execute("CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2); SELECT sum(a) FROM t")
    assert result.fetchall() == [(3,)]
    assert con.execute("  -- nothing\n").description is None
    with pytest.raises(freestone.ProgrammingError):
        con.execute("SELECT 1; SELECT ?", [1])


def test_the_shared_database():
    freestone.execute("CREATE TABLE of_the_process (a INTEGER)")
    assert freestone.sql("SELECT count(*) FROM of_the_process").fetchone() == (0,)


def test_notices_are_kept_until_asked_for():
    con = freestone.connect()
    con.execute("DROP TABLE IF EXISTS nowhere")
    assert con.notices() == ['NOTICE: table "nowhere" does not exist, skipping']
    assert con.notices() == []
