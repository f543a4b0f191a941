-- The names of sub-queries' columns, under casts and subscripts.
SELECT ((SELECT 1 AS c))::integer;
SELECT CAST((SELECT 1 AS c) AS integer);
SELECT ((SELECT 1 AS c ORDER BY 1 LIMIT 1))::text;
SELECT CAST((SELECT * FROM (SELECT 1 AS c) o) AS text);
SELECT CASE WHEN true THEN 1 ELSE (SELECT * FROM (SELECT 1 AS c) o) END;
SELECT (SELECT * FROM (SELECT ARRAY[1] AS c) o)[1], ((SELECT * FROM (SELECT ARRAY[1] AS c) o))[1];
SELECT (SELECT * FROM (SELECT 'x' AS c) o) COLLATE "C";
SELECT ((VALUES (1)))::text, ((SELECT min(x) FROM (VALUES (1)) v (x)))::text;
SELECT ((SELECT v.q FROM (VALUES (1)) v (q)))::text, ((SELECT * FROM (VALUES (1)) v (q)))::text;
SELECT (SELECT 1 AS a UNION SELECT 2 AS b ORDER BY 1 LIMIT 1)::text, ((SELECT NULL::boolean[]))[2];
