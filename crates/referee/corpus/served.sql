-- Statements whose answers differ from PostgreSQL's where a server is asked, each under the
-- reason. The front's own evaluation gives PostgreSQL's answer.

-- sums of floats that leave their range are Infinity, and partial sums come in another order
SELECT sum(x), avg(x) FROM (VALUES (1e308::float8), (1e308)) s (x);
SELECT sum(x), avg(x) FROM (VALUES (1e308::float8), (1e308), (-1e308)) v (x);
-- distances of frames are constants
SELECT sum(a) OVER (ROWS (SELECT 1) PRECEDING) FROM t;
SELECT count(*) OVER (ORDER BY a ROWS (SELECT count(*) FROM s) PRECEDING) FROM s ORDER BY 1;
-- rows are made when they are read, and no more than LIMIT asks for
SELECT * FROM generate_series(timestamp '2021-01-30 12:00', timestamp 'infinity', interval '1 month') LIMIT 6;
-- the keys -0 and 0 are equal, and either may stand for a group
SELECT t FROM t GROUP BY t ORDER BY 1;
-- sequences are not temporary, so that there is none to drop
DROP SEQUENCE tick;
