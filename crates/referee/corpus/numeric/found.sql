-- Least statements of faults that random statements found.
CREATE TEMP TABLE t (m numeric(6,2), w numeric(38,10));
INSERT INTO t VALUES (1, 0), (0, 1), (NULL, NULL);
SELECT m, m >= NULL::integer, m = NULL::smallint, NULL::bigint < m, m <> NULL::numeric(4,1), w > NULL::integer, m BETWEEN NULL::integer AND 5, m IN (NULL::integer, 1) FROM t ORDER BY 1;
SELECT m FROM t WHERE m >= NULL::integer;
SELECT m FROM t WHERE NULL::integer <> (SELECT 1.0);
SELECT m FROM t WHERE (m, w) > (NULL::integer, 0) OR m IS DISTINCT FROM NULL::integer ORDER BY 1;
