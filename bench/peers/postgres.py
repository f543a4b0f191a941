import glob
import io
import pwd
import re
import shutil
import subprocess
import tempfile

import psycopg

# Waits for the end of its input, which comes however the process ends that started
# it, then stops the server and removes its folder.
GUARD = """
cat
"$1/pg_ctl" stop --pgdata "$2/data" --mode immediate --silent
rm -rf "$2"
"""


class Postgres(Peer):
    """PostgreSQL: a server of its own in a temporary folder, reached through a socket
    there. It ends with this process, and its folder with it."""

    def __init__(self):
        super().__init__()
        self.guard = None

    def ready(self, _command):
        try:
            programs()
        except FileNotFoundError as error:
            return {"missing": str(error)}
        return {}

    def open(self, command):
        self.close(command)
        place, user = programs(), owner()
        folder = tempfile.mkdtemp(prefix="freestone-postgres-")
        if user:
            shutil.chown(folder, user["user"], user["group"])
        # In a session of its own, so that an interrupt from the keyboard leaves it its work.
        self.guard = subprocess.Popen(
            ["sh", "-c", GUARD, "guard", place, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            start_new_session=True,
            **user,
        )
        data = f"{folder}/data"
        started([f"{place}/initdb", "--pgdata", data, "--username", "bench", "--auth", "trust",
                 "--encoding", "UTF8", "--locale", "C", "--no-sync"], folder, user)
        options = " ".join(f"-c {name}={value}" for name, value in settings(folder, command))
        started([f"{place}/pg_ctl", "start", "--wait", "--silent", "--pgdata", data,
                 "--log", f"{folder}/log", "--options", options], folder, user)
        self.connection = psycopg.connect(
            host=folder, user="bench", dbname="postgres", autocommit=True
        )
        return {"version": self.connection.execute("SHOW server_version").fetchone()[0]}

    def close(self, command):
        super().close(command)
        if self.guard is not None:
            self.guard.stdin.close()
            self.guard.wait()
            self.guard = None
        return {}

    def load(self, command):
        for table in command["load"]:
            self.fill(table["table"], table["columns"], table["file"])
        for table, key in KEYS.items():
            self.connection.execute(f"ALTER TABLE {table} ADD PRIMARY KEY ({key})")
            for columns in INDEXES.get(table, []):
                self.connection.execute(f"CREATE INDEX ON {table} ({columns})")
        self.connection.execute("VACUUM ANALYZE")
        self.connection.execute("CHECKPOINT")
        return {}

    def fill(self, table, columns, path):
        import pyarrow.csv

        # Without the blanks that CHAR is filled up with: less to read and to compare.
        columns = re.sub(r"\bCHAR\b", "VARCHAR", columns)
        form = pyarrow.csv.WriteOptions(include_header=False)
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {table} ({columns})")
            with cursor.copy(f"COPY {table} FROM STDIN (FORMAT csv, FREEZE)") as copy:
                for batch in batches(path, printable):
                    text = io.BytesIO()
                    pyarrow.csv.write_csv(batch, text, form)
                    copy.write(text.getbuffer())

    def run(self, text):
        # All rows are here after this, as the server sent them.
        cursor = self.connection.execute(text)
        return None if cursor.description is None else cursor

    def count(self, cursor):
        return cursor.rowcount

    def rows(self, cursor):
        return cursor.fetchall()

    def cancel(self):
        self.connection.cancel_safe()


def programs():
    """The folder with the server's programs."""
    found = [shutil.which("initdb")]
    # Debian keeps them out of the path; the newest first.
    folders = glob.glob("/usr/lib/postgresql/*/bin/initdb")
    found += sorted(folders, key=lambda path: float(path.split("/")[4]), reverse=True)
    for path in filter(None, found):
        folder = os.path.dirname(os.path.realpath(path))
        if os.path.exists(f"{folder}/pg_ctl") and os.path.exists(f"{folder}/postgres"):
            return folder
    raise FileNotFoundError("no initdb, pg_ctl and postgres in PATH or where Debian has them")


def owner():
    """As whom the server runs: it refuses to as root."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    name = "postgres" if "postgres" in names else "nobody"
    return {"user": name, "group": pwd.getpwnam(name).pw_gid, "extra_groups": []}


def settings(folder, command):
    """A server for one client and large queries, which nothing needs to survive."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    workers = command.get("threads", 2) - 1
    return {
        "listen_addresses": "",
        "unix_socket_directories": folder,
        "shared_buffers": f"{memory // 4}MB",
        "effective_cache_size": f"{memory * 3 // 4}MB",
        "work_mem": "256MB",
        "maintenance_work_mem": "1GB",
        # The leader works, too.
        "max_parallel_workers_per_gather": workers,
        "max_parallel_maintenance_workers": workers,
        # Everything is in memory.
        "random_page_cost": 1.1,
        # With it all queries together took as long.
        "jit": "off",
        "autovacuum": "off",
        "fsync": "off",
        "wal_level": "minimal",
        "max_wal_senders": 0,
        "max_wal_size": "8GB",
    }.items()


def started(command, folder, user):
    """Runs a program to its end; its words are the error."""
    # Not through pipes: a server keeps those open that its starter had.
    with open(f"{folder}/words", "w+") as words:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=words,
                              stderr=words, cwd=folder, **user)
        words.seek(0)
        if done.returncode:
            raise RuntimeError(f"{os.path.basename(command[0])} failed: {words.read().strip()}")


def printable(kind):
    """Views of text are not printed as CSV."""
    import pyarrow

    return pyarrow.string() if pyarrow.types.is_string_view(kind) else kind


main(Postgres())
