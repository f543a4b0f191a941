SELECT CAST(int4range '[1,5)' AS int4multirange), CAST(int8range '[1,5)' AS int8multirange), CAST(numrange '[1.0,5]' AS nummultirange), CAST(daterange '[2020-01-01,)' AS datemultirange), CAST(tsrange '(,)' AS tsmultirange), CAST(tstzrange 'empty' AS tstzmultirange);
SELECT cast('[1,5]' AS int4range), cast('{[1,5]}'::text AS int4multirange), cast(int4range(1, 5) AS varchar(3)), cast(numrange(1, 2) AS char(9)), cast(int4range(1, 5) AS name);
SELECT int4range(1, 5)::int8range;
SELECT int4range(1, 5)::int8multirange;
SELECT int4multirange(int4range(1, 5))::int4range;
