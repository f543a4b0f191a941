import tableauhyperapi as hyper


class Hyper(Peer):
    """Hyper's server, a process that ends with this one."""

    def __init__(self):
        super().__init__()
        self.server = None

    def open(self, command):
        self.close(command)
        # No log files, and no more threads than the others have.
        parameters = {
            "log_config": "",
            "hard_concurrent_query_thread_limit": str(command.get("threads", 2)),
        }
        self.server = hyper.HyperProcess(
            telemetry=hyper.Telemetry.DO_NOT_SEND_USAGE_DATA_TO_TABLEAU, parameters=parameters
        )
        mode = hyper.CreateMode.CREATE_AND_REPLACE
        self.connection = hyper.Connection(self.server.endpoint, command["open"], mode)
        return {"version": hyper.__version__}

    def close(self, command):
        super().close(command)
        if self.server is not None:
            self.server.close()
            self.server = None
        return {}

    def load(self, command):
        for table in command["load"]:
            name, file = table["table"], literal(table["file"])
            rows = f"SELECT * FROM external({file}, FORMAT => 'parquet')"
            self.connection.execute_command(f"CREATE TABLE {name} AS ({rows})")
        return {}

    def run(self, text):
        """Receives all rows, but makes no values of Python of them, which takes longer
        than many a query."""
        rows = 0
        with self.connection.execute_query(text) as result:
            while result.next_row():
                rows += 1
        return text, rows

    def count(self, result):
        return result[1]

    def rows(self, result):
        return self.connection.execute_list_query(result[0])

    def cancel(self):
        self.connection.cancel()


main(Hyper())
