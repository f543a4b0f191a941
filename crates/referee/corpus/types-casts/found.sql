-- Least statements of faults that random statements found.
SELECT v::varchar(2)::text, v::char(2)::text, v::char(2)::varchar, v::char(2)::text || 'x', v::varchar(2) || 'x', upper(v::char(2)) FROM (VALUES ('abcdef')) q (v);
SELECT CAST(CAST(v AS character(4)) AS text) FROM unnest(ARRAY['abcdef']) q (v);
SELECT length(v::varchar(3)), v::varchar(3)::varchar(5), v::varchar(3)::char(5) || '|', v::varchar(3) = 'abc', v::varchar(3) LIKE '%c', array[v::varchar(3)]::text[] FROM (VALUES ('abcdef')) q (v);
SELECT d::timestamp(0)::timestamp, d::timestamptz(1)::timestamptz, d::time(0)::time FROM (VALUES (timestamp '2020-01-31 10:00:00.56')) q (d);
SELECT v::varchar(3) FROM (VALUES ('abcdef')) q (v) GROUP BY v::varchar(2);
SELECT v::varchar(2)::text, v::varchar(2), count(*) FROM (VALUES ('abcdef'), ('abc'), ('b')) q (v) GROUP BY v::varchar(2) HAVING v::varchar(2) <> 'b';
SELECT v::varchar(2)::text FROM (VALUES ('abcdef'), ('abc')) q (v) GROUP BY v::varchar(2)::text;
SELECT a::text[] FROM (VALUES (ARRAY[1,2])) q (a) GROUP BY a::text[];
SELECT DISTINCT v::varchar(1)::text FROM (VALUES ('abcdef'), ('abc')) q (v) ORDER BY v::varchar(1)::text;
SELECT ('{abc}'::varchar[])::varchar(2)[], v::varchar(2)[], n::numeric(4,1)[], n::numeric(4,1)[]::text, v::varchar(2)[]::varchar[], v::char(2)[], (v::varchar(2)[])[1], (v::varchar(2)[])[1]::text FROM (VALUES ('{abc}'::varchar[], '{1.25}'::numeric[])) q (v, n);
SELECT coalesce(n, ARRAY(SELECT 0.10)), ARRAY(SELECT 0.10) IN (n, '{0.10}'::numeric[]), CASE WHEN true THEN ARRAY(SELECT 2.5) ELSE n END FROM (VALUES (NULL::numeric[])) q (n);
