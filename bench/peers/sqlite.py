import calendar
import datetime
import decimal
import re
import sqlite3


class Sqlite(Peer):
    """SQLite in this process: one thread, and memory for the whole file.

    It has no dates and no decimals. Dates are text, which compares as they do, and
    decimals are REAL, whose sums agree with the exact ones to ten digits or more.
    """

    def open(self, command):
        self.close(command)
        self.connection = sqlite3.connect(command["open"], isolation_level=None)
        for setting in (
            "journal_mode = OFF",  # nothing is undone here,
            "synchronous = OFF",  # and nothing needs to survive
            "cache_size = -8000000",
            "mmap_size = 8000000000",
            "temp_store = MEMORY",
            # Sorts may use others.
            f"threads = {command.get('threads', 2)}",
            # As LIKE is in the standard.
            "case_sensitive_like = ON",
        ):
            self.connection.execute(f"PRAGMA {setting}")
        return {"version": sqlite3.sqlite_version}

    def load(self, command):
        for table in command["load"]:
            self.fill(table["table"], table["columns"], table["file"])
        for table, indexes in INDEXES.items():
            for number, columns in enumerate(indexes):
                self.connection.execute(f"CREATE INDEX {table}_{number} ON {table} ({columns})")
        self.connection.execute("ANALYZE")
        return {}

    def fill(self, table, columns, path):
        # A key of one INTEGER is the number of the row, the fastest way to it.
        types = (("BIGINT", "INTEGER"), (r"DECIMAL\(\d+,\d+\)", "REAL"), ("DATE", "TEXT"))
        for name, other in types:
            columns = re.sub(rf"\b{name}(?!\w)", other, columns)
        create = f"CREATE TABLE {table} ({columns}, PRIMARY KEY ({KEYS[table]}))"
        self.connection.execute(create)
        self.connection.execute("BEGIN")
        for batch in batches(path, storable):
            marks = ", ".join("?" * batch.num_columns)
            rows = zip(*[column.to_pylist() for column in batch.columns])
            self.connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        self.connection.execute("COMMIT")

    def translated(self, text):
        return translated(text)

    def run(self, text):
        cursor = self.connection.execute(text)
        # Rows come one by one: the query runs while they are fetched.
        return None if cursor.description is None else cursor.fetchall()

    def count(self, rows):
        return len(rows)

    def rows(self, rows):
        return rows

    def cancel(self):
        self.connection.interrupt()


def storable(kind):
    """The type of Arrow whose values SQLite can store."""
    import pyarrow

    if pyarrow.types.is_decimal(kind):
        return pyarrow.float64()
    return kind if pyarrow.types.is_integer(kind) else pyarrow.string()


def translated(text):
    """A query of the standard without what SQLite lacks: literals and sums of dates,
    exact sums of decimals, parts of dates and texts, names of a sub-query's columns."""
    date = r"date\s+'(\d+)-(\d+)-(\d+)'"
    moved = date + r"\s*([+-])\s*interval\s+'(\d+)'\s+(day|month|year)"
    text = re.sub(moved, lambda found: "'%s'" % later(*found.groups()), text)
    text = re.sub(date, r"'\1-\2-\3'", text)
    number = r"(\d+\.\d+)"
    text = re.sub(rf"{number}\s*([+-])\s*{number}", lambda found: added(*found.groups()), text)
    text = re.sub(r"extract\(year from (\w+)\)", r"CAST(substr(\1, 1, 4) AS INTEGER)", text)
    text = re.sub(r"substring\((\w+) from (\d+) for (\d+)\)", r"substr(\1, \2, \3)", text)
    named = re.search(r"from \((.*)\) as (\w+) \(([\w, ]+)\)", text, re.DOTALL)
    if named:
        body, name, columns = named.groups()
        text = text.replace(named.group(), f"from {name}")
        text = f"WITH {name} ({columns}) AS ({body})\n{text}"
    return text


def later(year, month, day, sign, count, unit):
    """A date with an interval added or taken away."""
    count = int(sign + count)
    start = datetime.date(int(year), int(month), int(day))
    if unit == "day":
        return start + datetime.timedelta(days=count)
    months = start.year * 12 + start.month - 1 + count * {"month": 1, "year": 12}[unit]
    year, month = months // 12, months % 12 + 1
    return datetime.date(year, month, min(start.day, calendar.monthrange(year, month)[1]))


def added(left, sign, right):
    """The sum of two decimals, exactly: in floats 0.06 + 0.01 is less than 0.07."""
    return str(decimal.Decimal(left) + decimal.Decimal(sign + right))


main(Sqlite())
