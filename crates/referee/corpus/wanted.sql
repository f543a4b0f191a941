-- Statements whose answers differ from PostgreSQL's on purpose, each under the reason.

-- wanted: functions of the server, which the front asks its caller for
SELECT pg_typeof('a'), pg_typeof(1), pg_typeof(1.0), pg_typeof(NULL);
-- wanted: functions of the server, which the front asks its caller for
SELECT current_date = now()::date, localtimestamp = now()::timestamp, current_timestamp = transaction_timestamp(), statement_timestamp() >= now(), clock_timestamp() >= now(), pg_typeof(current_time), pg_typeof(localtime), timeofday() IS NOT NULL;
-- wanted: functions of the server, which the front asks its caller for
SELECT 1 = 1.0, 1 < 1.5::float4, 1::smallint + 1::bigint, pg_typeof(1::smallint + 1), pg_typeof(1 + 1.0), pg_typeof(1.0 + 1::float4), pg_typeof(1::float4 + 1::float4), pg_typeof(2 ^ 2), pg_typeof(round(1.5::float8));
-- wanted: no other encodings
SELECT convert('caf\303\251'::bytea, 'UTF8', 'WIN1252');
SELECT to_ascii('Karél', 'LATIN1');
SELECT to_ascii('x');
-- wanted: CHAR is held without its trailing blanks
SELECT 'abc'::varchar(2), 'abc'::char(2), 'a'::char(3) || 'b', 'abc'::name, pg_typeof('a' || 'b'), pg_typeof('x'::varchar || 'y'), pg_typeof(upper('x'::varchar)), pg_typeof(concat('a', 1));
-- wanted: least and greatest values of types that have an order
SELECT max(f) FROM meas;
SELECT max(j) FROM v;
-- wanted: least and greatest values of types that have an order
SELECT max(b) FROM v;
-- wanted: count() is count(*)
SELECT count() FROM v;
-- wanted: no XML
SELECT xmlagg('x'::xml);
-- wanted: of PostgreSQL 16
SELECT 0x1F;
SELECT 0b11;
SELECT 1_000;
SELECT any_value(i) FROM v WHERE i = 7;
-- wanted: forms of DuckDB
SELECT interval 1 day;
-- wanted: rows of tables are no types
SELECT json_populate_record(NULL::pg_catalog.pg_class, '{}') IS NULL;
-- wanted: rows of functions within CASE
SELECT CASE WHEN true THEN generate_series(1, 2) END;
-- wanted: rows of functions within COALESCE
SELECT coalesce(generate_series(1, 2), 0);
-- wanted: of the standard
SELECT lag(x) IGNORE NULLS OVER (ORDER BY k) FROM w;
-- wanted: aggregates of other systems
SELECT string_agg(t) FROM meas;
SELECT mode(x) FROM (VALUES (1)) v (x);
-- wanted: functions of the server, which the front asks its caller for
SELECT current_setting('x.y');
SELECT current_setting('timezone');
SELECT pg_backend_pid() > 0, pg_typeof(pg_backend_pid())::text, pg_is_in_recovery(), pg_postmaster_start_time() < now(), pg_conf_load_time() <= now(), pg_my_temp_schema() >= 0, pg_is_other_temp_schema(0), pg_jit_available() IS NOT NULL, pg_trigger_depth(), pg_notification_queue_usage();
SELECT inet_client_port() IS NULL, pg_blocking_pids(0), pg_safe_snapshot_blocking_pids(0), pg_listening_channels();
SELECT current_query() LIKE 'SELECT%', pg_typeof(current_query())::text;
SELECT current_setting('server_version_num') IS NOT NULL;
SELECT current_setting('timezone') IS NOT NULL;
SELECT current_setting('datestyle') IS NOT NULL;
SELECT current_setting('client_encoding') IS NOT NULL;
SELECT current_setting('standard_conforming_strings') IS NOT NULL;
SELECT current_setting('integer_datetimes') IS NOT NULL;
SELECT current_setting('intervalstyle') IS NOT NULL;
SELECT current_setting('bytea_output') IS NOT NULL;
SELECT current_setting('extra_float_digits') IS NOT NULL;
SELECT current_setting('server_encoding') IS NOT NULL;
SELECT current_setting('nosuch.thing'), 1;
SELECT current_setting('nosuch');
SELECT current_setting('nosuch', true), current_setting('no.such', true), current_setting(NULL);
SELECT set_config('my.flag', 'on', false), set_config('my.other', NULL, true);
SELECT current_setting('my.flag', true) IS NOT NULL;
SELECT set_config('timezone', 'UTC', false);
SELECT set_config('nosuch', 'x', false);
SELECT pg_typeof(1)::text = 'integer'::regtype, pg_typeof(1)::text, pg_typeof(ARRAY['a'])::text;
SELECT format_type(23, NULL), format_type(1043, 14), format_type(1700, 655366), format_type(1042, 9), format_type(1114, 3), format_type(23, -1);
SELECT format_type(25, NULL), format_type(1043, 14), format_type(1700, 655366), format_type(1042, 9), format_type(1114, 3), format_type(23, -1);
SELECT format_type(1043, NULL), format_type(1043, 14), format_type(1700, 655366), format_type(1042, 9), format_type(1114, 3), format_type(23, -1);
SELECT format_type(1700, NULL), format_type(1043, 14), format_type(1700, 655366), format_type(1042, 9), format_type(1114, 3), format_type(23, -1);
SELECT format_type(1007, NULL), format_type(1043, 14), format_type(1700, 655366), format_type(1042, 9), format_type(1114, 3), format_type(23, -1);
SELECT format_type(16, NULL), format_type(1043, 14), format_type(1700, 655366), format_type(1042, 9), format_type(1114, 3), format_type(23, -1);
SELECT format_type(1184, NULL), format_type(1043, 14), format_type(1700, 655366), format_type(1042, 9), format_type(1114, 3), format_type(23, -1);
SELECT format_type(0, NULL), format_type(1043, 14), format_type(1700, 655366), format_type(1042, 9), format_type(1114, 3), format_type(23, -1);
SELECT format_type(999999, NULL), format_type(1043, 14), format_type(1700, 655366), format_type(1042, 9), format_type(1114, 3), format_type(23, -1);
SELECT format_type(NULL, NULL), format_type(1043, 14), format_type(1700, 655366), format_type(1042, 9), format_type(1114, 3), format_type(23, -1);
SELECT to_regtype('int4');
SELECT to_regtype('integer[]');
SELECT to_regtype('numeric(5,2)');
SELECT to_regtype('nosuch');
SELECT to_regtype('timestamp with time zone');
SELECT to_regtype('character varying');
SELECT to_regclass('nosuch'), to_regproc('nosuch'), to_regrole('nosuch'), to_regnamespace('nosuch'), to_regnamespace('pg_catalog') IS NOT NULL;
SELECT 'int4'::regtype;
SELECT 'varchar'::regtype;
SELECT '_text'::regtype;
SELECT 'int[]'::regtype;
SELECT 23::regtype, 'bool'::regtype::oid, 1043::oid::regtype::text, 0::regtype;
SELECT txid_current() > 0, pg_typeof(txid_current())::text, txid_current_if_assigned() IS NULL;
SELECT obj_description(0, 'pg_class'), col_description(0, 1), shobj_description(0, 'pg_database'), obj_description(0);
SELECT pg_get_userbyid(0) LIKE 'unknown%', pg_get_viewdef(0), pg_get_indexdef(0), pg_get_constraintdef(0), pg_get_functiondef(0), pg_get_ruledef(0), pg_get_triggerdef(0), pg_get_expr(NULL, 0);
SELECT pg_get_serial_sequence('nosuch', 'x');
SELECT pg_table_is_visible(0), pg_type_is_visible(0), pg_function_is_visible(0), pg_operator_is_visible(0), pg_opclass_is_visible(0), pg_collation_is_visible(0), pg_conversion_is_visible(0), pg_ts_config_is_visible(0);
SELECT has_database_privilege(current_database(), 'CONNECT'), has_schema_privilege('public', 'USAGE'), has_table_privilege('pg_catalog.pg_class', 'SELECT'), has_function_privilege('abs(int)', 'EXECUTE'), has_language_privilege('internal', 'USAGE'), has_type_privilege('int4', 'USAGE'), pg_has_role(current_user, 'MEMBER');
SELECT has_table_privilege('nosuch', 'SELECT');
SELECT has_table_privilege('pg_catalog.pg_class', 'NOSUCH');
SELECT has_column_privilege('pg_catalog.pg_class', 'relname', 'SELECT'), has_any_column_privilege('pg_catalog.pg_class', 'SELECT'), has_sequence_privilege(NULL, 'USAGE'), has_tablespace_privilege('pg_default', 'CREATE'), row_security_active('pg_catalog.pg_class'::regclass);
SELECT pg_relation_size(NULL), pg_table_size(NULL), pg_total_relation_size(NULL), pg_indexes_size(NULL), pg_database_size(current_database()) > 0, pg_relation_filenode(0), pg_relation_filepath(0), pg_tablespace_size('pg_default') > 0;
SELECT pg_advisory_lock(7), pg_try_advisory_lock(7), pg_advisory_unlock(7), pg_advisory_unlock(7), pg_advisory_unlock(8), pg_advisory_unlock_all(), pg_try_advisory_xact_lock(1, 2), pg_advisory_xact_lock(3);
SELECT pg_advisory_lock_shared(1), pg_try_advisory_lock_shared(1), pg_advisory_unlock_shared(1), pg_advisory_xact_lock_shared(2), pg_try_advisory_xact_lock_shared(2);
SELECT pg_cancel_backend(0), pg_terminate_backend(0), pg_reload_conf() IS NOT NULL;
SELECT pg_stat_clear_snapshot(), pg_export_snapshot() IS NOT NULL, pg_notify('chan', 'msg');
SELECT count(*) > 100 FROM pg_timezone_names();
SELECT nextval('nosuch');
SELECT currval('nosuch');
SELECT setval('nosuch', 1);
SELECT lastval();
CREATE TEMP SEQUENCE tick START 5 INCREMENT 2;
SELECT nextval('tick'), nextval('tick'), currval('tick'), lastval();
SELECT setval('tick', 20), nextval('tick'), setval('tick', 30, false), nextval('tick');
SELECT nextval(NULL::regclass);
-- wanted: FULL JOIN with any condition
SELECT * FROM lef FULL JOIN rig ON lef.id < rig.id ORDER BY lef.x, rig.y;
SELECT * FROM lef FULL JOIN rig ON lef.id = rig.id OR lef.t = rig.t ORDER BY lef.x, rig.y;
SELECT * FROM lef FULL JOIN rig ON lef.id IS NOT DISTINCT FROM rig.id ORDER BY lef.x, rig.y;
-- wanted: rows are compared column by column, literals as texts
SELECT x FROM (VALUES (ROW(1, 'b')), (ROW(1, 'a')), (ROW(0, NULL))) v (x) ORDER BY x;
SELECT ROW(1, NULL) UNION SELECT ROW(1, NULL);
-- wanted: lengths of VARCHAR and CHAR are checked where values are stored
INSERT INTO store (v) VALUES ('toolong');
INSERT INTO store (v) VALUES (1000000);
INSERT INTO store (v) VALUES (date '2020-01-01');
INSERT INTO store (c) VALUES ('toolong');
INSERT INTO store (c) VALUES (1000000);
INSERT INTO store (c) VALUES (true);
INSERT INTO store (c) VALUES (date '2020-01-01');
SELECT * FROM store ORDER BY i, t, iv;
SELECT i, s, n, v || '|', c || '|', length(c), c = 'x', v = 'abcd' FROM store WHERE i IS NOT NULL ORDER BY i;
SELECT n * 2, n / 3, n + i, f * n, i / s, i::text || v, d + i, ts - d FROM store ORDER BY i, t;
SELECT i, s, n, v, c FROM store WHERE c IN ('b', 'x') OR v = 'c' ORDER BY i;
-- wanted: no xid, whose age is meant as well
SELECT age('2020-01-01');
-- wanted: statements that change rows are the server's
WITH n AS (SELECT generate_series(1, 3) AS k) INSERT INTO log SELECT k, 'n' || k FROM n;
WITH moved AS (INSERT INTO log VALUES (9, 'nine') RETURNING k) SELECT k + 1 FROM moved;
WITH gone AS (DELETE FROM log WHERE k = 2 RETURNING *) SELECT * FROM gone;
WITH upd AS (UPDATE log SET note = upper(note) WHERE k < 3 RETURNING k, note) SELECT count(*) FROM upd;
WITH t AS (DELETE FROM log RETURNING k) INSERT INTO node SELECT k, NULL, 0 FROM t;
SELECT count(*) FROM node;
-- wanted: values that nothing needs do not fail, or do
SELECT CASE WHEN qty > 0 THEN qty ELSE (SELECT 1 / 0) END FROM stock WHERE qty IS NOT NULL ORDER BY 1;
SELECT count(*) FROM (SELECT 1 / (qty - qty) FROM stock) s;
