"""pg_dump: what it writes of a PostgreSQL database is restored here, and of ours there and here."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import tests

# As pg_dump 15 writes it.
DUMP = r"""
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

DROP TABLE IF EXISTS public.orders;
DROP TABLE IF EXISTS public.people;
SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE public.people (
    id integer NOT NULL,
    name character varying(20) NOT NULL,
    born date,
    paid numeric(10,2) DEFAULT 0.0,
    seen timestamp without time zone DEFAULT now(),
    CONSTRAINT people_paid_check CHECK ((paid >= (0)::numeric))
);

CREATE TABLE public.orders (
    id bigint NOT NULL,
    person integer,
    note text DEFAULT 'none'::text
);

COPY public.people (id, name, born, paid, seen) FROM stdin;
1	ann	1999-12-31	1.50	2024-02-29 01:02:03.5
2	bob	\N	0.00	\N
\.

COPY public.orders (id, person, note) FROM stdin;
10	1	a\tb
11	2	\N
\.

ALTER TABLE ONLY public.people
    ADD CONSTRAINT people_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id);

CREATE UNIQUE INDEX people_name ON public.people USING btree (name);

CREATE INDEX orders_person ON public.orders USING btree (person);

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_person_fkey FOREIGN KEY (person) REFERENCES public.people(id) ON DELETE CASCADE;
"""

# A database of ours, of all that a dump may hold.
OURS = r"""
CREATE SCHEMA shop;
CREATE TYPE shop.mood AS ENUM ('sad', 'ok', 'it''s fine');
CREATE DOMAIN shop.positive AS integer CHECK (VALUE > 0);
CREATE TYPE shop.price AS (amount numeric, currency text);
CREATE SEQUENCE shop.numbers START 5 INCREMENT 2;
SELECT nextval('shop.numbers');
CREATE TABLE shop.people (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name varchar(20) NOT NULL DEFAULT 'nobody',
    code char(4), born date, paid numeric(10,2) DEFAULT 0.5 CHECK (paid >= 0),
    seen timestamptz DEFAULT now(), at timestamp(3), t time, gap interval,
    u uuid DEFAULT gen_random_uuid(), f real, d double precision, s smallint,
    b boolean DEFAULT true, raw bytea, j jsonb, k json, tags text[], grid integer[][],
    m shop.mood DEFAULT 'ok', n shop.positive, p shop.price,
    twice numeric GENERATED ALWAYS AS (paid * 2) STORED,
    UNIQUE (name, born), CONSTRAINT named CHECK (length(name) > 1)
);
CREATE TABLE shop.orders (
    id serial PRIMARY KEY,
    person bigint REFERENCES shop.people ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    note text, "Odd Name" int
);
CREATE INDEX orders_note ON shop.orders (note, person);
CREATE INDEX orders_lower ON shop.orders (lower(note)) WHERE person > 1;
SET search_path = shop;
CREATE TABLE parts (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (100);
CREATE TABLE parts_rest PARTITION OF parts DEFAULT;
INSERT INTO shop.people (name, code, born, paid, seen, at, t, gap, u, f, d, s, b, raw, j, k, tags, grid, m, n, p) VALUES
    ('ann', 'ab', '1999-12-31', 1.50, '2024-02-29 01:02:03.5+02', '2024-02-29 01:02:03.123',
     '23:59:59', '1 year 2 days 03:04:05', '00000000-0000-0000-0000-00000000000a', 1.5, 'NaN', -3,
     false, '\x00ff', '{"a": [1, null]}', '{"b" : 2}', ARRAY['x', NULL, 'a"b\c'],
     '{{1,2},{3,4}}', 'it''s fine', 7, ROW(1.25, 'EUR')),
    ('bob', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
     NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO shop.orders (person, note, "Odd Name")
    VALUES (1, E'tab\there\\ and \nline', 3), (2, NULL, NULL);
INSERT INTO parts VALUES (1, 'low'), (500, 'rest');
CREATE FUNCTION shop.twice(a integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2';
CREATE VIEW shop.spenders AS
    SELECT p.name, sum(o.id) AS total, count(*) FILTER (WHERE o.note IS NULL) AS bare
    FROM shop.people p LEFT JOIN shop.orders o ON o.person = p.id
    WHERE p.paid >= 0 AND p.name LIKE '%n%' GROUP BY p.name ORDER BY total DESC;
CREATE VIEW ends AS
    WITH x AS (SELECT k FROM parts) SELECT k, (SELECT max(v) FROM parts) AS m FROM x;
COMMENT ON TABLE shop.people IS 'who''s who';
COMMENT ON COLUMN shop.people.name IS 'the name';
"""

# Their rows, and how keys and sequences go on.
ASKED = [
    "SELECT to_jsonb(p) - 'seen', extract(epoch FROM seen) FROM shop.people p ORDER BY id",
    "SELECT * FROM shop.orders ORDER BY id",
    "SELECT tableoid::regclass, * FROM shop.parts ORDER BY k",
    "SELECT * FROM shop.spenders ORDER BY name",
    "SELECT * FROM shop.ends ORDER BY k",
    "SELECT shop.twice(21), obj_description('shop.people'::regclass)",
    "SELECT nextval('shop.numbers')",
    "INSERT INTO shop.people (name) VALUES ('eve') RETURNING id, paid, twice, m",
    "INSERT INTO shop.orders (person) VALUES (1) RETURNING id",
    "SELECT conname, contype, condeferrable FROM pg_constraint"
    " WHERE conrelid::regclass::text LIKE 'shop.%' ORDER BY 1",
    "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'shop' ORDER BY 1",
]
REFUSED = [
    ("23514", "INSERT INTO shop.people (name) VALUES ('x')"),
    ("23514", "UPDATE shop.people SET n = -1"),
    ("23505", "INSERT INTO shop.people (name, born) VALUES ('ann', '1999-12-31')"),
    ("23503", "INSERT INTO shop.orders (person) VALUES (99)"),
    ("22P02", "UPDATE shop.people SET m = 'odd'"),
]


def psql(*arguments, text=None):
    command = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", *arguments]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


class Peer:
    """A PostgreSQL that is gone afterwards."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp()
        # It does not run as root.
        self.user = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
        if self.user:
            shutil.chown(self.folder, "postgres", "postgres")
        self.run("initdb", "-A", "trust", "-U", "tester", "-E", "UTF8", "--locale=C", f"{self.folder}/data")
        options = f"-p 5432 -k {self.folder} -c listen_addresses= -c fsync=off"
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-o", options, "-w", "start")
        return self

    def __exit__(self, *_):
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder)

    def run(self, program, *arguments):
        with open(f"{self.folder}/log", "a", encoding="utf-8") as log:
            subprocess.run([program, *arguments], check=True, stdout=log, stderr=log, cwd="/", **self.user)

    def psql(self, *arguments, text=None):
        return psql("-h", self.folder, "-p", "5432", "-d", "postgres", *arguments, text=text)


def answers(ask):
    shown = [(text, ask("-c", text)) for text in ASKED]
    refused = [(state, text, ask("-v", "VERBOSITY=verbose", "-c", text)) for state, text in REFUSED]
    return shown + [(text, state in answer) for state, text, answer in refused]


class Dump(unittest.TestCase):
    maxDiff = None

    def test_our_dump_is_restored(self):
        self.assertNotIn("ERROR", psql(text=OURS))
        dump = subprocess.run(["pg_dump", "--no-owner", "--schema=shop"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((dump.returncode, dump.stderr), (0, ""))
        ours = answers(psql)
        for text, answer in ours:
            self.assertTrue(answer and "ERROR" not in str(answer), (text, answer))
        with Peer() as peer:
            self.assertNotIn("ERROR", peer.psql(text=dump.stdout))
            self.assertEqual(answers(peer.psql), ours)
        gone = "DROP SCHEMA shop CASCADE"
        self.assertNotIn("ERROR", psql("-c", gone))
        self.assertNotIn("ERROR", psql(text=dump.stdout))
        self.assertEqual(answers(psql), ours)

    def test_a_dump_is_restored(self):
        shown = psql(text=DUMP)
        self.assertNotIn("ERROR", shown)
        found = psql("-c", "SELECT p.name, p.paid, o.note FROM people p JOIN orders o ON o.person = p.id ORDER BY o.id")
        self.assertEqual(found, "ann|1.50|a\tb\nbob|0.00|\n")
        self.assertIn("23505", psql("-v", "VERBOSITY=verbose", "-c", "INSERT INTO people VALUES (3, 'ann')"))
        self.assertIn("23503", psql("-v", "VERBOSITY=verbose", "-c", "INSERT INTO orders VALUES (3, 9)"))
        self.assertIn("23514", psql("-v", "VERBOSITY=verbose", "-c", "INSERT INTO people VALUES (4, 'x', NULL, -1)"))


if __name__ == "__main__":
    tests.main()
