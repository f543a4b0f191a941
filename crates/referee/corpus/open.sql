-- Statements whose answers differ from PostgreSQL's and are to be mended, each under the kind
-- of its difference. The test of the corpus tells which of them are mended.
-- accepted 42P18 
SELECT ARRAY[];
-- state 22000 42883 function array_append(integer[], integer) does not exist
SELECT array_append(ARRAY[[1]], 2);
-- state 0A000 42883 function array_position(integer[], integer) does not exist
SELECT array_position(ARRAY[[1]], 1);
-- types integer integer[]
SELECT (ARRAY[10,20,30])[2], (ARRAY[10,20,30])[0], (ARRAY[10,20,30])[2:3], (ARRAY[10,20,30])[:2], (ARRAY[10,20,30])[2:], (ARRAY[[1,2],[3,4]])[2][1], (ARRAY[[1,2],[3,4]])[1:2][1], (ARRAY[[1,2],[3,4]])[1], (ARRAY[10,20])[NULL];
-- rows
SELECT (array_agg(a))[1][2], array_agg(a) = '{{1,2},{3,4}}'::int[], array_agg(a)::text[] FROM (VALUES (ARRAY[1,2]), (ARRAY[3,4])) v (a);
-- refused 42725 function json_object(unknown) is not unique
SELECT json_object('{a, 1, b, "def", c, 3.5}'), json_object('{{a, 1}, {b, "def"}}'), json_object('{a,b}', '{1,2}'), jsonb_object('{a,1}'), jsonb_object('{a,b}', '{1,NULL}');
-- state 2202E 42725 function json_object(unknown) is not unique
SELECT json_object('{a,b,c}');
-- refused 42846 cannot cast type unknown to regclass
SELECT 1::oid, 'pg_class'::regclass, 'int4'::regtype, 4294967295::oid, '-1'::oid;
-- state 42P01 42846 cannot cast type unknown to regclass
SELECT 'nosuch'::regclass;
