-- Statements whose answers differ from PostgreSQL's and are to be mended, each under the kind
-- of its difference. The test of the corpus tells which of them are mended.
-- refused 42601 syntax error at or near ""
SELECT region, item, sum(amount) FROM sale GROUP BY DISTINCT ROLLUP (region, item), ROLLUP (region) ORDER BY 1, 2, 3;
-- refused 42883 function rollup(text) does not exist
SELECT region, item, sum(amount) FROM sale GROUP BY GROUPING SETS (ROLLUP (region), CUBE (item)) ORDER BY 1, 2, 3;
-- state 42601 42803 column "" must appear in the GROUP BY clause or be used in an aggregate function
SELECT region FROM sale GROUP BY 'x';
-- refused 42601 syntax error at or near ""
SELECT j.id FROM pet LEFT JOIN person USING (id) AS j ORDER BY 1;
-- refused 42601 syntax error at or near ""
SELECT (p.*)::text FROM pet p WHERE id < 3 ORDER BY id;
-- types pet record
SELECT p FROM pet p WHERE id = 4;
-- refused 42601 syntax error at or near ""
SELECT * FROM ROWS FROM (generate_series(1, 2), generate_series(5, 7)) WITH ORDINALITY AS r (a, b, n);
-- refused 42601 syntax error at or near ""
SELECT b FROM t ORDER BY b USING >;
-- state 42P10 42703 column "" does not exist
SELECT a FROM t ORDER BY a LIMIT a;
-- rows
SELECT v FROM (VALUES ('a '::char(3)), ('a'), ('B')) s (v) ORDER BY v;
-- rows
SELECT 'x'::char(3) UNION ALL SELECT 'y '::varchar ORDER BY 1;
-- refused 42601 subquery must return only one column
SELECT row(1, 2) = (SELECT 1, 2), row(1, 3) < (SELECT 1, 2);
-- names exists, exists, ?column? exists, exists, exists
SELECT EXISTS (SELECT w FROM nil), EXISTS (SELECT NULL), NOT EXISTS (SELECT 1 WHERE false);
-- refused 42601 syntax error at or near ""
WITH RECURSIVE t AS (SELECT id FROM part WHERE id = 1 UNION ALL SELECT p.id FROM part p JOIN t ON p.parent = t.id) SEARCH DEPTH FIRST BY id SET o SELECT id FROM t ORDER BY o;
-- refused 42601 syntax error at or near ""
WITH RECURSIVE t AS (SELECT id FROM part WHERE id = 1 UNION ALL SELECT p.id FROM part p JOIN t ON p.parent = t.id) SEARCH BREADTH FIRST BY id SET o SELECT id FROM t ORDER BY o;
-- refused 42601 syntax error at or near ""
WITH RECURSIVE t (a) AS (SELECT 1 UNION ALL SELECT a % 3 + 1 FROM t) CYCLE a SET looped USING path SELECT a, looped, path FROM t ORDER BY path;
-- accepted 42601 
SELECT 'a' 'b';
-- refused 0A000 literals such as B'' are not supported
SELECT E'a\tb\x41\u00e9', U&'\00e9\+01F600', $$it's$$, $q$a$$b$q$, B'101', X'1F';
-- types "char" character
SELECT 'x'::"char", 'name'::name, 'abc'::char(5), 'abc'::char, 'abcdef'::varchar(3);
-- types regtype text
SELECT pg_typeof('a'), pg_typeof(1), pg_typeof(1.0), pg_typeof(NULL);
