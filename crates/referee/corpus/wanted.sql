-- Statements whose answers differ from PostgreSQL's on purpose, each under the reason.
-- wanted: CHAR is held without its trailing blanks
SELECT v FROM (VALUES ('a '::char(3)), ('a'), ('B')) s (v) ORDER BY v;
-- wanted: CHAR is held without its trailing blanks
SELECT 'x'::char(3) UNION ALL SELECT 'y '::varchar ORDER BY 1;
-- wanted: no bit strings
SELECT E'a\tb\x41\u00e9', U&'\00e9\+01F600', $$it's$$, $q$a$$b$q$, B'101', X'1F';
-- wanted: no "char"
SELECT 'x'::"char", 'name'::name, 'abc'::char(5), 'abc'::char, 'abcdef'::varchar(3);
-- wanted: pg_typeof gives TEXT
SELECT pg_typeof('a'), pg_typeof(1), pg_typeof(1.0), pg_typeof(NULL);
-- wanted: pg_typeof gives TEXT
SELECT current_date = now()::date, localtimestamp = now()::timestamp, current_timestamp = transaction_timestamp(), statement_timestamp() >= now(), clock_timestamp() >= now(), pg_typeof(current_time), pg_typeof(localtime), timeofday() IS NOT NULL;
-- wanted: NUMERIC with a precision has at most 38 digits
SELECT 1::numeric(39, 10), 12345678901234567890123456789012345678901234567890 * 2;
-- wanted: pg_typeof gives TEXT
SELECT 1 = 1.0, 1 < 1.5::float4, 1::smallint + 1::bigint, pg_typeof(1::smallint + 1), pg_typeof(1 + 1.0), pg_typeof(1.0 + 1::float4), pg_typeof(1::float4 + 1::float4), pg_typeof(2 ^ 2), pg_typeof(round(1.5::float8));
-- wanted: no other encodings
SELECT to_ascii('x');
-- wanted: CHAR is held without its trailing blanks
SELECT 'abc'::varchar(2), 'abc'::char(2), 'a'::char(3) || 'b', 'abc'::name, pg_typeof('a' || 'b'), pg_typeof('x'::varchar || 'y'), pg_typeof(upper('x'::varchar)), pg_typeof(concat('a', 1));
-- wanted: least and greatest values of types that have an order
SELECT max(j) FROM v;
-- wanted: least and greatest values of types that have an order
SELECT max(b) FROM v;
-- wanted: count() is count(*)
SELECT count() FROM v;
-- wanted: no XML
SELECT xmlagg('x'::xml);
-- wanted: no ranges
SELECT range_agg(NULL::int4range);
-- wanted: of PostgreSQL 16
SELECT any_value(i) FROM v WHERE i = 7;
-- wanted: arrays begin at 1
SELECT ARRAY[1, 2, 3], ARRAY[[1, 2], [3, 4]], ARRAY[]::int[], '{1,NULL,3}'::int[], '{{a,b},{c,d}}'::text[], ARRAY[1, 2.5], ARRAY['a', NULL], '{"a b","c\"d",""}'::text[], '[0:1]={5,6}'::int[];
-- wanted: arrays begin at 1
SELECT array_append(ARRAY[1,2], 3), array_cat(ARRAY[1,2,3], ARRAY[4,5]), array_dims(ARRAY[[1,2,3],[4,5,6]]), array_fill(11, ARRAY[2,3]), array_fill(7, ARRAY[3], ARRAY[2]), array_length(ARRAY[1,2,3], 1), array_length(ARRAY[]::int[], 1), array_lower('[0:2]={1,2,3}'::int[], 1), array_ndims(ARRAY[[1,2,3],[4,5,6]]), array_position(ARRAY['sun','mon','tue'], 'mon'), array_position(ARRAY[1,2,1], 1, 2), array_positions(ARRAY['A','A','B','A'], 'A'), array_prepend(1, ARRAY[2,3]), array_remove(ARRAY[1,2,3,2], 2), array_replace(ARRAY[1,2,5,4], 5, 3), array_to_string(ARRAY[1,2,3,NULL,5], ',', '*'), array_upper(ARRAY[1,8,3,7], 1), cardinality(ARRAY[[1,2],[3,4]]), cardinality('{}'::int[]), trim_array(ARRAY[1,2,3,4,5,6], 2);
-- wanted: rows of tables are no types
SELECT json_populate_record(NULL::pg_catalog.pg_class, '{}') IS NULL;
-- wanted: rows of functions within CASE
SELECT CASE WHEN true THEN generate_series(1, 2) END;
-- wanted: rows of functions within COALESCE
SELECT coalesce(generate_series(1, 2), 0);
-- wanted: of the standard
SELECT lag(x) IGNORE NULLS OVER (ORDER BY k) FROM w;
