-- Least statements of faults that random statements found.
SELECT grouping(jsonb_extract_path(v, VARIADIC ARRAY['b', 'a'])) FROM (VALUES ('{}'::jsonb)) q (v) GROUP BY GROUPING SETS ((jsonb_extract_path(v, VARIADIC ARRAY['b', 'a'])), ()) ORDER BY 1;
SELECT concat_ws(VARIADIC ARRAY['-', v]), concat(VARIADIC ARRAY['-', v]) FROM (VALUES ('x')) q (v) GROUP BY concat_ws(VARIADIC ARRAY['-', v]), concat(VARIADIC ARRAY['-', v]);
SELECT q = q, q < q FROM (VALUES ('1')) q (v) GROUP BY q = q, q < q;
SELECT avg(b) FROM (VALUES (1, 'x')) q (a, b) WHERE max(a) > 1;
SELECT v::text FROM (VALUES (1), (2)) q (v) GROUP BY ROLLUP ((v)::text) ORDER BY 1;
SELECT count(*) FROM (VALUES (1), (2)) q (v) GROUP BY CUBE ((ARRAY[v])[1], (v) + 1) ORDER BY 1;
SELECT count(*) FROM (VALUES (1), (2)) q (v) GROUP BY GROUPING SETS (((v)::text, (v) + 1), ((v) || 'x'), (v) * 2, ()) ORDER BY 1;

-- All keys of DISTINCT count, also those that nothing reads.
SELECT 7 FROM (VALUES (2), (NULL)) r (i) CROSS JOIN LATERAL (SELECT DISTINCT q.b FROM (SELECT 'x'::text AS a, v.b FROM (VALUES (1), (NULL)) v (b)) q WHERE r.i <> 4 GROUP BY q.a, q.b) s;
SELECT count(*) FROM (VALUES (2), (3), (2)) r (i) CROSS JOIN LATERAL (SELECT DISTINCT q.b, q.c FROM (VALUES (1, 2), (1, 3), (1, 2)) q (b, c) WHERE r.i < 4 GROUP BY q.c, q.b) s;

-- A limit of keys whose rows come in their order.
SELECT 5 FROM (VALUES (1), (2)) r (a) WHERE 7 <> (SELECT q.c FROM (SELECT b.x AS c, r.a AS d FROM (VALUES (3), (4)) b (x)) q ORDER BY 1 LIMIT 1) GROUP BY r.a LIMIT 1;
