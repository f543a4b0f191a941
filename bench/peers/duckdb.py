import duckdb


class DuckDb(Peer):
    """DuckDB, asked for Arrow batches."""

    def open(self, command):
        self.close(command)
        config = {"threads": command.get("threads", 2)}
        self.connection = duckdb.connect(command["open"], config=config)
        self.connection.execute("SET enable_progress_bar = false")
        return {"version": duckdb.__version__}

    def load(self, command):
        for table in command["load"]:
            name, file = table["table"], literal(table["file"])
            self.run(f"CREATE TABLE {name} AS SELECT * FROM read_parquet({file})")
        self.run("CHECKPOINT")
        return {}

    def run(self, text):
        # Queries are relations here, and others are run at once: this way
        # there is no copy between DuckDB's chunks and Arrow's.
        relation = self.connection.sql(text)
        return None if relation is None else relation.to_arrow_table()

    def count(self, table):
        return table.num_rows

    def rows(self, table):
        return zip(*[column.to_pylist() for column in table.columns])

    def cancel(self):
        self.connection.interrupt()

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


main(DuckDb())
