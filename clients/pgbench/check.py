"""pgbench: its TPC-B-like script initialises and runs with 8 clients, and no money is lost."""

import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import tests

SECONDS = os.environ.get("FREESTONE_PGBENCH_SECONDS", "5")


def run(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


def one(sql):
    status, shown = run("psql", "-XqAt", "-c", sql)
    assert status == 0, shown
    return shown.strip()


class Pgbench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        status, shown = run("pgbench", "-i", "-s", "2", "--foreign-keys")
        assert status == 0, shown

    def test_tables_are_filled(self):
        self.assertEqual(one("SELECT count(*) FROM pgbench_accounts"), "200000")
        self.assertEqual(one("SELECT count(*) FROM pgbench_tellers"), "20")
        status, shown = run("pgbench", "-i", "-s", "1", "-I", "dtGvp")
        self.assertEqual(status, 0, shown)
        self.assertEqual(one("SELECT count(*) FROM pgbench_accounts"), "100000")
        status, shown = run("pgbench", "-i", "-s", "2")
        self.assertEqual(status, 0, shown)

    def ran(self, *arguments):
        status, shown = run("pgbench", "-n", "-c", "8", "-j", "2", "-T", SECONDS, *arguments)
        self.assertEqual(status, 0, shown)
        self.assertIn("number of failed transactions: 0 ", shown)
        count = int(re.search(r"actually processed: (\d+)", shown)[1])
        self.assertGreater(count, 0, shown)
        print(f"pgbench {' '.join(arguments)}: {count} transactions with 8 clients")
        return count

    def test_eight_clients_with_each_protocol(self):
        for protocol in ["simple", "extended", "prepared"]:
            one("TRUNCATE pgbench_history")
            before = [one(f"SELECT sum({kind[0]}balance) FROM pgbench_{kind}s") for kind in ("account", "teller")]
            before.append(one("SELECT sum(bbalance) FROM pgbench_branches"))
            count = self.ran("-M", protocol, "--max-tries", "1000")
            after = [one(f"SELECT sum({kind[0]}balance) FROM pgbench_{kind}s") for kind in ("account", "teller")]
            after.append(one("SELECT sum(bbalance) FROM pgbench_branches"))
            moved = one("SELECT sum(delta) FROM pgbench_history")
            for start, end in zip(before, after):
                self.assertEqual(int(end) - int(start), int(moved), protocol)
            self.assertEqual(int(one("SELECT count(*) FROM pgbench_history")), count)

    def test_key_look_ups(self):
        self.ran("-S", "-M", "prepared")


if __name__ == "__main__":
    tests.main()
