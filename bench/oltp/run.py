#!/usr/bin/env python3
"""Transactions beside PostgreSQL: `make bench-oltp`.

    bench/oltp/run.py PROGRAM [--only NAME,…] [--clients 1,16] [--rounds 3] [--seconds 20]

Both servers run on the same cores and are asked in turns; each with the settings of its default
installation, but for PostgreSQL's shared_buffers, which are 512 MB. A commit is durable on both.
While one is asked, all processes of the other are stopped: work that a server leaves for later, such
as vacuuming or moving rows into blocks, falls into its own turns.
A line gives the medians of the rounds and the ratio of Freestone's rate to PostgreSQL's. At the
end stand the bars, and the program ends with 1 if one of them is missed.

| name | asks | comes from |
|---|---|---|
| tpcc | go-tpc's TPC-C, as loaded, and its check of the rows afterwards | the Go proxy |
| ch | go-tpc's CH-benCHmark: queries beside the transactions | the Go proxy |
| sysbench | its OLTP scripts | the package `sysbench` |
| ycsb | YCSB's workloads a to f, by go-ycsb | the Go proxy |
| pgbench | TPC-B, simple and prepared, and look-ups | PostgreSQL |
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOOLS = Path(os.environ.get("CACHE", Path.home() / ".cache/freestone/oltp"))
MODULES = {"go-tpc": "github.com/pingcap/go-tpc/cmd/go-tpc@v1.0.12"}
SYSBENCH = [
    "oltp_point_select", "oltp_read_only", "oltp_read_write", "oltp_write_only", "oltp_insert",
    "oltp_delete", "oltp_update_index", "oltp_update_non_index", "select_random_points",
    "select_random_ranges",
]
# The shares of operations, and how keys are drawn, of each workload of YCSB.
YCSB = {
    "a": "readproportion=0.5 updateproportion=0.5 requestdistribution=zipfian",
    "b": "readproportion=0.95 updateproportion=0.05 requestdistribution=zipfian",
    "c": "readproportion=1 updateproportion=0 requestdistribution=zipfian",
    "d": "readproportion=0.95 updateproportion=0 insertproportion=0.05 requestdistribution=latest",
    "e": "readproportion=0 updateproportion=0 scanproportion=0.95 insertproportion=0.05 "
         "maxscanlength=100 scanlengthdistribution=uniform requestdistribution=zipfian",
    "f": "readproportion=0.5 updateproportion=0 readmodifywriteproportion=0.5 "
         "requestdistribution=zipfian",
}
DATABASE = "freestone"
USER = "tester"


def program(name):
    """The path of a tool: one that is installed, or one that is built from its Go module, which may
    be a folder here."""
    found = shutil.which(name)
    folder = Path(__file__).parent / name
    if found or (name not in MODULES and not folder.is_dir()):
        return found or sys.exit(f"needs {name}, which is not installed")
    path = TOOLS / name
    if not path.exists():
        TOOLS.mkdir(parents=True, exist_ok=True)
        print(f"building {name}", flush=True)
        if name in MODULES:
            subprocess.run(["go", "install", MODULES[name]], check=True,
                           env={**os.environ, "GOBIN": str(TOOLS)})
        else:
            subprocess.run(["go", "build", "-o", str(path), "."], check=True, cwd=folder)
    return str(path)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server, its port and its process."""

    def __init__(self, name, port):
        self.name = name
        self.port = port

    def processes(self):
        """The numbers of its processes."""
        raise NotImplementedError

    def signal(self, number):
        """Sends a signal to all its processes."""
        for process in self.processes():
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def sql(self, text, database=DATABASE):
        subprocess.run(["psql", "-X", "-q", "-h", "127.0.0.1", "-p", str(self.port), "-U", USER,
                        "-d", database, "-c", text], check=True, stdout=subprocess.DEVNULL)


class Postgres(Server):
    """A PostgreSQL cluster in a folder of its own."""

    def __init__(self, folder):
        super().__init__("PostgreSQL", free_port())
        binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        path = os.pathsep.join([os.environ["PATH"], *map(str, binaries)])
        os.environ["PATH"] = path
        self.control = shutil.which("pg_ctl") or sys.exit("needs a PostgreSQL server")
        self.data = folder / "pg"
        self.data.mkdir()
        folder.chmod(0o755)
        self.account = []
        if os.getuid() == 0:
            # PostgreSQL's server does not run as root.
            shutil.chown(self.data, "postgres")
            self.account = ["runuser", "-u", "postgres", "--"]
        self.run("initdb", "-D", f"{self.data}/data", "-U", USER, "-A", "trust", "-E", "UTF8",
                 "--no-locale")
        options = (f"-p {self.port} -k {self.data} -c listen_addresses=127.0.0.1 "
                   "-c shared_buffers=512MB -c max_connections=200")
        self.run("pg_ctl", "-D", f"{self.data}/data", "-o", options, "-l", f"{self.data}/log",
                 "-w", "start")
        self.sql(f"CREATE DATABASE {DATABASE}", "postgres")

    def run(self, name, *words):
        subprocess.run([*self.account, shutil.which(name), *words], check=True,
                       stdout=subprocess.DEVNULL, cwd="/")

    def processes(self):
        first = Path(f"{self.data}/data/postmaster.pid").read_text(encoding="ascii").split()[0]
        children = Path(f"/proc/{first}/task/{first}/children").read_text(encoding="ascii").split()
        return [int(first), *map(int, children)]

    def stop(self):
        self.run("pg_ctl", "-D", f"{self.data}/data", "-m", "immediate", "stop")


class Freestone(Server):
    """A Freestone server over a database in a folder of its own."""

    def __init__(self, path, folder):
        super().__init__("Freestone", free_port())
        self.folder = folder / "freestone"
        self.log = open(folder / "log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [path, "serve", str(self.folder), "--port", str(self.port), "--connections", "200"],
            stdout=self.log, stderr=subprocess.STDOUT)
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        sys.exit("Freestone does not listen")

    def processes(self):
        return [self.process.pid]

    def memory(self):
        """Resident bytes of the process."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def disk(self):
        """Bytes of the database's files."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return sum(path.stat().st_size for path in files)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def asked(words, **more):
    """The output of a tool; its end with an error is one of this program."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}\n{done.stdout[-2000:]}")
    return done.stdout


def number(pattern, text, what):
    """The last number that a pattern finds in a tool's output."""
    found = re.findall(pattern, text)
    if not found:
        sys.exit(f"{what} printed no rate:\n{text[-2000:]}")
    return float(found[-1])


class Bench:
    """What is compared, and the lines so far."""

    def __init__(self, servers, options):
        self.servers = servers
        self.options = options
        self.ratios = {}
        self.medians = {}
        self.missed = []

    @contextlib.contextmanager
    def alone(self, server):
        """Stops the processes of the others meanwhile."""
        others = [other for other in self.servers if other is not server]
        for other in others:
            other.signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for other in others:
                other.signal(signal.SIGCONT)

    def turns(self, name, clients, rate):
        """Asks both servers in turns; `rate` gives events a second of one."""
        rates = {server.name: [] for server in self.servers}
        for _ in range(self.options.rounds):
            for server in self.servers:
                with self.alone(server):
                    rates[server.name].append(rate(server, clients))
        self.medians = {name: statistics.median(all_of) for name, all_of in rates.items()}
        theirs, ours = (self.medians[server.name] for server in self.servers)
        ratio = ours / theirs if theirs else float("inf")
        print(f"{name:36} {clients:3} clients  PostgreSQL {theirs:10.1f}  "
              f"Freestone {ours:10.1f}  ratio {ratio:6.2f}", flush=True)
        self.ratios[name, clients] = ratio
        return ratio

    def bar(self, name, value, least):
        """A bar: the least value that is wanted."""
        kept = value >= least
        print(f"{name}: {value:.2f} (wanted: at least {least})", flush=True)
        if not kept:
            self.missed.append(name)

    def geometric_mean(self):
        values = [value for value in self.ratios.values() if value > 0]
        return statistics.geometric_mean(values) if values else 0.0


def go_tpc(server, *words):
    return [program("go-tpc"), *words, "-d", "postgres", "-H", "127.0.0.1", "-P",
            str(server.port), "-U", USER, "-p", "x", "-D", DATABASE, "--conn-params",
            "sslmode=disable"]


def errors_of(text):
    """How many transactions of a run of go-tpc failed."""
    return sum(int(count) for count in
               re.findall(r"^\[Summary\] \w+_ERR.*?Count: (\d+)", text, re.MULTILINE))


def tpcc(bench):
    """TPC-C: tpmC with each number of clients, and the rows afterwards."""
    options = bench.options
    sizes = ["--warehouses", str(options.warehouses)]
    for server in bench.servers:
        asked(go_tpc(server, "tpcc", "prepare", *sizes, "-T", "2"))
    failed = {server.name: 0 for server in bench.servers}

    def rate(server, clients):
        text = asked(go_tpc(server, "tpcc", "run", *sizes, "-T", str(clients), "--time",
                            f"{options.seconds}s"))
        failed[server.name] += errors_of(text)
        return number(r"tpmC: ([\d.]+)", text, "go-tpc")

    for clients in options.clients:
        ratio = bench.turns("TPC-C, new orders a minute", clients, rate)
        bench.bar(f"TPC-C with {clients} clients", ratio, 1.0)
    for server in bench.servers:
        # Without it, a join of the check takes PostgreSQL minutes.
        server.sql("ANALYZE")
        asked(go_tpc(server, "tpcc", "check", *sizes))
        print(f"{server.name}: the check of TPC-C finds nothing; "
              f"{failed[server.name]} transactions failed", flush=True)
    if failed["Freestone"] > failed["PostgreSQL"]:
        bench.missed.append("errors that PostgreSQL does not give")


def ch(bench):
    """CH-benCHmark: both rates of each server, together and alone."""
    options = bench.options
    sizes = ["--warehouses", str(options.warehouses)]
    for server in bench.servers:
        asked(go_tpc(server, "tpcc", "prepare", *sizes, "-T", "2", "--dropdata"))
        asked(go_tpc(server, "ch", "prepare", *sizes))
    transactions, queries = {}, {}

    def run(server, clients, analysts):
        return asked(go_tpc(server, "ch", "run", *sizes, "-T", str(clients), "-t", str(analysts),
                            "--time", f"{options.seconds}s"))

    def both(server, clients):
        text = run(server, clients, 1)
        queries.setdefault(server.name, []).append(number(r"QphH: ([\d.]+)", text, "go-tpc ch"))
        return number(r"tpmC: ([\d.]+)", text, "go-tpc ch")

    for clients in options.clients:
        queries.clear()
        ratio = bench.turns("CH-benCHmark, new orders a minute", clients, both)
        transactions[clients] = ratio
        theirs, ours = (statistics.median(queries[server.name]) for server in bench.servers)
        share = ours / theirs if theirs else float("inf")
        print(f"{'CH-benCHmark, queries an hour':36} {clients:3} clients  "
              f"PostgreSQL {theirs:10.1f}  Freestone {ours:10.1f}  ratio {share:6.2f}")
        bench.bar(f"CH-benCHmark's queries with {clients} clients", share, 5.0)
        bench.bar(f"CH-benCHmark's transactions with {clients} clients", ratio, 1.0)
        # What each has beside the other, of its rate alone.
        server = bench.servers[1]
        with bench.alone(server):
            alone = [number(pattern, run(server, *counts), "go-tpc ch") for pattern, counts in (
                (r"tpmC: ([\d.]+)", (clients, 0)), (r"QphH: ([\d.]+)", (0, 1)))]
        shares = [bench.medians[server.name] / alone[0], ours / alone[1]]
        print(f"{'CH-benCHmark, shares of rates alone':36} {clients:3} clients  "
              f"new orders {shares[0]:.2f} of {alone[0]:.0f}  queries {shares[1]:.2f} of {alone[1]:.0f}")
        bench.bar(f"CH-benCHmark's shares with {clients} clients", shares[0] * shares[1], 0.35)


def sysbench(bench):
    """sysbench's scripts, by transactions a second."""
    def words(server, script, *more):
        # The scripts of look-ups by several values know one table only.
        tables = 1 if script.startswith("select") else 2
        return [program("sysbench"), "--db-driver=pgsql", "--pgsql-host=127.0.0.1",
                f"--pgsql-port={server.port}", f"--pgsql-user={USER}", f"--pgsql-db={DATABASE}",
                f"--tables={tables}", f"--table-size={bench.options.rows}", script, *more]

    for script in SYSBENCH:
        for server in bench.servers:
            asked(words(server, script, "prepare"))
        for clients in bench.options.clients:
            def rate(server, clients, script=script):
                text = asked(words(server, f"--threads={clients}",
                                   f"--time={bench.options.seconds}", script, "run"))
                return number(r"transactions:\s+\d+\s+\(([\d.]+) per sec", text, "sysbench")
            ratio = bench.turns(f"sysbench {script}", clients, rate)
            bench.bar(f"sysbench {script} with {clients} clients", ratio, 1.0)
        for server in bench.servers:
            asked(words(server, script, "cleanup"))


def ycsb(bench):
    """YCSB's workloads, by operations a second. Each begins with rows loaded anew."""
    def words(server, command, *more):
        return [program("ycsb"), command, "pg.host=127.0.0.1", f"pg.port={server.port}",
                f"pg.user={USER}", f"pg.db={DATABASE}", "pg.sslmode=disable",
                f"recordcount={bench.options.rows}", *more]

    for name, shares in YCSB.items():
        for server in bench.servers:
            asked(words(server, "load", "threadcount=16", "dropdata=true"))
        for clients in bench.options.clients:
            def rate(server, clients, shares=shares):
                # Keys are drawn among all rows that so many operations may add.
                each_second = 5_000 if "insertproportion" in shares else 1_000_000
                seconds = bench.options.seconds
                text = asked(words(server, "run", f"threadcount={clients}",
                                   f"operationcount={seconds * each_second}",
                                   f"maxexecutiontime={seconds}", *shares.split()))
                failed = re.findall(r"(\w+_ERROR).*?Count: (\d+)", text)
                if failed:
                    # The end of the time cancels those that are under way.
                    print(f"  {type(server).__name__}, operations that failed: {failed}")
                return number(r"TOTAL.*?OPS: ([\d.]+)", text, "ycsb")
            ratio = bench.turns(f"YCSB {name}", clients, rate)
            bench.bar(f"YCSB {name} with {clients} clients", ratio, 1.0)


def pgbench(bench):
    """pgbench's TPC-B by both protocols, and look-ups by key."""
    def words(server, *more):
        return [program("pgbench"), "-h", "127.0.0.1", "-p", str(server.port), "-U", USER, *more,
                DATABASE]

    for server in bench.servers:
        asked(words(server, "-i", "-q", "-s", "10"))
    kinds = [("TPC-B, simple", ["-M", "simple"]), ("TPC-B, prepared", ["-M", "prepared"]),
             ("look-ups, prepared", ["-S", "-M", "prepared"])]
    for name, more in kinds:
        for clients in bench.options.clients:
            def rate(server, clients, more=more):
                threads = "1" if clients == 1 else "2"
                text = asked(words(server, "-n", "-T", str(bench.options.seconds), "-c",
                                   str(clients), "-j", threads, *more))
                return number(r"tps = ([\d.]+)", text, "pgbench")
            ratio = bench.turns(f"pgbench {name}", clients, rate)
            bench.bar(f"pgbench {name} with {clients} clients", ratio, 1.0)
    for server in bench.servers:
        text = subprocess.run(
            ["psql", "-X", "-q", "-At", "-h", "127.0.0.1", "-p", str(server.port), "-U", USER, "-d",
             DATABASE, "-c", "SELECT (SELECT sum(abalance) FROM pgbench_accounts) = "
             "(SELECT sum(delta) FROM pgbench_history)"], check=True, stdout=subprocess.PIPE,
            text=True).stdout.strip()
        print(f"{server.name}: balances {'add up' if text == 't' else 'DO NOT ADD UP'}")
        if text != "t":
            bench.missed.append(f"sums of {server.name}")


PARTS = {"tpcc": tpcc, "pgbench": pgbench, "sysbench": sysbench, "ycsb": ycsb, "ch": ch}


def numbers(text):
    """Numbers with commas between them."""
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the program freestone")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas between them")
    parser.add_argument("--clients", type=numbers, default=[1, 4, 16])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=20, help="of each run")
    parser.add_argument("--warehouses", type=int, default=2)
    parser.add_argument("--rows", type=int, default=100_000, help="of a table of sysbench")
    options = parser.parse_args()
    parts = options.only.split(",")
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        sys.exit(f"there is no part {unknown[0]}; there are {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory() as folder:
        servers = [Postgres(Path(folder)), Freestone(options.program, Path(folder))]
        try:
            servers[1].sql("SELECT 1")
            bench = Bench(servers, options)
            for part in parts:
                PARTS[part](bench)
            ours = servers[1]
            print(f"Freestone holds {ours.memory() >> 20} MiB of memory and "
                  f"{ours.disk() >> 20} MiB of files")
        finally:
            for server in servers:
                server.stop()
    print(f"geometric mean of all ratios: {bench.geometric_mean():.2f}")
    print("missed: " + (", ".join(bench.missed) or "nothing"))
    return 1 if bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
