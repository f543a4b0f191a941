-- Statements whose answers differ from PostgreSQL's on purpose, each under the reason.
-- wanted: a row has no named type
SELECT p FROM pet p WHERE id = 4;
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
-- wanted: rows of tables are no types
SELECT json_populate_record(NULL::pg_catalog.pg_class, '{}') IS NULL;
-- wanted: rows of functions within CASE
SELECT CASE WHEN true THEN generate_series(1, 2) END;
-- wanted: rows of functions within COALESCE
SELECT coalesce(generate_series(1, 2), 0);
-- wanted: of the standard
SELECT lag(x) IGNORE NULLS OVER (ORDER BY k) FROM w;
