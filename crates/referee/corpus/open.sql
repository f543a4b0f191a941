-- Statements whose answers differ from PostgreSQL's and are to be mended, each under the kind
-- of its difference. The test of the corpus tells which of them are mended.
-- refused 42601 syntax error at or near ""
SELECT region, item, sum(amount) FROM sale GROUP BY DISTINCT ROLLUP (region, item), ROLLUP (region) ORDER BY 1, 2, 3;
-- refused 42601 syntax error at or near ""
SELECT j.id FROM pet LEFT JOIN person USING (id) AS j ORDER BY 1;
-- refused 42601 syntax error at or near ""
SELECT (p.*)::text FROM pet p WHERE id < 3 ORDER BY id;
-- refused 42601 syntax error at or near ""
SELECT * FROM ROWS FROM (generate_series(1, 2), generate_series(5, 7)) WITH ORDINALITY AS r (a, b, n);
-- refused 42601 syntax error at or near ""
SELECT b FROM t ORDER BY b USING >;
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
-- state 22000 42883 function array_append(integer[], integer) does not exist
SELECT array_append(ARRAY[[1]], 2);
-- state 0A000 42883 function array_position(integer[], integer) does not exist
SELECT array_position(ARRAY[[1]], 1);
-- types integer integer[]
SELECT (ARRAY[10,20,30])[2], (ARRAY[10,20,30])[0], (ARRAY[10,20,30])[2:3], (ARRAY[10,20,30])[:2], (ARRAY[10,20,30])[2:], (ARRAY[[1,2],[3,4]])[2][1], (ARRAY[[1,2],[3,4]])[1:2][1], (ARRAY[[1,2],[3,4]])[1], (ARRAY[10,20])[NULL];
-- rows
SELECT (array_agg(a))[1][2], array_agg(a) = '{{1,2},{3,4}}'::int[], array_agg(a)::text[] FROM (VALUES (ARRAY[1,2]), (ARRAY[3,4])) v (a);
-- refused 42725 function json_object(unknown) is not unique
SELECT json_object('{a, 1, b, "def", c, 3.5}'), json_object('{{a, 1}, {b, "def"}}'), json_object('{a,b}', '{1,2}'), jsonb_object('{a,1}'), jsonb_object('{a,b}', '{1,NULL}');
-- state 2202E 42725 function json_object(unknown) is not unique
SELECT json_object('{a,b,c}');
-- refused 42601 syntax error at or near ""
SELECT coalesce(NULL, NULL), coalesce(NULL, 1), nullif(1, 1), nullif(NULL, 1), greatest(1, NULL, 3), least(NULL, NULL), num_nulls(1, NULL, NULL), num_nonnulls(1, NULL, 3), num_nulls(VARIADIC ARRAY[1, NULL]);
-- refused 42846 cannot cast type unknown to regclass
SELECT 1::oid, 'pg_class'::regclass, 'int4'::regtype, 4294967295::oid, '-1'::oid;
-- state 42P01 42846 cannot cast type unknown to regclass
SELECT 'nosuch'::regclass;
