CREATE TEMP TABLE a (k int, v int);
INSERT INTO a VALUES (1, 10), (2, 20), (3, NULL);
SELECT a.k, s.w FROM a, LATERAL (SELECT a.v * 2 AS w) s ORDER BY 1;
SELECT a.k, s.w FROM a LEFT JOIN LATERAL (SELECT b.v AS w FROM a b WHERE b.k > a.k ORDER BY b.k LIMIT 1) s ON true ORDER BY 1;
SELECT k, (WITH w AS (SELECT a.v + 1 AS x) SELECT x FROM w) FROM a ORDER BY k;
SELECT k FROM a WHERE v IN (WITH w AS (SELECT max(v) AS m FROM a) SELECT m FROM w);
SELECT a.k, g.g, s.n FROM a, LATERAL generate_series(1, a.k) g, LATERAL (SELECT a.k * g.g AS n) s ORDER BY 1, 2;
SELECT * FROM (SELECT k FROM a) s, (SELECT s.k) t;
SELECT k, (SELECT sum(x) FROM LATERAL (VALUES (a.k), (a.v)) t (x)) FROM a ORDER BY k;
