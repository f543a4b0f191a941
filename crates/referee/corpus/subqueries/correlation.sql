CREATE TEMP TABLE stock (part int, qty int, bin text);
CREATE TEMP TABLE moves (part int, qty int, day date);
CREATE TEMP TABLE part (id int PRIMARY KEY, label text);
CREATE TEMP TABLE label (label text, part_id int);
INSERT INTO stock VALUES (7, 70, 'a'), (8, 80, 'b'), (9, NULL, 'c'), (NULL, 5, 'd');
INSERT INTO moves VALUES (7, 80, '2022-01-01'), (8, 70, '2022-02-01'), (8, NULL, '2022-03-01'), (10, 5, NULL);
INSERT INTO part VALUES (7, 'bolt'), (8, 'nut');
INSERT INTO label VALUES ('x', 7), (NULL, 9);
-- Conditions over both sides of a join, with a sub-query among them.
SELECT s.part FROM stock s, moves m WHERE s.part = m.part AND ((SELECT max(part) FROM stock) = 9 AND s.qty = 70 OR m.qty = 70) ORDER BY 1;
SELECT s.part FROM stock s JOIN moves m ON s.part = m.part WHERE CASE WHEN (SELECT count(*) FROM part) > 1 THEN s.qty < m.qty ELSE m.qty IS NULL END ORDER BY 1;
SELECT s.part, m.qty FROM stock s LEFT JOIN moves m ON s.part = m.part AND m.qty > (SELECT min(qty) FROM stock) ORDER BY 1, 2;
SELECT count(*) FROM stock s, moves m WHERE s.qty = m.qty AND s.part <> m.part AND (s.bin = 'a' OR m.day IS NOT NULL AND EXISTS (SELECT 1 FROM part WHERE id = m.part));
-- A name inside hides one outside.
SELECT part FROM stock WHERE qty = ANY (SELECT qty FROM stock WHERE part >= 8 AND qty IS NOT NULL) ORDER BY part;
SELECT part FROM stock WHERE qty = ALL (SELECT qty FROM stock WHERE part >= 8 AND qty IS NOT NULL) ORDER BY part;
SELECT part FROM stock WHERE qty > ANY (SELECT qty FROM stock WHERE part >= 8 AND qty IS NOT NULL) ORDER BY part;
SELECT part FROM stock WHERE qty > ALL (SELECT qty FROM stock WHERE part >= 8 AND qty IS NOT NULL) ORDER BY part;
SELECT part FROM stock WHERE qty <= ANY (SELECT qty FROM stock WHERE part >= 8 AND qty IS NOT NULL) ORDER BY part;
SELECT part FROM stock WHERE qty <= ALL (SELECT qty FROM stock WHERE part >= 8 AND qty IS NOT NULL) ORDER BY part;
SELECT part FROM stock WHERE qty <> ANY (SELECT qty FROM stock WHERE part >= 8 AND qty IS NOT NULL) ORDER BY part;
SELECT part FROM stock WHERE qty <> ALL (SELECT qty FROM stock WHERE part >= 8 AND qty IS NOT NULL) ORDER BY part;
SELECT part FROM stock WHERE qty IN (SELECT qty FROM moves WHERE part = 8) ORDER BY 1;
SELECT count(*) FROM stock o WHERE part IN (SELECT part FROM stock b JOIN moves c USING (part) WHERE b.qty = 80);
SELECT id FROM part WHERE EXISTS (SELECT 1 FROM label WHERE label.part_id = part.id) ORDER BY id;
SELECT label FROM part WHERE label IN (SELECT label FROM label) OR id IN (SELECT part_id FROM label) ORDER BY 1;
SELECT stock.part IN (SELECT part FROM moves) FROM stock ORDER BY 1, stock.part;
SELECT part.part FROM stock part WHERE part.qty > 70;
SELECT moves.qty FROM stock moves ORDER BY moves.part;
-- Sub-queries that find nothing, or NULL.
SELECT part, (SELECT label FROM part p WHERE p.id = stock.part) IS NULL, coalesce((SELECT id FROM part p WHERE p.id = stock.part), -1) FROM stock ORDER BY part;
SELECT part FROM stock WHERE (SELECT id FROM part WHERE id = stock.part) IS NULL ORDER BY 1;
SELECT count(*) FROM stock WHERE 9 NOT IN (SELECT qty FROM moves);
SELECT count(*) FROM stock WHERE 70 NOT IN (SELECT qty FROM moves WHERE qty IS NOT NULL);
SELECT count(*) FROM stock WHERE NULL NOT IN (SELECT qty FROM moves);
SELECT count(*) FROM stock WHERE 9 NOT IN (SELECT qty FROM moves WHERE false);
SELECT count(*) FROM stock WHERE 70 IN (SELECT qty FROM moves);
SELECT count(*) FROM stock WHERE part NOT IN (SELECT part FROM moves);
SELECT count(*) FROM stock WHERE NOT (part IN (SELECT part FROM moves));
SELECT count(*) FROM stock WHERE (part IN (SELECT part FROM moves)) IS UNKNOWN;
SELECT count(*) FROM stock WHERE (part, qty) NOT IN (SELECT part, qty FROM moves);
SELECT count(*) FROM stock WHERE (part, qty) IN (SELECT part, qty + 10 FROM moves);
-- An aggregate without GROUP BY has a row whatever its input.
SELECT part FROM stock WHERE EXISTS (SELECT count(*) FROM moves m WHERE m.part = stock.part + 50) ORDER BY part;
SELECT part FROM stock WHERE 0 IN (SELECT count(*) FROM moves m WHERE m.part = stock.part + 50) ORDER BY part;
SELECT part, (SELECT count(*) FROM moves m WHERE m.part = stock.part), (SELECT sum(m.qty) FROM moves m WHERE m.part = stock.part), (SELECT count(*) FROM moves m WHERE m.part = stock.part GROUP BY m.part) FROM stock ORDER BY part;
SELECT part, (SELECT coalesce(sum(m.qty), 0) + 1 FROM moves m WHERE m.part = stock.part HAVING count(*) < 2) FROM stock ORDER BY part;
SELECT part FROM stock s WHERE NOT EXISTS (SELECT sum(qty) FROM moves m WHERE m.part = s.part HAVING sum(qty) > 75) ORDER BY 1;
-- Correlation in odd places.
SELECT id, (SELECT max(a.qty) FROM moves a LEFT JOIN moves b ON a.qty = b.qty + 10 AND b.part = part.id) FROM part ORDER BY id;
SELECT id, (SELECT p.id + g FROM generate_series(1, 4) g ORDER BY g DESC OFFSET 2 LIMIT 1) FROM part p ORDER BY id;
SELECT id, (SELECT a.id FROM (SELECT id FROM part WHERE id = p.id) a JOIN (SELECT id FROM part WHERE id = 15 - p.id) b ON a.id > b.id) FROM part p ORDER BY id;
SELECT id, (SELECT count(*) FROM (SELECT DISTINCT m.qty + p.id FROM moves m) d), (SELECT count(*) FROM (SELECT m.part FROM moves m WHERE m.part <> p.id UNION SELECT p.id) u) FROM part p ORDER BY id;
SELECT id, (SELECT rank FROM (SELECT part, rank() OVER (ORDER BY qty DESC NULLS LAST) AS rank FROM stock WHERE part IS NOT NULL) r WHERE r.part = p.id) FROM part p ORDER BY id;
SELECT id, (SELECT string_agg(s.bin || p.label, ',' ORDER BY s.part) FROM stock s WHERE s.part >= p.id), ARRAY(SELECT s.part * p.id FROM stock s WHERE s.part < 9 ORDER BY 1) FROM part p ORDER BY id;
SELECT id, (SELECT (SELECT count(*) FROM moves m WHERE m.part = p.id AND m.qty < s.qty + 100) FROM stock s WHERE s.part = p.id) FROM part p ORDER BY id;
SELECT p.id, (WITH w AS (SELECT qty FROM moves WHERE part = p.id) SELECT count(*) FROM w a, w b) FROM part p ORDER BY 1;
SELECT (SELECT count(s.part) FROM (VALUES (1)) one (n)) FROM stock s;
SELECT (SELECT max(s.qty) FROM part WHERE false) FROM stock s;
SELECT bin FROM stock s GROUP BY bin HAVING (SELECT count(*) FROM moves m WHERE m.qty > min(s.qty)) > 0 ORDER BY bin;
SELECT part FROM stock ORDER BY part IN (SELECT max(id) FROM part), part;
SELECT part, sum(qty) OVER (PARTITION BY part IN (SELECT id FROM part) ORDER BY part) FROM stock ORDER BY part;
-- What need not be computed is not.
SELECT part, coalesce(qty, (SELECT 1 / (part - part) FROM part x LIMIT 1)) FROM stock WHERE qty IS NOT NULL ORDER BY part;
SELECT CASE WHEN qty > 0 THEN qty ELSE (SELECT 1 / 0) END FROM stock WHERE qty IS NOT NULL ORDER BY 1;
SELECT count(*) FROM (SELECT 1 / (qty - qty) FROM stock) s;
-- Volatile functions.
SELECT count(DISTINCT v) FROM (SELECT (SELECT random() + p.n * 0) AS v FROM generate_series(1, 4) p (n)) s;
WITH r AS MATERIALIZED (SELECT random() AS v) SELECT count(*) FROM r a JOIN r b ON a.v = b.v;
WITH r AS (SELECT random() AS v FROM generate_series(1, 3)) SELECT count(*) FROM (SELECT v FROM r INTERSECT SELECT v FROM r) s;
SELECT count(DISTINCT x) FROM (SELECT random() AS x FROM generate_series(1, 5)) s WHERE x >= 0;
-- Order within.
SELECT ARRAY(SELECT sum(q) FROM (VALUES (4, 1), (2, 2), (9, 3)) v (q, k) GROUP BY k ORDER BY 1 DESC);
SELECT bin FROM (SELECT bin FROM stock ORDER BY qty DESC NULLS LAST) s LIMIT 1;
SELECT array_agg(bin) FROM (SELECT bin FROM stock ORDER BY bin DESC) s;
SELECT string_agg(bin, ',' ORDER BY part DESC), string_agg(DISTINCT bin, ',' ORDER BY bin), array_agg(qty ORDER BY bin) FROM stock;
SELECT 33 HAVING 33 > 30;
SELECT 33 HAVING false;
SELECT count(*) HAVING count(*) = 1;
