-- Statements whose answers differ from PostgreSQL's and are to be mended, each under the kind
-- of its difference. The test of the corpus tells which of them are mended.
-- refused 42601 syntax error at or near ""
SELECT region, item, sum(amount) FROM sale GROUP BY DISTINCT ROLLUP (region, item), ROLLUP (region) ORDER BY 1, 2, 3;
-- state 42601 42803 column "" must appear in the GROUP BY clause or be used in an aggregate function
SELECT region FROM sale GROUP BY 'x';
-- refused 42601 syntax error at or near ""
SELECT j.id FROM pet LEFT JOIN person USING (id) AS j ORDER BY 1;
-- refused 42601 syntax error at or near ""
SELECT (p.*)::text FROM pet p WHERE id < 3 ORDER BY id;
-- refused 42601 syntax error at or near ""
SELECT * FROM ROWS FROM (generate_series(1, 2), generate_series(5, 7)) WITH ORDINALITY AS r (a, b, n);
-- refused 42601 syntax error at or near ""
SELECT b FROM t ORDER BY b USING >;
-- state 42P10 42703 column "" does not exist
SELECT a FROM t ORDER BY a LIMIT a;
-- refused 42601 syntax error at or near ""
WITH RECURSIVE t AS (SELECT id FROM part WHERE id = 1 UNION ALL SELECT p.id FROM part p JOIN t ON p.parent = t.id) SEARCH DEPTH FIRST BY id SET o SELECT id FROM t ORDER BY o;
-- refused 42601 syntax error at or near ""
WITH RECURSIVE t AS (SELECT id FROM part WHERE id = 1 UNION ALL SELECT p.id FROM part p JOIN t ON p.parent = t.id) SEARCH BREADTH FIRST BY id SET o SELECT id FROM t ORDER BY o;
-- refused 42601 syntax error at or near ""
WITH RECURSIVE t (a) AS (SELECT 1 UNION ALL SELECT a % 3 + 1 FROM t) CYCLE a SET looped USING path SELECT a, looped, path FROM t ORDER BY path;
-- accepted 42601 
SELECT 'a' 'b';
-- state 42601 22023 unit "" not recognized for type timestamp without time zone
SELECT extract(nothing FROM timestamp '2001-02-16');
-- names overlaps ?column?
SELECT (timestamp '2001-02-16', timestamp '2001-12-21') OVERLAPS (timestamp '2001-10-30', timestamp '2002-10-30'), (date '2001-02-16', interval '100 days') OVERLAPS (date '2001-10-30', date '2002-10-30'), (time '09:00', time '10:00') OVERLAPS (time '10:00', time '11:00');
-- refused 0A000 a precision of the first field of INTERVAL is not supported
SELECT interval '1' year, interval '1-2' year to month, interval '3 4:05' day to minute, interval '1.234567' second(3);
-- state 42601 42883 operator does not exist: ! integer
SELECT 5 !;
-- refused 0A000 LIKE ANY is not supported
SELECT 'abc' LIKE ANY (ARRAY['x%', 'a%']), 'abc' LIKE ALL (ARRAY['%c', 'a%']), 'abc' ~ ANY (ARRAY['z', 'b']), 'abc' NOT LIKE ALL (ARRAY['x', 'y']);
-- refused 42601 syntax error at or near ""
SELECT substring('Thomas' FROM '...$'), substring('foobar' FROM 'o(.)b'), substring('Thomas' SIMILAR '%#"o_a#"_' ESCAPE '#');
-- refused 42703 column "" does not exist
SELECT unistr('d\0061t\+000061'), normalize('e' || U&'\0301', NFC) = 'é', U&'\00e9' IS NFC NORMALIZED, 'a' IS NORMALIZED, is_normalized('x');
-- refused 42P10 table "" has  columns available but  columns specified
SELECT * FROM json_to_recordset('[{"a":1,"b":"foo"}, {"a":"2","c":"bar"}]') AS x (a int, b text);
-- refused 42P10 table "" has  columns available but  columns specified
SELECT * FROM jsonb_to_record('{"a":1,"b":[1,2,3],"c":"bar"}') AS x (a int, b int[], c text, d date);
-- state 42809 42P20 window function row_number requires an OVER clause
SELECT row_number() FROM w;
-- refused 42846 cannot cast type unknown to regclass
SELECT 1::oid, 'pg_class'::regclass, 'int4'::regtype, 4294967295::oid, '-1'::oid;
-- state 42P01 42846 cannot cast type unknown to regclass
SELECT 'nosuch'::regclass;
