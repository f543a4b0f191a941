-- The questions are about these tables, which PostgreSQL takes as they are, too.
CREATE ROLE depot_clerk LOGIN;
CREATE ROLE depot_staff;
GRANT depot_staff TO depot_clerk;
CREATE SCHEMA depot;
CREATE SCHEMA "Depot 2";
CREATE TYPE depot.state AS ENUM ('new', 'it''s open', 'done');
CREATE DOMAIN depot.count AS integer DEFAULT 1 CONSTRAINT count_positive CHECK (VALUE > 0);
CREATE DOMAIN depot.short AS varchar(8) NOT NULL;
CREATE TYPE depot.money AS (amount numeric(10,2), currency text);
CREATE SEQUENCE depot.tickets AS integer START WITH 7 INCREMENT BY 3 MINVALUE 2 MAXVALUE 500 CACHE 5 CYCLE;
CREATE TABLE depot.owners (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    mail varchar(60) NOT NULL UNIQUE,
    name text NOT NULL DEFAULT 'nobody',
    code char(3),
    born date,
    worth numeric(9,2) DEFAULT 0.5 CHECK (worth >= 0),
    amount numeric,
    seen timestamptz DEFAULT now(),
    at timestamp(3),
    clock time,
    gap interval,
    u uuid DEFAULT gen_random_uuid(),
    f real,
    d double precision,
    s smallint,
    b boolean NOT NULL DEFAULT true,
    raw bytea,
    j jsonb DEFAULT '{}',
    tags text[] DEFAULT ARRAY['a'],
    st depot.state DEFAULT 'new',
    n depot.count,
    sh depot.short,
    p depot.money,
    twice numeric GENERATED ALWAYS AS (worth * 2) STORED,
    CONSTRAINT name_long CHECK (length(name) > 1 AND name <> 'x'),
    CONSTRAINT owners_name_born UNIQUE (name, born)
);
CREATE TABLE depot.boxes (
    id integer NOT NULL DEFAULT nextval('depot.tickets'),
    shelf smallint NOT NULL,
    owner bigint REFERENCES depot.owners ON DELETE CASCADE ON UPDATE SET NULL DEFERRABLE INITIALLY DEFERRED,
    note text,
    "Odd Name" int,
    placed date NOT NULL DEFAULT '2024-02-29',
    CONSTRAINT boxes_key PRIMARY KEY (id, shelf)
);
CREATE TABLE depot.items (
    id serial PRIMARY KEY,
    box integer NOT NULL,
    shelf smallint NOT NULL,
    weight double precision CHECK (weight > 0),
    CONSTRAINT items_box FOREIGN KEY (box, shelf) REFERENCES depot.boxes (id, shelf)
);
CREATE INDEX boxes_note ON depot.boxes (note, owner);
CREATE INDEX boxes_lower ON depot.boxes (lower(note)) WHERE shelf > 1;
CREATE UNIQUE INDEX boxes_placed ON depot.boxes (placed, id) WHERE note IS NOT NULL;
CREATE TABLE depot.logs (k int NOT NULL, v text, PRIMARY KEY (k)) PARTITION BY RANGE (k);
CREATE TABLE depot.logs_low PARTITION OF depot.logs FOR VALUES FROM (MINVALUE) TO (100);
CREATE TABLE depot.logs_rest PARTITION OF depot.logs DEFAULT;
CREATE VIEW depot.mails AS SELECT id, mail FROM depot.owners WHERE b;
CREATE VIEW depot.loads AS
    SELECT o.name, count(x.id) AS boxes FROM depot.owners o LEFT JOIN depot.boxes x ON x.owner = o.id GROUP BY o.name;
CREATE FUNCTION depot.double(a integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2';
CREATE FUNCTION depot.plus(a integer, b integer DEFAULT 1) RETURNS integer LANGUAGE sql STABLE STRICT AS 'SELECT a + b';
CREATE FUNCTION depot.boxes_of(o bigint) RETURNS SETOF depot.boxes LANGUAGE sql STABLE AS 'SELECT * FROM depot.boxes WHERE owner = o';
CREATE FUNCTION depot.pairs() RETURNS TABLE (a integer, b text) LANGUAGE sql AS 'SELECT 1, ''x''::text';
CREATE TABLE "Depot 2"."Odd Table" ("Key" int PRIMARY KEY, "select" text);
COMMENT ON TABLE depot.owners IS 'who has boxes';
COMMENT ON COLUMN depot.owners.name IS 'their name';
COMMENT ON CONSTRAINT name_long ON depot.owners IS 'no x';
COMMENT ON INDEX depot.boxes_note IS 'for notes';
GRANT USAGE ON SCHEMA depot TO depot_staff;
GRANT SELECT ON depot.owners, depot.mails TO depot_clerk;
GRANT SELECT, INSERT, UPDATE ON depot.boxes TO depot_staff;
GRANT SELECT ON depot.items TO PUBLIC;
GRANT USAGE, SELECT ON SEQUENCE depot.tickets TO depot_clerk;
INSERT INTO depot.owners (mail, name, born, sh) VALUES ('ann@x', 'ann', '1999-12-31', 's1'), ('bob@x', 'bob', NULL, 's2');
INSERT INTO depot.boxes (id, shelf, owner, note) VALUES (10, 1, 1, 'first'), (10, 2, 1, NULL);
INSERT INTO depot.logs VALUES (1, 'low'), (500, 'rest');
