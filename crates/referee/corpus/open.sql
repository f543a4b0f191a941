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
-- refused 42P10 table "" has  columns available but  columns specified
SELECT * FROM json_to_recordset('[{"a":1,"b":"foo"}, {"a":"2","c":"bar"}]') AS x (a int, b text);
-- refused 42P10 table "" has  columns available but  columns specified
SELECT * FROM jsonb_to_record('{"a":1,"b":[1,2,3],"c":"bar"}') AS x (a int, b int[], c text, d date);
-- state 42809 42P20 window function row_number requires an OVER clause
SELECT row_number() FROM w;
-- refused 42601 syntax error at or near ""
SELECT coalesce(NULL, NULL), coalesce(NULL, 1), nullif(1, 1), nullif(NULL, 1), greatest(1, NULL, 3), least(NULL, NULL), num_nulls(1, NULL, NULL), num_nonnulls(1, NULL, 3), num_nulls(VARIADIC ARRAY[1, NULL]);
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
SELECT ('[1]'::jsonb)[0:1];
SELECT (1, 2) + (3, 4);
SELECT - (-2147483648);
SELECT 1e131072;
SELECT * FROM generate_series(timestamp '2021-01-30 12:00', timestamp 'infinity', interval '1 day') LIMIT 6;
SELECT * FROM generate_series(timestamp '2021-01-30 12:00', timestamp 'infinity', interval '10 hours') LIMIT 6;
SELECT information_schema._pg_expandarray(ARRAY[5, 6]);
SELECT 'a' COLLATE "C" < 'b' COLLATE "POSIX";
SELECT 1 = ANY (SELECT 'x');
SELECT 1 IN (SELECT 'x');
SELECT x, pg_typeof(x)::text FROM (SELECT 'a'::char(3) UNION ALL SELECT 'b'::varchar) s (x);
SELECT NULL UNION SELECT NULL UNION SELECT 1;
SELECT substr('abc', '2');
SELECT nosuch.abs(1);
SELECT rank(1) OVER (ORDER BY k) FROM run;
WITH RECURSIVE t (n, s) AS (SELECT 1, 'a'::varchar(1) UNION ALL SELECT n + 1, s || 'b' FROM t WHERE n < 3) SELECT * FROM t;
WITH RECURSIVE t (n) AS (SELECT n FROM t UNION ALL SELECT 1) SELECT * FROM t;
WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n FROM t UNION ALL SELECT n FROM t) SELECT * FROM t;
WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT 1 AS k) SELECT * FROM a;
WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a;
-- arrays: dimensions are no types
SELECT ARRAY[1, 2, 3] = ARRAY[[1, 2]];
SELECT ARRAY[1, 2, 3] <> ARRAY[[1, 2]];
SELECT ARRAY[1, 2, 3] < ARRAY[[1, 2]];
SELECT ARRAY[1, 2, 3] <= ARRAY[[1, 2]];
SELECT ARRAY[1, 2, 3] > ARRAY[[1, 2]];
SELECT ARRAY[1, 2, 3] >= ARRAY[[1, 2]];
SELECT ARRAY[1, 2, 3] @> ARRAY[[1, 2]];
SELECT ARRAY[1, 2, 3] <@ ARRAY[[1, 2]];
SELECT ARRAY[1, 2, 3] && ARRAY[[1, 2]];
SELECT ARRAY[2] = ARRAY[[1, 2]];
SELECT ARRAY[2] <> ARRAY[[1, 2]];
SELECT ARRAY[2] < ARRAY[[1, 2]];
SELECT ARRAY[2] <= ARRAY[[1, 2]];
SELECT ARRAY[2] > ARRAY[[1, 2]];
SELECT ARRAY[2] >= ARRAY[[1, 2]];
SELECT ARRAY[2] @> ARRAY[[1, 2]];
SELECT ARRAY[2] <@ ARRAY[[1, 2]];
SELECT ARRAY[2] && ARRAY[[1, 2]];
SELECT '{}'::int[] = ARRAY[[1, 2]];
SELECT '{}'::int[] <> ARRAY[[1, 2]];
SELECT '{}'::int[] < ARRAY[[1, 2]];
SELECT '{}'::int[] <= ARRAY[[1, 2]];
SELECT '{}'::int[] > ARRAY[[1, 2]];
SELECT '{}'::int[] >= ARRAY[[1, 2]];
SELECT '{}'::int[] @> ARRAY[[1, 2]];
SELECT '{}'::int[] <@ ARRAY[[1, 2]];
SELECT '{}'::int[] && ARRAY[[1, 2]];
SELECT ARRAY[1, NULL] = ARRAY[[1, 2]];
SELECT ARRAY[1, NULL] <> ARRAY[[1, 2]];
SELECT ARRAY[1, NULL] < ARRAY[[1, 2]];
SELECT ARRAY[1, NULL] <= ARRAY[[1, 2]];
SELECT ARRAY[1, NULL] > ARRAY[[1, 2]];
SELECT ARRAY[1, NULL] >= ARRAY[[1, 2]];
SELECT ARRAY[1, NULL] @> ARRAY[[1, 2]];
SELECT ARRAY[1, NULL] <@ ARRAY[[1, 2]];
SELECT ARRAY[1, NULL] && ARRAY[[1, 2]];
SELECT ARRAY[[1, 2], [3, 4]] = ARRAY[1, 2];
SELECT ARRAY[[1, 2], [3, 4]] = '{}'::int[];
SELECT ARRAY[[1, 2], [3, 4]] = ARRAY[NULL, 2];
SELECT ARRAY[[1, 2], [3, 4]] = NULL::int[];
SELECT ARRAY[[1, 2], [3, 4]] <> ARRAY[1, 2];
SELECT ARRAY[[1, 2], [3, 4]] <> '{}'::int[];
SELECT ARRAY[[1, 2], [3, 4]] <> ARRAY[NULL, 2];
SELECT ARRAY[[1, 2], [3, 4]] <> NULL::int[];
SELECT ARRAY[[1, 2], [3, 4]] < ARRAY[1, 2];
SELECT ARRAY[[1, 2], [3, 4]] < '{}'::int[];
SELECT ARRAY[[1, 2], [3, 4]] < ARRAY[NULL, 2];
SELECT ARRAY[[1, 2], [3, 4]] < NULL::int[];
SELECT ARRAY[[1, 2], [3, 4]] <= ARRAY[1, 2];
SELECT ARRAY[[1, 2], [3, 4]] <= '{}'::int[];
SELECT ARRAY[[1, 2], [3, 4]] <= ARRAY[NULL, 2];
SELECT ARRAY[[1, 2], [3, 4]] <= NULL::int[];
SELECT ARRAY[[1, 2], [3, 4]] > ARRAY[1, 2];
SELECT ARRAY[[1, 2], [3, 4]] > '{}'::int[];
SELECT ARRAY[[1, 2], [3, 4]] > ARRAY[NULL, 2];
SELECT ARRAY[[1, 2], [3, 4]] > NULL::int[];
SELECT ARRAY[[1, 2], [3, 4]] >= ARRAY[1, 2];
SELECT ARRAY[[1, 2], [3, 4]] >= '{}'::int[];
SELECT ARRAY[[1, 2], [3, 4]] >= ARRAY[NULL, 2];
SELECT ARRAY[[1, 2], [3, 4]] >= NULL::int[];
SELECT ARRAY[[1, 2], [3, 4]] @> ARRAY[1, 2];
SELECT ARRAY[[1, 2], [3, 4]] @> '{}'::int[];
SELECT ARRAY[[1, 2], [3, 4]] @> ARRAY[NULL, 2];
SELECT ARRAY[[1, 2], [3, 4]] @> NULL::int[];
SELECT ARRAY[[1, 2], [3, 4]] <@ ARRAY[1, 2];
SELECT ARRAY[[1, 2], [3, 4]] <@ '{}'::int[];
SELECT ARRAY[[1, 2], [3, 4]] <@ ARRAY[NULL, 2];
SELECT ARRAY[[1, 2], [3, 4]] <@ NULL::int[];
SELECT ARRAY[[1, 2], [3, 4]] && ARRAY[1, 2];
SELECT ARRAY[[1, 2], [3, 4]] && '{}'::int[];
SELECT ARRAY[[1, 2], [3, 4]] && ARRAY[NULL, 2];
SELECT ARRAY[[1, 2], [3, 4]] && NULL::int[];
SELECT NULL::int[] = ARRAY[[1, 2]];
SELECT NULL::int[] <> ARRAY[[1, 2]];
SELECT NULL::int[] < ARRAY[[1, 2]];
SELECT NULL::int[] <= ARRAY[[1, 2]];
SELECT NULL::int[] > ARRAY[[1, 2]];
SELECT NULL::int[] >= ARRAY[[1, 2]];
SELECT NULL::int[] @> ARRAY[[1, 2]];
SELECT NULL::int[] <@ ARRAY[[1, 2]];
SELECT NULL::int[] && ARRAY[[1, 2]];
SELECT ARRAY[[1, 2], [3, 4]] || 3;
SELECT ARRAY[[1, 2], [3, 4]] || '{7,8}';
SELECT ARRAY[[1, 2], [3, 4]] || 2.5;
SELECT ARRAY[[1, 2], [3, 4]] || 9::bigint;
SELECT array_cat(ARRAY[1, 2], ARRAY[[5, 6], [7, 8]]);
SELECT array_cat('{}'::int[], ARRAY[[5, 6], [7, 8]]);
SELECT array_cat(NULL::int[], ARRAY[[5, 6], [7, 8]]);
SELECT array_cat(ARRAY[[1, 2]], ARRAY[3]);
SELECT array_cat(ARRAY[[1, 2]], '{}'::int[]);
SELECT array_cat(ARRAY[[1, 2]], NULL::int[]);
SELECT array_dims('[2:4]={1,2,3}'::int[]);
SELECT array_length('[2:4]={1,2,3}'::int[], 1);
SELECT array_length('[2:4]={1,2,3}'::int[], 2);
SELECT array_length('[2:4]={1,2,3}'::int[], 0);
SELECT array_length('[2:4]={1,2,3}'::int[], 3);
SELECT array_length('[2:4]={1,2,3}'::int[], -1);
SELECT array_length('[2:4]={1,2,3}'::int[], NULL);
SELECT array_lower('[2:4]={1,2,3}'::int[], 1);
SELECT array_lower('[2:4]={1,2,3}'::int[], 2);
SELECT array_lower('[2:4]={1,2,3}'::int[], 0);
SELECT array_lower('[2:4]={1,2,3}'::int[], 3);
SELECT array_lower('[2:4]={1,2,3}'::int[], -1);
SELECT array_lower('[2:4]={1,2,3}'::int[], NULL);
SELECT array_upper('[2:4]={1,2,3}'::int[], 1);
SELECT array_upper('[2:4]={1,2,3}'::int[], 2);
SELECT array_upper('[2:4]={1,2,3}'::int[], 0);
SELECT array_upper('[2:4]={1,2,3}'::int[], 3);
SELECT array_upper('[2:4]={1,2,3}'::int[], -1);
SELECT array_upper('[2:4]={1,2,3}'::int[], NULL);
SELECT array_fill(7, ARRAY[2, 2]);
SELECT array_fill(NULL::int, ARRAY[2, 2]);
SELECT array_fill('x'::text, ARRAY[2, 2]);
SELECT array_fill(1.50, ARRAY[2, 2]);
SELECT array_fill(7, ARRAY[3], ARRAY[2]), array_fill(0, ARRAY[1, 2], ARRAY[5, -1]);
SELECT array_remove(ARRAY[[1]], 1);
SELECT array_replace(ARRAY[[1, 2], [2, 3]], NULL, NULL);
SELECT ('[0:2]={1,2,3}'::int[])[1];
SELECT ('[0:2]={1,2,3}'::int[])[0];
SELECT ('[0:2]={1,2,3}'::int[])[4];
SELECT ('[0:2]={1,2,3}'::int[])[-1];
SELECT ('[0:2]={1,2,3}'::int[])[NULL];
SELECT ('[0:2]={1,2,3}'::int[])[1:2];
SELECT ('[0:2]={1,2,3}'::int[])[2:];
SELECT ('[0:2]={1,2,3}'::int[])[:2];
SELECT ('[0:2]={1,2,3}'::int[])[:];
SELECT ('[0:2]={1,2,3}'::int[])[5:9];
SELECT ('[0:2]={1,2,3}'::int[])[3:1];
SELECT ('[0:2]={1,2,3}'::int[])[NULL:2];
SELECT (ARRAY[[1, 2, 3], [4, 5, 6]])[1];
SELECT json_object('{{{a}}}'::text[]);
SELECT jsonb_object('{{{a}}}'::text[]);
SELECT width_bucket(1, ARRAY[[1, 2]]);
SELECT 'abc' LIKE ALL (ARRAY['a%', 'x%']);
SELECT 'abc' LIKE ALL (ARRAY['%c', 'a%']);
SELECT 'abc' LIKE ALL ('{}'::text[]);
SELECT 'abc' LIKE ALL (ARRAY['z', NULL]);
SELECT 'abc' LIKE SOME (ARRAY['a%', 'x%']);
SELECT 'abc' LIKE SOME (ARRAY['%c', 'a%']);
SELECT 'abc' LIKE SOME ('{}'::text[]);
SELECT 'abc' LIKE SOME (ARRAY['z', NULL]);
SELECT 'abc' NOT LIKE ALL (ARRAY['a%', 'X%']);
SELECT 'abc' NOT LIKE ALL (ARRAY['%C', 'a%']);
SELECT 'abc' ILIKE ALL (ARRAY['a%', 'X%']);
SELECT 'abc' ILIKE ALL (ARRAY['%C', 'a%']);
SELECT 'abc' NOT ILIKE ALL (ARRAY['a%', 'X%']);
SELECT 'abc' NOT ILIKE ALL (ARRAY['%C', 'a%']);
-- syntax
SELECT 'a'.b;
SELECT make_interval(days := 3, hours := 4), make_interval(0, 0, 0, 0, 0, 0, 1e-6), make_interval(NULL);
SELECT interval(3) '1.23456 seconds', interval '1.23456 s'::interval(1), interval '1.5' second(0), time(2) '10:11:12.345678', timestamp(0) '2021-01-01 00:00:00.6', timestamptz(3) '2021-01-01 00:00:00.123456Z', timetz(1) '10:11:12.55Z';
SELECT * FROM (SELECT 1);
WITH RECURSIVE t AS (SELECT id, up FROM node WHERE id = 1 UNION ALL SELECT n.id, n.up FROM node n JOIN t ON n.up = t.id) SEARCH DEPTH FIRST BY id SET pos SELECT id FROM t ORDER BY pos;
WITH RECURSIVE t AS (SELECT id, up FROM node WHERE id = 1 UNION ALL SELECT n.id, n.up FROM node n JOIN t ON n.up = t.id) SEARCH BREADTH FIRST BY id SET pos SELECT id FROM t ORDER BY pos;
-- syntax: VARIADIC
SELECT concat_ws(','), concat_ws(',', VARIADIC ARRAY['p', 'q', NULL]), concat(VARIADIC ARRAY[1, 2, 3]);
SELECT format(NULL, 1), format('no args'), format(''), format('%s', VARIADIC ARRAY['v']), format('%s,%s', VARIADIC ARRAY[1, 2]);
-- binder: column definition lists
SELECT * FROM json_to_record('{"a":1,"b":[1,2],"c":"x","d":{"e":5},"f":null}') AS r (a int, b int[], c text, d jsonb, f date, g text);
SELECT * FROM jsonb_to_record('{"a":1,"b":[1,2],"c":"x","d":{"e":5},"f":null}') AS r (a int, b int[], c text, d jsonb, f date, g text);
SELECT * FROM json_to_recordset('[{"a":1,"b":"x"},{"a":"2"},{}]') AS r (a int, b text);
SELECT * FROM jsonb_to_recordset('[{"a":1,"b":"x"},{"a":"2"},{}]') AS r (a int, b text);
SELECT * FROM jsonb_to_record('{"a":"x"}') AS r (a int);
SELECT * FROM jsonb_to_recordset('{"a":1}') AS r (a int);
SELECT * FROM json_to_recordset('[1]') AS r (a int);
SELECT x.a, x.b FROM (VALUES (1, '{"a":10,"b":"p"}'::jsonb), (2, '{"a":20}')) t (id, j), LATERAL jsonb_to_record(t.j) AS x (a int, b text);
-- syntax: SUBSTRING … FOR … FROM and SIMILAR
SELECT substring('abcdefg' SIMILAR 'a#"bcd#"efg' ESCAPE '#'), substring('abcdefg' SIMILAR '%' ESCAPE '#'), substring('abcdefg', 'a#"b_d#"%', '#');
SELECT substring('abc' SIMILAR 'a' ESCAPE '##');
SELECT substring('Thomson' FOR 2 FROM 2);
SELECT substring('日本語' FOR 2 FROM 2);
SELECT substring('' FOR 2 FROM 2);
SELECT substring(NULL FOR 2 FROM 2);
-- binder: LIKE ANY and its kin
SELECT 'abc' LIKE ANY (ARRAY['a%', 'x%']);
SELECT 'abc' LIKE ANY (ARRAY['%c', 'a%']);
SELECT 'abc' LIKE ANY ('{}'::text[]);
SELECT 'abc' LIKE ANY (ARRAY['z', NULL]);
SELECT 'abc' NOT LIKE ANY (ARRAY['a%', 'X%']);
SELECT 'abc' NOT LIKE ANY (ARRAY['%C', 'a%']);
SELECT 'abc' ILIKE ANY (ARRAY['a%', 'X%']);
SELECT 'abc' ILIKE ANY (ARRAY['%C', 'a%']);
SELECT 'abc' NOT ILIKE ANY (ARRAY['a%', 'X%']);
SELECT 'abc' NOT ILIKE ANY (ARRAY['%C', 'a%']);
-- syntax: NORMALIZE and its forms
SELECT normalize(U&'e\0301', NFC) = U&'\00e9';
SELECT normalize(U&'e\0301', NFC) = 'fi';
SELECT normalize(U&'e\0301', NFD) = U&'\00e9';
SELECT normalize(U&'e\0301', NFD) = 'fi';
SELECT normalize(U&'e\0301', NFKC) = U&'\00e9';
SELECT normalize(U&'e\0301', NFKC) = 'fi';
SELECT normalize(U&'e\0301', NFKD) = U&'\00e9';
SELECT normalize(U&'e\0301', NFKD) = 'fi';
SELECT normalize('plain', NFC) = U&'\00e9';
SELECT normalize('plain', NFC) = 'fi';
SELECT normalize('plain', NFD) = U&'\00e9';
SELECT normalize('plain', NFD) = 'fi';
SELECT normalize('plain', NFKC) = U&'\00e9';
SELECT normalize('plain', NFKC) = 'fi';
SELECT normalize('plain', NFKD) = U&'\00e9';
SELECT normalize('plain', NFKD) = 'fi';
SELECT normalize(NULL, NFC) = U&'\00e9';
SELECT normalize(NULL, NFC) = 'fi';
SELECT normalize(NULL, NFD) = U&'\00e9';
SELECT normalize(NULL, NFD) = 'fi';
SELECT normalize(NULL, NFKC) = U&'\00e9';
SELECT normalize(NULL, NFKC) = 'fi';
SELECT normalize(NULL, NFKD) = U&'\00e9';
SELECT normalize(NULL, NFKD) = 'fi';
SELECT normalize(U&'\FB01', NFC) = U&'\00e9';
SELECT normalize(U&'\FB01', NFC) = 'fi';
SELECT normalize(U&'\FB01', NFD) = U&'\00e9';
SELECT normalize(U&'\FB01', NFD) = 'fi';
SELECT normalize(U&'\FB01', NFKC) = U&'\00e9';
SELECT normalize(U&'\FB01', NFKC) = 'fi';
SELECT normalize(U&'\FB01', NFKD) = U&'\00e9';
SELECT normalize(U&'\FB01', NFKD) = 'fi';
SELECT normalize('x', NFX);
-- syntax: operators right before a sign
SELECT count(*) FROM (VALUES (-3), (-1), (0), (2), (NULL)) v (x) WHERE x!=-1;
SELECT count(*) FROM (VALUES (-3), (-1), (0), (2), (NULL)) v (x) WHERE x%-2=0;
SELECT +-+5;
SELECT 2^-1;
SELECT ~-1;
SELECT @-5;
SELECT 8>>-0;
