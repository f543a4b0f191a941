-- "char", the letter of PostgreSQL's catalog.
SELECT CAST('a'::"char" AS text), CAST('b'::"char" AS character), CAST('c'::"char" AS character varying), CAST('d'::"char" AS integer);
SELECT CAST('xyz'::text AS "char"), CAST('yz'::character varying AS "char"), CAST('z'::character AS "char"), CAST('65'::integer AS "char");
SELECT CAST(''::text AS "char") = '', CAST(NULL::text AS "char");
