-- Literals and functions with words in them.
CREATE TABLE p (id int PRIMARY KEY, a int, b text, c numeric);
INSERT INTO p VALUES (1, 10, 'x', 1.5), (2, 20, 'y', 2.5), (3, 10, NULL, NULL), (4, NULL, 'x', 4.0);
CREATE TABLE q (id int, d date, f float8, g boolean);
INSERT INTO q VALUES (1, '2020-01-01', 0.5, true), (2, '2021-02-03', NULL, false), (7, NULL, 1.25, NULL);
CREATE TABLE part (id int, parent int, name text);
INSERT INTO part VALUES (1, NULL, 'root'), (2, 1, 'left'), (3, 1, 'right'), (4, 2, 'll'), (5, 3, 'rl'), (6, 2, 'lr');
SELECT 'abc' LIKE ANY (ARRAY['x%', 'a%']), 'abc' LIKE ALL (ARRAY['%c', 'a%']), 'abc' ~ ANY (ARRAY['z', 'b']), 'abc' NOT LIKE ALL (ARRAY['x', 'y']);
SELECT 'abc' ~* ANY (ARRAY['Z', 'B']), 'abc' !~ ALL (ARRAY['z', 'y']), 'abc' !~* ANY (ARRAY['A']), 'abc' ~~ ANY (ARRAY['a%']), 'abc' ~~* ALL (ARRAY['A%']), 'abc' !~~ ALL (ARRAY['x']), 'abc' !~~* ANY (ARRAY['A%']);
SELECT 'abc' LIKE ANY (SELECT 'a%'), 'abc' LIKE SOME (SELECT 'x%'), 'abc' NOT LIKE ALL (SELECT 'x%');
SELECT b LIKE ANY (ARRAY['x', NULL]) FROM p ORDER BY id;
SELECT 1 + 1 = ANY (ARRAY[2]), NOT 1 = ANY (ARRAY[1]), 1 = ANY (ARRAY[]::int[]), 1 = ALL (ARRAY[]::int[]), NULL = ANY (ARRAY[1]);
SELECT 1 = ANY (VALUES (1), (2)), 1 = ALL (SELECT 1), 5 > ANY (SELECT id FROM p), 'a' || 'b' = ANY (SELECT 'ab');
SELECT 1 + ANY (ARRAY[1]);
SELECT 1 IN (1, 2), 3 NOT IN (1, 2), 1 IN (SELECT 1), 1 NOT IN (SELECT 2), (1, 2) IN ((1, 2), (3, 4)), (1, 2) IN (SELECT 1, 2);
SELECT 1 IN ();
SELECT substring('Thomas' FROM '%#"o_a#"_' FOR '#'), substring('Thomas' FROM 2 FOR 3), substring('Thomas' FOR 3 FROM 2), substring('Thomas' FOR 2), substring('Thomas' FROM 3), substring('Thomas', 2, 3), substring('Thomas', 2);
SELECT substring('abc'::bytea FROM 2 FOR 1), substring('abc' FROM '2'::int);
SELECT substring('Thomas' SIMILAR 'x');
SELECT substr('Thomas', 2, 3), substr('abc' FROM 2);
SELECT overlay('Txxxxas' PLACING 'hom' FROM 2 FOR 4), overlay('Txxxxas' PLACING 'hom' FROM 2), overlay('Txxxxas', 'hom', 2, 4), overlay('Txxxxas', 'hom', 2);
SELECT overlay('abc' FROM 2);
SELECT position('om' IN 'Thomas'), position('b' IN 'a' || 'b'), position('x' || 'y' IN 'wxy');
SELECT position('a', 'b');
SELECT trim('  x '), trim(BOTH FROM '  x '), trim(FROM ' x '), trim('xy' FROM 'xyaxy'), trim(BOTH 'xy' FROM 'xyaxy'), trim(LEADING 'x' FROM 'xax'), trim(TRAILING FROM ' a '), trim(TRAILING 'x' FROM 'xax'), trim(BOTH 'xax', 'x'), trim('xax', 'x'), trim(LEADING 'xax', 'x');
SELECT trim(LEADING FROM '  x', 'y');
SELECT trim(BOTH ' x ');
SELECT trim(FROM 'x');
SELECT extract(nothing FROM timestamp '2001-02-16');
SELECT extract(year, date '2020-02-03');
SELECT is_normalized('x'), is_normalized('x', 'NFC');
SELECT NULL IS NORMALIZED;
SELECT ('a'::text COLLATE "C"), 'a' COLLATE "C" < 'b', 'a' < 'b' COLLATE "C", 'a'::text COLLATE "C" || 'b', upper('a' COLLATE "C");
SELECT b COLLATE "C" FROM p ORDER BY b COLLATE "C" DESC NULLS LAST;
SELECT b FROM p ORDER BY b COLLATE "C", id COLLATE "C";
SELECT 1 COLLATE "C";
SELECT 'a' COLLATE nosuch;
SELECT 'a' COLLATE pg_catalog."C", 'b' COLLATE "POSIX", 'c' COLLATE "default";
SELECT max(b COLLATE "C") FROM p;
SELECT CASE WHEN 'a' COLLATE "C" = 'a' THEN 1 END;
SELECT 'a' COLLATE "C" COLLATE "C";
SELECT interval '1' month to day;
SELECT interval '1' year to second;
SELECT interval '1' second to day;
SELECT interval '1' fortnight;
SELECT interval '1' AS day;
SELECT interval '1' day day;
SELECT interval 1 day;
SELECT date '2020-02-03', int '1', integer '2', bigint '3', smallint '4', int2 '5', int4 '6', int8 '7';
SELECT float '1.5', float8 '2.5', float4 '3.5', real '4.5', double precision '5.5', float(3) '1.5', float(53) '2.25';
SELECT numeric '1.50', numeric(5,1) '1.25', decimal '2.5', dec '3.5', decimal(4) '2.6', dec(4,2) '2.6';
SELECT text 'a', varchar 'b', varchar(2) 'bcd', character varying 'c', character varying (2) 'cde', char 'd', char(3) 'd', character 'e', character(2) 'f', bpchar 'g', name 'h', national character varying (3) 'abcd', nchar 'x', nchar varying (2) 'xyz', national char (2) 'x';
SELECT pg_catalog.int4 '5', pg_catalog.text 'x', "int4" '6', pg_catalog."numeric" '1.5', pg_catalog.numeric(4,1) '1.25';
SELECT int '1' + 1, text 'a' || 'b', date '2020-01-01' + 1, interval '1 day' * 2, - int '5', bool 't' AND true, numeric(3,1) '1.55' + 1;
SELECT nosuch '1';
SELECT int 1;
SELECT lower 'x';
SELECT 'a' 'b';
SELECT 'a'
'b';
SELECT 'a'

   'b' AS x;
SELECT 'a' -- c
'b';
SELECT 'a' /* c */
'b';
SELECT 'a' /*
*/ 'b';
SELECT 'a'
E'b';
SELECT U&"d!0061" UESCAPE '!' FROM (SELECT 1 AS "da") s;
SELECT U&'a' UESCAPE '+';
SELECT U&'a' UESCAPE 'ab';
SELECT B'102';
SELECT X'XY';
SELECT 1., .5, 1.5e3, 1e10, 1e-3, .5e1, 1.e2, 1E+2;
SELECT 1e;
SELECT 1.5.2;
SELECT 1..2;
SELECT 12abc;
SELECT 1a;
SELECT 1_a;
SELECT 1.a;
SELECT 1.5a;
SELECT 1e5x;
SELECT 2147483647, 2147483648, 9223372036854775807, 9223372036854775808, -2147483648, -9223372036854775808;
SELECT "";
SELECT 1 AS "";
