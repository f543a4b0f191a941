"""dbt: seeds, views, tables, incremental models, a snapshot, tests and documentation, twice."""

import decimal
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import psycopg2

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import tests

PROJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "project")
DBT = os.path.join(os.path.dirname(sys.executable), "dbt")


def rows(sql):
    port = int(os.environ["FREESTONE_PORT"])
    with psycopg2.connect(host="127.0.0.1", port=port, user="tester", dbname="freestone") as connection:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else []


class Dbt(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rows("DROP SCHEMA IF EXISTS shop CASCADE")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.project = shutil.copytree(PROJECT, os.path.join(folder.name, "project"))

    def dbt(self, *arguments):
        done = subprocess.run(
            [DBT, "--no-use-colors", *arguments, "--profiles-dir", "."],
            cwd=self.project,
            env={**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout[-6000:] + done.stderr[-1000:])
        return done.stdout

    def test_a_project_is_built_and_built_again(self):
        self.dbt("debug")
        self.dbt("build")
        self.assertEqual(
            rows("SELECT customer, orders, spent FROM shop.customers ORDER BY customer"),
            [("ada", 2, decimal.Decimal("17.75")), ("bob", 1, decimal.Decimal("20.00")), ("eve", 1, decimal.Decimal("100.00"))],
        )
        with open(os.path.join(self.project, "seeds", "orders.csv"), "a", encoding="utf-8") as seeds:
            seeds.write("5,bob,1,2026-03-01,late\n")
        self.dbt("build")
        self.assertEqual(rows("SELECT count(*), max(ordered_on)::text FROM shop.days"), [(5, "2026-03-01")])
        self.assertEqual(rows("SELECT count(*) FROM shop.amounts"), [(5,)])
        self.assertEqual(rows("SELECT count(*) FROM shop.merged"), [(5,)])
        described = "SELECT obj_description('shop.customers'::regclass, 'pg_class')"
        self.assertEqual(rows(described), [("what customers have spent",)])

    def test_documentation(self):
        self.dbt("build")
        self.dbt("docs", "generate")
        with open(os.path.join(self.project, "target", "catalog.json"), encoding="utf-8") as file:
            nodes = json.load(file)["nodes"]
        columns = nodes["model.shop.customers"]["columns"]
        self.assertEqual(list(columns), ["customer", "orders", "spent", "since"])


if __name__ == "__main__":
    tests.main()
