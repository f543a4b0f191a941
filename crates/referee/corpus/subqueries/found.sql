-- Least statements of faults that random statements found.
CREATE TEMP TABLE t (a integer);
CREATE TEMP TABLE u (b integer);
INSERT INTO t VALUES (3), (NULL);
SELECT a FROM t WHERE (NULL::integer, (SELECT b FROM u)) IN (SELECT 4, 5 FROM u);
SELECT a FROM t WHERE (a, (SELECT max(b) FROM u)) IN (SELECT 4, b FROM u) OR a = 3;
SELECT a, EXISTS (SELECT 1 FROM t x WHERE x.a <> t.a ORDER BY 1 OFFSET 1 ROWS FETCH NEXT 0 ROWS WITH TIES) FROM t ORDER BY 1;
SELECT x.a, u.b FROM t x RIGHT JOIN u ON CASE WHEN x.a > 1 THEN (SELECT true FROM t LIMIT 1) END;
