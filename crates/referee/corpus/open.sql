-- Statements whose answers differ from PostgreSQL's and are to be mended, each under the kind
-- of its difference. The test of the corpus tells which of them are mended.
-- accepted 42P18 
SELECT ARRAY[];
-- refused 42846 cannot cast type unknown to regclass
SELECT 1::oid, 'pg_class'::regclass, 'int4'::regtype, 4294967295::oid, '-1'::oid;
-- binder
SELECT pg_typeof(array_agg('x'))::text;
SELECT percentile_cont(x) WITHIN GROUP (ORDER BY x) FROM (VALUES (1)) v (x);
SELECT sum(1) WITHIN GROUP (ORDER BY x) FROM (VALUES (1)) v (x);
SELECT array_agg(NULL), array_agg(x ORDER BY y, x DESC), array_agg(ROW(x, y) ORDER BY x) FROM (VALUES (1, 2), (2, 1), (3, 1)) v (x, y);
SELECT timestamp 'now infinity';
SELECT * FROM lef JOIN rig USING (id, id);
SELECT json_populate_record(NULL::record, '{}');
SELECT jsonb_populate_record(NULL::record, '{}');
SELECT json_populate_record(NULL::shape, '{"a":1,"b":"x","c":[1,2],"z":0}');
SELECT jsonb_populate_record(NULL::shape, '{"a":1,"b":"x","c":[1,2],"z":0}');
SELECT * FROM json_populate_recordset(NULL::shape, '[{"a":1},{"b":"y"}]');
SELECT * FROM jsonb_populate_recordset(NULL::shape, '[{"a":1},{"b":"y"}]');
SELECT * FROM jsonb_populate_record(ROW(7, 'd', NULL)::shape, '{"b":null}');
SELECT * FROM json_populate_record(ROW(7, 'd', NULL)::shape, '{"b":null}');
SELECT (1, 2) + (3, 4);
SELECT - (-2147483648);
SELECT 1e131072;
SELECT * FROM generate_series(timestamp '2021-01-30 12:00', timestamp 'infinity', interval '1 day') LIMIT 6;
SELECT * FROM generate_series(timestamp '2021-01-30 12:00', timestamp 'infinity', interval '10 hours') LIMIT 6;
SELECT information_schema._pg_expandarray(ARRAY[5, 6]);
SELECT 'a' COLLATE "C" < 'b' COLLATE "POSIX";
SELECT 1 = ANY (SELECT 'x');
SELECT 1 IN (SELECT 'x');
SELECT NULL::boolean::smallint;
SELECT NULL::boolean::numeric;
SELECT x, pg_typeof(x)::text FROM (SELECT 'a'::char(3) UNION ALL SELECT 'b'::varchar) s (x);
SELECT NULL UNION SELECT NULL UNION SELECT 1;
SELECT nosuch.abs(1);
SELECT rank(1) OVER (ORDER BY k) FROM run;
WITH RECURSIVE t (n, s) AS (SELECT 1, 'a'::varchar(1) UNION ALL SELECT n + 1, s || 'b' FROM t WHERE n < 3) SELECT * FROM t;
WITH RECURSIVE t (n) AS (SELECT n FROM t UNION ALL SELECT 1) SELECT * FROM t;
WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n FROM t UNION ALL SELECT n FROM t) SELECT * FROM t;
WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT 1 AS k) SELECT * FROM a;
WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a;
-- syntax
SELECT interval(3) '1.23456 seconds', interval '1.23456 s'::interval(1), interval '1.5' second(0), time(2) '10:11:12.345678', timestamp(0) '2021-01-01 00:00:00.6', timestamptz(3) '2021-01-01 00:00:00.123456Z', timetz(1) '10:11:12.55Z';
SELECT * FROM (SELECT 1);
WITH RECURSIVE t AS (SELECT id, up FROM node WHERE id = 1 UNION ALL SELECT n.id, n.up FROM node n JOIN t ON n.up = t.id) SEARCH DEPTH FIRST BY id SET pos SELECT id FROM t ORDER BY pos;
WITH RECURSIVE t AS (SELECT id, up FROM node WHERE id = 1 UNION ALL SELECT n.id, n.up FROM node n JOIN t ON n.up = t.id) SEARCH BREADTH FIRST BY id SET pos SELECT id FROM t ORDER BY pos;
-- syntax: VARIADIC
SELECT concat_ws(','), concat_ws(',', VARIADIC ARRAY['p', 'q', NULL]), concat(VARIADIC ARRAY[1, 2, 3]);
