"""Alembic: revisions that it finds out by itself, and revisions by hand, up and down.

Each test says what Alembic promises of PostgreSQL; none of them knows Freestone.
"""

import contextlib
import io
import os
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.join(HERE, "project")
sys.path[:0] = [os.path.join(HERE, "..", "support"), PROJECT]

import psycopg
import sqlalchemy as sa
import tests
from alembic import autogenerate, command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError

import models

ENGINE = sa.create_engine("postgresql+psycopg://", poolclass=sa.NullPool)
REVISIONS = ["one", "two", "three", "four", "five"]


def ask(sql):
    with ENGINE.connect() as connection:
        answer = connection.execute(sa.text(sql))
        rows = [tuple(row) for row in answer] if answer.returns_rows else answer.rowcount
        connection.commit()
        return rows


def ours(names):
    return sorted(name for name in names if name.startswith("lib_"))


def schema():
    """All that SQLAlchemy reflects of the library's tables."""
    look = sa.inspect(ENGINE)
    found = {"enums": sorted((e["name"], e["labels"]) for e in look.get_enums() if e["name"].startswith("lib_"))}
    found["sequences"] = ours(look.get_sequence_names())
    found["views"] = ours(look.get_view_names())
    for table in ours(look.get_table_names()):
        by_name = lambda parts: sorted((part for part in parts), key=lambda part: part["name"])
        found[table] = {
            "columns": [{**c, "type": repr(c["type"])} for c in by_name(look.get_columns(table))],
            "primary": look.get_pk_constraint(table),
            "foreign": by_name(look.get_foreign_keys(table)),
            "unique": by_name(look.get_unique_constraints(table)),
            "checks": by_name(look.get_check_constraints(table)),
            "indexes": by_name(look.get_indexes(table)),
            "comment": look.get_table_comment(table),
        }
    return found


class Base(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        ask("DROP SCHEMA IF EXISTS lib_branch CASCADE")
        look = sa.inspect(ENGINE)
        for view in ours(look.get_view_names()):
            ask(f"DROP VIEW {view}")
        for table in ours(look.get_table_names()):
            ask(f"DROP TABLE IF EXISTS {table} CASCADE")
        for sequence in ours(sa.inspect(ENGINE).get_sequence_names()):
            ask(f"DROP SEQUENCE {sequence}")
        for enum in ours(e["name"] for e in sa.inspect(ENGINE).get_enums()):
            ask(f"DROP TYPE {enum}")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = shutil.copytree(PROJECT, os.path.join(folder.name, "project"))
        self.out = io.StringIO()
        self.configuration = Config(stdout=self.out, output_buffer=self.out)
        self.configuration.set_main_option("script_location", self.folder)
        self.configuration.set_main_option("path_separator", "os")

    def alembic(self, name, *arguments, stage="none", options=None, **named):
        """Runs a command, and gives what it shows."""
        self.configuration.attributes.update(stage=stage, options=options or {})
        self.out.seek(0)
        self.out.truncate()
        with contextlib.redirect_stdout(io.StringIO()):
            getattr(command, name)(self.configuration, *arguments, **named)
        return self.out.getvalue()

    def revise(self, name, **named):
        """Makes a revision, and gives its text."""
        self.alembic("revision", message=name, rev_id=name, **named)
        with open(os.path.join(self.folder, "versions", f"{name}_{name}.py"), encoding="utf-8") as file:
            return file.read()


def flat(operations):
    """Gives the names of operations and their subjects, sorted."""
    found = []
    for operation in operations:
        if hasattr(operation, "ops"):
            found += flat(operation.ops)
            continue
        difference = operation.to_diff_tuple()
        for part in difference if isinstance(difference, list) else [difference]:
            subject = [p for p in part[1:] if isinstance(p, str)][:2]
            if hasattr(part[1], "name"):
                subject = [part[1].name]
            if isinstance(part[-1], sa.Column):
                subject = [part[2], part[3].name]
            found.append((part[0], *subject))
    return sorted(found)


class Autogenerate(Base):
    def setUp(self):
        super().setUp()
        shutil.rmtree(os.path.join(self.folder, "versions"))
        os.mkdir(os.path.join(self.folder, "versions"))

    def differences(self, stage):
        with ENGINE.connect() as connection:
            options = {
                "compare_type": True,
                "compare_server_default": True,
                "include_name": lambda name, kind, parents: kind != "table" or name.startswith("lib_"),
                "version_table": "lib_version",
            }
            context = MigrationContext.configure(connection, opts=options)
            return flat(autogenerate.produce_migrations(context, models.METADATA[stage]).upgrade_ops.ops)

    def test_an_empty_database(self):
        text = self.revise("first", stage="first", autogenerate=True)
        self.assertEqual(text.count("op.create_table("), 3)
        self.assertEqual(text.count("op.drop_table("), 3)
        self.alembic("upgrade", "head")
        self.assertEqual(self.differences("first"), [])
        self.alembic("check", stage="first")
        with self.assertRaises(CommandError):
            self.alembic("check", stage="later")
        self.assertEqual(
            ask("INSERT INTO lib_author (name) VALUES ('ann') RETURNING id, rating, born"), [(1, 0.5, None)]
        )
        self.assertEqual(
            ask(
                "INSERT INTO lib_book (author_id, title) VALUES (1, 'x') RETURNING id, state, pages, tags, meta, twice"
            ),
            [(100, "shelf", 1, [], {}, 2)],
        )
        for broken in (
            "UPDATE lib_book SET pages = 0",
            "UPDATE lib_book SET author_id = 2",
            "INSERT INTO lib_book (author_id, title) VALUES (1, 'x')",
            "INSERT INTO lib_author (name) VALUES ('ann')",
        ):
            with self.assertRaises(sa.exc.IntegrityError):
                ask(broken)
        with self.assertRaises(sa.exc.DBAPIError):
            ask("UPDATE lib_book SET state = 'odd'")
        look = sa.inspect(ENGINE)
        self.assertEqual(look.get_table_comment("lib_author"), {"text": "who wrote"})
        columns = {column["name"]: column for column in look.get_columns("lib_book")}
        self.assertEqual(columns["title"]["comment"], "as on the cover")
        self.assertEqual(columns["id"]["identity"]["start"], 100)
        self.assertEqual(columns["twice"]["computed"]["persisted"], True)
        self.assertEqual(columns["state"]["type"].enums, ["shelf", "lent"])
        self.assertEqual(columns["price"]["type"].scale, 2)
        self.alembic("downgrade", "base")
        self.assertEqual(ours(sa.inspect(ENGINE).get_table_names()), ["lib_version"])

    def test_a_changed_database(self):
        self.revise("first", stage="first", autogenerate=True)
        self.alembic("upgrade", "head")
        there = schema()
        ask("INSERT INTO lib_author (name, born) VALUES ('ann', '1999-12-31')")
        ask("INSERT INTO lib_book (author_id, title, price) VALUES (1, 'x', 12.5)")
        self.assertEqual(
            self.differences("later"),
            sorted(
                [
                    ("add_column", "lib_author", "country"),
                    ("add_column", "lib_book", "note"),
                    ("add_constraint", "lib_price_once"),
                    ("add_fk", "lib_book_author"),
                    ("add_index", "lib_book_covering"),
                    ("add_index", "lib_book_lent"),
                    ("add_index", "lib_book_meta"),
                    ("add_index", "lib_book_title"),
                    ("add_table", "lib_loan"),
                    ("add_table_comment", "lib_author"),
                    ("modify_comment", "lib_book", "title"),
                    ("modify_default", "lib_author", "rating"),
                    ("modify_default", "lib_book", "pages"),
                    ("modify_default", "lib_book", "seen"),
                    ("modify_default", "lib_book", "state"),
                    ("modify_nullable", "lib_book", "pages"),
                    ("modify_type", "lib_author", "id"),
                    ("modify_type", "lib_author", "name"),
                    ("modify_type", "lib_book", "author_id"),
                    ("modify_type", "lib_book", "pages"),
                    ("modify_type", "lib_book", "price"),
                    ("modify_type", "lib_book", "title"),
                    ("remove_column", "lib_author", "born"),
                    ("remove_column", "lib_book", "twice"),
                    ("remove_constraint", "lib_title_once"),
                    ("remove_fk", "lib_book_author_id_fkey"),
                    ("remove_index", "lib_book_title"),
                    ("remove_table", "lib_old"),
                ]
            ),
        )
        self.revise("later", stage="later", autogenerate=True)
        self.alembic("upgrade", "head")
        self.assertEqual(self.differences("later"), [])
        self.alembic("check", stage="later")
        self.assertEqual(ask("SELECT country, rating FROM lib_author"), [("AT", 0.5)])
        self.assertEqual(ask("SELECT title, pages, price::text FROM lib_book"), [("x", 1, "12.500")])
        self.assertEqual(
            ask("INSERT INTO lib_loan (book_id, by, kind) VALUES (100, 'bob', 'room') RETURNING day = CURRENT_DATE"),
            [(True,)],
        )
        with self.assertRaises(sa.exc.IntegrityError):
            ask("INSERT INTO lib_book (author_id, title, state) VALUES (1, 'X', 'lent')")
        self.alembic("downgrade", "-1")
        self.assertEqual(self.differences("first"), [])
        # An enumeration is not dropped with its table.
        self.assertEqual({**schema(), "enums": []}, {**there, "enums": []})
        self.assertEqual(ask("SELECT title, pages, price::text, twice FROM lib_book"), [("x", 1, "12.50", 2)])
        self.alembic("downgrade", "base")


class ByHand(Base):
    def version(self):
        return [version for version, in ask("SELECT version_num FROM lib_version")]

    def test_up_and_down(self):
        seen = {}
        for revision in REVISIONS:
            self.alembic("upgrade", "+1")
            self.assertEqual(self.version(), [revision])
            seen[revision] = schema()
        self.assertIn("five (head)", self.alembic("current"))
        self.assertEqual(
            ask("SELECT id, name, floor, kind, parent FROM lib_room ORDER BY id"),
            [(1, "big", 2, "reading", None), (2, "small", -1, "hall", None)],
        )
        self.assertEqual(
            ask("SELECT room, length::text, opened::text, boards, area::text, number FROM lib_rack ORDER BY id"),
            [(1, "1.3", "2024-02-29", 4, "5.2", 10), (None, None, None, 4, None, 15)],
        )
        self.assertEqual(ask("SELECT name FROM lib_halls"), [("small",)])
        self.assertEqual(ask("SELECT nextval('lib_numbers')"), [(7,)])
        self.assertEqual(
            ask("INSERT INTO lib_rack (length) VALUES (2) RETURNING id, boards, area::text, number"),
            [(3, 5, "10.0", 20)],
        )
        for revision in reversed(REVISIONS[:-1]):
            self.alembic("downgrade", "-1")
            self.assertEqual(self.version(), [revision])
            self.assertEqual(schema(), seen[revision], f"back at {revision}")
        self.assertEqual(
            ask("SELECT id, name, floor, kind FROM lib_room ORDER BY id"),
            [(1, "big", "2", "reading"), (2, "small", "-1", "store")],
        )
        self.assertEqual(
            ask("SELECT room_id, length, opened FROM lib_shelf ORDER BY id LIMIT 1"), [(1, 1.3, "2024-02-29")]
        )
        self.alembic("downgrade", "base")
        self.assertEqual(schema(), {"enums": [], "sequences": [], "views": [], "lib_version": schema()["lib_version"]})
        self.alembic("upgrade", "head")
        self.assertEqual(schema(), seen["five"])

    def test_what_is_there_after_them(self):
        self.alembic("upgrade", "four")
        found = schema()
        room, shelf = found["lib_room"], found["lib_shelf"]
        self.assertEqual(found["enums"], [("lib_room_kind", ["reading", "hall", "store"])])
        self.assertEqual(
            {c["name"]: (c["type"], c["nullable"], c["default"], c["comment"]) for c in shelf["columns"]},
            {
                "id": ("INTEGER()", False, "nextval('lib_shelf_id_seq'::regclass)", None),
                "room": ("INTEGER()", True, None, None),
                "length": ("NUMERIC(precision=6, scale=1)", True, None, None),
                "opened": ("DATE()", True, None, "the day"),
                "boards": ("SMALLINT()", False, "'5'::smallint", None),
            },
        )
        self.assertEqual(shelf["primary"]["constrained_columns"], ["id", "boards"])
        self.assertEqual(shelf["primary"]["name"], "lib_shelf_key")
        self.assertEqual(
            shelf["foreign"][0]["options"],
            {"onupdate": "CASCADE", "ondelete": "SET NULL", "deferrable": True, "initially": "DEFERRED"},
        )
        self.assertEqual(
            [(c["name"], c["sqltext"]) for c in shelf["checks"]],
            [("lib_shelf_boards", "boards >= 1 AND boards <= 20"), ("lib_shelf_length", "length > 0::numeric")],
        )
        self.assertEqual([u["name"] for u in room["unique"]], ["lib_room_name", "lib_room_place"])
        self.assertEqual(room["unique"][1]["dialect_options"]["postgresql_nulls_not_distinct"], True)
        indexes = {index["name"]: index for index in shelf["indexes"] + room["indexes"]}
        self.assertEqual(indexes["lib_room_lower"]["expressions"], ["lower(name)", "floor"])
        self.assertEqual(indexes["lib_room_lower"]["column_sorting"], {"floor": ("desc", "nulls_last")})
        self.assertEqual(indexes["lib_shelf_long"]["unique"], True)
        self.assertEqual(indexes["lib_shelf_long"]["dialect_options"]["postgresql_where"], "(length > (1)::numeric)")
        self.assertEqual(indexes["lib_shelf_covering"]["dialect_options"]["postgresql_include"], ["opened"])
        self.assertEqual(indexes["lib_shelf_hash"]["dialect_options"]["postgresql_using"], "hash")
        self.assertEqual(indexes["lib_room_like"]["dialect_options"]["postgresql_ops"], {"name": "text_pattern_ops"})
        for broken in (
            "UPDATE lib_shelf SET length = -1",
            "UPDATE lib_shelf SET boards = 21",
            "UPDATE lib_shelf SET room = 7",
            "UPDATE lib_room SET name = 'big'",
            "INSERT INTO lib_shelf (room, length) VALUES (1, 2)",
        ):
            with self.assertRaises(sa.exc.IntegrityError):
                ask(broken)
        ask("UPDATE lib_room SET id = 9 WHERE id = 1")
        self.assertEqual(ask("SELECT room FROM lib_shelf WHERE room IS NOT NULL"), [(9,)])

    def test_written_as_a_script(self):
        self.alembic("upgrade", "head")
        there = schema()
        script = self.alembic("downgrade", "head:base", sql=True)
        self.run_script(script)
        self.assertEqual([name for name in schema() if name.startswith("lib_")], ["lib_version"])
        ask("DROP TABLE lib_version")
        self.run_script(self.alembic("upgrade", "head", sql=True))
        self.assertEqual(schema(), there)
        self.assertEqual(self.version(), ["five"])

    def run_script(self, script):
        """Statement by statement, as psql does."""
        with psycopg.connect(autocommit=True) as connection:
            for statement in script.split(";\n"):
                lines = [line for line in statement.splitlines() if line and not line.startswith("--")]
                if lines:
                    connection.execute("\n".join(lines))

    def test_a_revision_that_fails_leaves_nothing(self):
        self.alembic("upgrade", "two")
        before = schema()
        ask("INSERT INTO lib_shelf (length) VALUES (-1)")
        with self.assertRaisesRegex(sa.exc.IntegrityError, "lib_shelf_length"):
            self.alembic("upgrade", "head")
        self.assertEqual((schema(), self.version()), (before, ["two"]))
        # One transaction for all of them takes back the first ones also.
        self.alembic("downgrade", "one")
        before = schema()
        with self.assertRaisesRegex(sa.exc.IntegrityError, "lib_shelf_length"):
            self.alembic("upgrade", "three", options={"transaction_per_migration": False})
        self.assertEqual((schema(), self.version()), (before, ["one"]))

    def test_branches_and_stamps(self):
        self.revise("left", head="two", splice=True)
        self.revise("right", head="two", splice=True)
        with self.assertRaises(CommandError):
            self.alembic("upgrade", "head")
        self.alembic("upgrade", "heads")
        self.assertEqual(sorted(self.version()), ["five", "left", "right"])
        self.alembic("merge", ["left", "right", "five"], rev_id="joined")
        self.alembic("upgrade", "head")
        self.assertEqual(self.version(), ["joined"])
        self.alembic("stamp", "base")
        self.assertEqual(self.version(), [])
        self.alembic("stamp", "five", purge=True)
        self.assertEqual(self.version(), ["five"])
        self.assertEqual(len(list(ScriptDirectory.from_config(self.configuration).walk_revisions())), 8)

    def test_in_a_schema_of_its_own(self):
        ask("CREATE SCHEMA lib_branch")
        metadata = sa.MetaData(schema="lib_branch")
        for table in models.METADATA["first"].tables.values():
            table.to_metadata(metadata, schema="lib_branch")
        models.METADATA["branch"] = metadata
        self.addCleanup(models.METADATA.pop, "branch")
        options = {
            "include_schemas": True,
            "version_table_schema": "lib_branch",
            "include_name": lambda name, kind, parents: name == "lib_branch" if kind == "schema" else True,
        }
        shutil.rmtree(os.path.join(self.folder, "versions"))
        os.mkdir(os.path.join(self.folder, "versions"))
        self.revise("branch", stage="branch", options=options, autogenerate=True)
        self.alembic("upgrade", "head", stage="branch", options=options)
        self.alembic("check", stage="branch", options=options)
        look = sa.inspect(ENGINE)
        self.assertEqual(
            sorted(look.get_table_names("lib_branch")), ["lib_author", "lib_book", "lib_old", "lib_version"]
        )
        self.assertEqual(look.get_foreign_keys("lib_book", "lib_branch")[0]["referred_schema"], "lib_branch")
        self.assertEqual(ours(look.get_table_names()), [])
        self.alembic("downgrade", "base", stage="branch", options=options)
        self.assertEqual(sa.inspect(ENGINE).get_table_names("lib_branch"), ["lib_version"])
        ask("DROP SCHEMA lib_branch CASCADE")


if __name__ == "__main__":
    tests.main()
