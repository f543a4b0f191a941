-- Statements whose answers differ from PostgreSQL's and are to be mended, each under the kind
-- of its difference. The test of the corpus tells which of them are mended.

-- refused 42846 cannot cast type unknown to regclass
SELECT 1::oid, 'pg_class'::regclass, 'int4'::regtype, 4294967295::oid, '-1'::oid;
-- binder
SELECT json_populate_record(NULL::record, '{}');
SELECT jsonb_populate_record(NULL::record, '{}');
SELECT - (-2147483648);
SELECT * FROM generate_series(timestamp '2021-01-30 12:00', timestamp 'infinity', interval '1 day') LIMIT 6;
SELECT * FROM generate_series(timestamp '2021-01-30 12:00', timestamp 'infinity', interval '10 hours') LIMIT 6;
SELECT 'a' COLLATE "C" < 'b' COLLATE "POSIX";
SELECT nosuch.abs(1);
-- syntax
SELECT * FROM (SELECT 1);
WITH RECURSIVE t AS (SELECT id, up FROM node WHERE id = 1 UNION ALL SELECT n.id, n.up FROM node n JOIN t ON n.up = t.id) SEARCH DEPTH FIRST BY id SET pos SELECT id FROM t ORDER BY pos;
WITH RECURSIVE t AS (SELECT id, up FROM node WHERE id = 1 UNION ALL SELECT n.id, n.up FROM node n JOIN t ON n.up = t.id) SEARCH BREADTH FIRST BY id SET pos SELECT id FROM t ORDER BY pos;
-- syntax: VARIADIC
SELECT concat_ws(','), concat_ws(',', VARIADIC ARRAY['p', 'q', NULL]), concat(VARIADIC ARRAY[1, 2, 3]);
-- rows: arrays of CHAR(n) lose the blanks of their elements
SELECT percentile_disc(ARRAY[0.5, 1]) WITHIN GROUP (ORDER BY x) FROM (VALUES ('a'::char(3)), ('b')) v (x);
