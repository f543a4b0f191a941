"""pg_dump: what it writes of a PostgreSQL database is restored here."""

import os
import subprocess
import sys
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


def psql(*arguments, text=None):
    command = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", *arguments]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


class Dump(unittest.TestCase):
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
