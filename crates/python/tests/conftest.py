import freestone
import pytest


@pytest.fixture
def con():
    with freestone.connect() as connection:
        yield connection


@pytest.fixture
def stones(con):
    con.execute("CREATE TABLE stones (name TEXT PRIMARY KEY, mohs DECIMAL(3,1), found DATE)")
    con.executemany(
        "INSERT INTO stones VALUES (?, ?, ?)",
        [("talc", 1, None), ("quartz", 7, "2024-02-29"), ("diamond", 10, "1869-03-01")],
    )
    return con


def pytest_terminal_summary(terminalreporter):
    """The closing line that the project's other runners have."""
    of = lambda *kinds: sum(len(terminalreporter.stats.get(kind, [])) for kind in kinds)
    passed, failed, skipped = of("passed", "xfailed"), of("failed", "error"), of("skipped")
    terminalreporter.write_line(f"{passed} passed, {failed} failed, {skipped} skipped")
