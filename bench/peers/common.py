"""A database as a process that is asked in lines of JSON.

This text and that of one engine are run as one program. Each line of standard
input is one command, each line of standard output its answer:

    {"ready": true}                         -> {} or {"missing": what is not installed}
    {"open": path, "threads": n}            -> {"version": "…"}; replaces what was open
    {"load": [{"table": name, "columns": text,
               "file": path of Parquet}, …]} -> {}; new tables, with keys and indexes
                                               where the engine gains from them
    {"timeout": seconds}                    -> {}; of each statement from now on, 0 for none
    {"sql": text, "repeat": n, "warm": n,
     "fetch": true}                         -> {"seconds": […], "rows": n, "value": [[…], …]}
                                               or {"seconds": [n], "timed_out": true}
    {"lookup": text with ?, "keys": […]}    -> {"seconds": […], "rows": n}; DuckDB only
    {"size": path}                          -> {"bytes": n}
    {"close": true}                         -> {}

A failure answers {"error": "…"}. Times end when the result is there in the
engine's own form (Arrow batches, as on the other side, where it has them);
turning it into text and sending it is outside, where the driver allows that.
Paths must be of this machine, values are text.
"""

import json
import os
import sys
import threading
import time

COMMANDS = ("ready", "open", "load", "timeout", "sql", "lookup", "size", "close")

# What makes a row of a table unique, for engines that look rows up by keys.
KEYS = {
    "region": "r_regionkey",
    "nation": "n_nationkey",
    "supplier": "s_suppkey",
    "customer": "c_custkey",
    "part": "p_partkey",
    "partsupp": "ps_partkey, ps_suppkey",
    "orders": "o_orderkey",
    "lineitem": "l_orderkey, l_linenumber",
}
# Foreign keys that are not the beginning of a key above.
INDEXES = {
    "nation": ["n_regionkey"],
    "supplier": ["s_nationkey"],
    "customer": ["c_nationkey"],
    "partsupp": ["ps_suppkey"],
    "orders": ["o_custkey"],
    "lineitem": ["l_partkey, l_suppkey", "l_suppkey"],
}


class TimedOut(Exception):
    """A statement took longer than it may."""


class Peer:
    """One connection and the commands on it.

    An engine adds `open`, `load`, `run` (one statement to its last row; None where
    there are no rows), `count` and `rows` of what `run` gave, and `cancel`.
    """

    def __init__(self):
        self.connection = None
        self.limit = 0

    def ready(self, _command):
        return {}

    def close(self, _command):
        if self.connection is not None:
            self.connection.close()
            self.connection = None
        return {}

    def timeout(self, command):
        self.limit = command["timeout"]
        return {}

    def size(self, command):
        return {"bytes": os.path.getsize(command["size"])}

    def translated(self, text):
        """The statement in the engine's own spelling."""
        return text

    def timed(self, text):
        """Runs one statement; its seconds and what `run` gave."""
        if not self.limit:
            start = time.perf_counter()
            result = self.run(text)
            return time.perf_counter() - start, result
        late = threading.Event()

        def stop():
            late.set()
            self.cancel()

        timer = threading.Timer(self.limit, stop)
        timer.start()
        try:
            start = time.perf_counter()
            result = self.run(text)
            return time.perf_counter() - start, result
        except Exception:
            if late.is_set():
                raise TimedOut from None
            raise
        finally:
            # Whatever it still does must not meet the next statement.
            timer.cancel()
            timer.join()

    def sql(self, command):
        text = self.translated(command["sql"])
        seconds, result = [], None
        try:
            for _ in range(command.get("warm", 0)):
                self.timed(text)
            for _ in range(command.get("repeat", 1)):
                took, result = self.timed(text)
                seconds.append(took)
        except TimedOut:
            return {"seconds": [self.limit], "timed_out": True}
        answer = {"seconds": seconds, "rows": 0 if result is None else self.count(result)}
        if result is not None and command.get("fetch"):
            answer["value"] = [list(map(shown, row)) for row in self.rows(result)]
        return answer


def shown(value):
    """A cell as text; NULL stays null."""
    return None if value is None else str(value)


def literal(text):
    """A text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def batches(path, cast):
    """A Parquet file in parts, with the type that `cast` gives for each type of Arrow."""
    import pyarrow
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(path)
    fields = [pyarrow.field(field.name, cast(field.type)) for field in file.schema_arrow]
    schema = pyarrow.schema(fields)
    for batch in file.iter_batches(batch_size=1 << 16):
        columns = [column.cast(field.type) for column, field in zip(batch.columns, fields)]
        yield pyarrow.record_batch(columns, schema=schema)


def main(peer):
    # Whatever else prints must not get between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        for line in sys.stdin:
            print(json.dumps(answered(peer, line)), file=answers, flush=True)
    finally:
        peer.close({})


def answered(peer, line):
    """What a command gives, or why it gives nothing."""
    try:
        command = json.loads(line)
        name = next(name for name in COMMANDS if name in command)
        return getattr(peer, name)(command)
    except StopIteration:
        return {"error": "no such command"}
    except Exception as error:  # the other side decides what to do about it
        return {"error": f"{type(error).__name__}: {error}"}
