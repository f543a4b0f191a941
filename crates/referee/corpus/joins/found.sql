-- Least statements of faults that random statements found.
CREATE TEMP TABLE a (id integer);
CREATE TEMP TABLE b (id integer PRIMARY KEY, x text);
INSERT INTO a VALUES (1), (2);
INSERT INTO b VALUES (2, NULL);
SELECT b = b, b IS NULL, b IS NOT NULL, b::text, to_jsonb(b) FROM a LEFT JOIN b USING (id) ORDER BY a.id;
SELECT count(b), count(*), count(a) FROM a LEFT JOIN b USING (id);
SELECT a < a, a::text, b::text FROM a RIGHT JOIN b ON a.id = b.id + 5;
SELECT a::text, b::text FROM a FULL JOIN b ON a.id = b.id + 5 ORDER BY 1, 2;
SELECT CASE b WHEN b THEN 1 END, coalesce(b, b), b IS DISTINCT FROM b FROM a LEFT JOIN b ON false;
SELECT q::text, (q).x FROM a LEFT JOIN (SELECT 'y' AS x) q ON a.id = 1 ORDER BY a.id;
SELECT v IS NULL, v IS NOT NULL FROM (SELECT ROW(NULL, NULL) AS v) q;
SELECT v IS NULL, v IS NOT NULL FROM (SELECT ROW(1, NULL) AS v) q;
SELECT v IS NULL, v IS NOT NULL FROM (SELECT ROW(1, 2) AS v) q;
SELECT sum(1) OVER w WINDOW w AS (PARTITION BY 6);
SELECT r.id FROM b r RIGHT JOIN (SELECT * FROM a WHERE id + id > 1) l ON r.id = l.id AND r.x = l.id::text WHERE r.id IS NULL;
