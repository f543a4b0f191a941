"""DuckDB as a process that is asked in lines of JSON.

Each line of standard input is one command, each line of standard output its answer:

    {"open": path, "threads": n}            -> {"version": "…"}; replaces what was open
    {"sql": text, "repeat": n, "warm": n,
     "fetch": true}                         -> {"seconds": […], "rows": n, "value": [[…], …]}
    {"lookup": text with ?, "keys": […]}    -> {"seconds": […], "rows": n}
    {"size": path}                          -> {"bytes": n}
    {"close": true}                         -> {}

A failure answers {"error": "…"}. Times end when the result is there as Arrow
batches, which is also what the other side is timed for; turning it into text
and sending it is outside. Paths must be of this machine, values are text.
"""

import json
import os
import sys
import time

import duckdb


class Peer:
    """One connection and the commands on it."""

    def __init__(self):
        self.connection = None

    def open(self, command):
        self.close(command)
        config = {"threads": command.get("threads", 2)}
        self.connection = duckdb.connect(command["open"], config=config)
        self.connection.execute("SET enable_progress_bar = false")
        return {"version": duckdb.__version__}

    def close(self, _command):
        if self.connection is not None:
            self.connection.close()
            self.connection = None
        return {}

    def timed(self, text):
        """Runs one statement to its last batch; no table if it returns no rows."""
        start = time.perf_counter()
        # Queries are relations here, and others are run at once: this way
        # there is no copy between DuckDB's chunks and Arrow's.
        relation = self.connection.sql(text)
        table = None if relation is None else relation.to_arrow_table()
        return time.perf_counter() - start, table

    def sql(self, command):
        for _ in range(command.get("warm", 0)):
            self.timed(command["sql"])
        seconds, table = [], None
        for _ in range(command.get("repeat", 1)):
            took, table = self.timed(command["sql"])
            seconds.append(took)
        answer = {"seconds": seconds, "rows": 0 if table is None else table.num_rows}
        if table is not None and command.get("fetch"):
            columns = [column.to_pylist() for column in table.columns]
            answer["value"] = [list(map(shown, row)) for row in zip(*columns)]
        return answer

    def lookup(self, command):
        """One prepared statement for many keys; each run is timed alone."""
        self.connection.execute("PREPARE lookup AS " + command["lookup"])
        seconds, rows = [], 0
        for key in command["keys"]:
            text = f"EXECUTE lookup({key})"
            start = time.perf_counter()
            found = self.connection.execute(text).fetchall()
            seconds.append(time.perf_counter() - start)
            rows += len(found)
        self.connection.execute("DEALLOCATE lookup")
        return {"seconds": seconds, "rows": rows}

    def size(self, command):
        return {"bytes": os.path.getsize(command["size"])}


def shown(value):
    """A cell as text; NULL stays null."""
    return None if value is None else str(value)


def main():
    # Whatever else prints must not get between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    peer = Peer()
    names = ("open", "sql", "lookup", "size", "close")
    for line in sys.stdin:
        try:
            command = json.loads(line)
            name = next(name for name in names if name in command)
            answer = getattr(peer, name)(command)
        except StopIteration:
            answer = {"error": "no such command"}
        except Exception as error:  # the other side decides what to do about it
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


main()
