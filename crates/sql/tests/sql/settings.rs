//! Settings: PostgreSQL's that have no effect here, a client's own, and how transactions end
//! what was set in them.

use crate::support::Sql;

#[test]
fn intervals_are_values_of_set_time_zone_only() {
    let sql = Sql::new();
    sql.run("SET TIME ZONE INTERVAL '+01:00' HOUR TO MINUTE");
    assert_eq!(
        sql.state("SET timezone TO INTERVAL '+05:00' HOUR TO MINUTE"),
        "42601"
    );
}

#[test]
fn settings_of_postgresql_are_known() {
    let sql = Sql::new();
    for (set, name, shown) in [
        ("SET enable_seqscan = off", "enable_seqscan", "off"),
        ("SET enable_seqscan TO DEFAULT", "enable_seqscan", "on"),
        ("SET work_mem = '64MB'", "work_mem", "64MB"),
        ("SET work_mem TO 100", "work_mem", "100kB"),
        ("RESET work_mem", "work_mem", "4MB"),
        ("SET random_page_cost = 1.1", "random_page_cost", "1.1"),
        ("SET jit_above_cost TO 0", "jit_above_cost", "0"),
        (
            "SET plan_cache_mode TO force_generic_plan",
            "plan_cache_mode",
            "force_generic_plan",
        ),
        ("SET statement_timeout = 5000", "statement_timeout", "5s"),
        ("SET SESSION geqo = no", "geqo", "off"),
        ("SET my.own = 'a b'", "my.own", "a b"),
        ("RESET my.own", "my.own", ""),
        ("SET TIME ZONE 'Europe/Berlin'", "timezone", "Europe/Berlin"),
        ("RESET TIME ZONE", "timezone", "UTC"),
        (
            "SET timezone = 'europe/berlin'",
            "timezone",
            "Europe/Berlin",
        ),
        ("SET timezone = 'utc'", "timezone", "UTC"),
        (
            "SET default_transaction_read_only = off",
            "default_transaction_read_only",
            "off",
        ),
        (
            "SET transaction_timeout = '1min'",
            "transaction_timeout",
            "1min",
        ),
    ] {
        sql.run(set);
        assert_eq!(sql.one(&format!("SHOW {name}")), shown, "{set}");
        assert_eq!(
            sql.one(&format!("SELECT current_setting('{name}')")),
            shown,
            "{set}"
        );
    }
    for (statement, state) in [
        ("SET work_mem = 'much'", "22023"),
        ("SET work_mem = '1kB'", "22023"),
        ("SET enable_sort = 7", "22023"),
        ("SET work_mem = 1, 2", "22023"),
        ("SET plan_cache_mode = none", "22023"),
        ("SET default_transaction_isolation = 'none'", "22023"),
        ("SET array_nulls = off", "0A000"),
        ("SET nothing_known = 1", "42704"),
        ("SET freestone.nothing = 1", "42704"),
        ("SHOW nothing.known", "42704"),
        ("SELECT set_config(NULL, 'x', false)", "22004"),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
    assert_eq!(
        sql.rows(
            "SELECT name, setting, unit, vartype, min_val FROM pg_settings \
             WHERE name IN ('work_mem', 'enable_sort') ORDER BY 1"
        ),
        [
            "enable_sort|on|NULL|bool|NULL",
            "work_mem|4096|kB|integer|64"
        ]
    );
}

#[test]
fn transactions_end_what_was_set_in_them() {
    let sql = Sql::new();
    let shown = |name: &str| sql.one(&format!("SHOW {name}"));
    sql.run("SET work_mem = '1MB'; SET TIME ZONE 'Asia/Tokyo'");
    sql.run("BEGIN; SET work_mem = '2MB'; SET TIME ZONE 'UTC'; SET a.b = 'x'");
    assert_eq!(shown("work_mem"), "2MB");
    sql.run("ROLLBACK");
    assert_eq!(
        (shown("work_mem"), shown("timezone")),
        ("1MB".into(), "Asia/Tokyo".into())
    );
    assert_eq!(shown("a.b"), "");
    sql.run("BEGIN; SET LOCAL work_mem = '3MB'; SET LOCAL TIME ZONE 'Europe/Paris'");
    assert_eq!(
        (shown("work_mem"), shown("timezone")),
        ("3MB".into(), "Europe/Paris".into())
    );
    sql.run("SAVEPOINT s; SET LOCAL work_mem = '4MB'; SET TIME ZONE 'UTC'; ROLLBACK TO s");
    assert_eq!(
        (shown("work_mem"), shown("timezone")),
        ("3MB".into(), "Europe/Paris".into())
    );
    sql.run("SET work_mem = '5MB'; SET LOCAL work_mem = '6MB'; COMMIT");
    assert_eq!(
        (shown("work_mem"), shown("timezone")),
        ("5MB".into(), "Asia/Tokyo".into())
    );
    // A failed transaction takes back, too.
    sql.run("BEGIN; SET work_mem = '7MB'");
    assert_eq!(sql.state("SELECT 1 / 0"), "22012");
    sql.run("COMMIT");
    assert_eq!(shown("work_mem"), "5MB");
    sql.run(
        "BEGIN; SELECT set_config('work_mem', '8MB', true), set_config('timezone', 'UTC', true)",
    );
    assert_eq!(
        (shown("work_mem"), shown("timezone")),
        ("8MB".into(), "UTC".into())
    );
    sql.run("COMMIT");
    assert_eq!(
        (shown("work_mem"), shown("timezone")),
        ("5MB".into(), "Asia/Tokyo".into())
    );
    sql.run("SELECT set_config('TimeZone', 'UTC', false)");
    assert_eq!(shown("timezone"), "UTC");
    assert_eq!(
        sql.noticed("SET LOCAL work_mem = '9MB'"),
        ["WARNING: SET LOCAL can only be used in transaction blocks"]
    );
    assert_eq!(shown("work_mem"), "5MB");
    sql.run("RESET ALL");
    assert_eq!(shown("work_mem"), "4MB");
}

#[test]
fn modes_of_transactions_are_shown_and_set() {
    let sql = Sql::new();
    let shown = |name: &str| sql.one(&format!("SHOW transaction_{name}"));
    sql.run("BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE");
    assert_eq!(
        (shown("isolation"), shown("read_only"), shown("deferrable")),
        ("serializable".into(), "on".into(), "on".into())
    );
    sql.run("COMMIT AND CHAIN");
    assert_eq!(
        (shown("isolation"), shown("read_only")),
        ("serializable".into(), "on".into())
    );
    sql.run("ROLLBACK AND NO CHAIN");
    assert_eq!(
        (shown("isolation"), shown("read_only")),
        ("repeatable read".into(), "off".into())
    );
    assert_eq!(sql.state("COMMIT AND CHAIN"), "25P01");
    assert_eq!(sql.state("ROLLBACK AND CHAIN"), "25P01");
    sql.run("CREATE TABLE t (a INT); SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY");
    assert_eq!(sql.one("SHOW default_transaction_read_only"), "on");
    assert_eq!(sql.state("INSERT INTO t VALUES (1)"), "25006");
    sql.run("BEGIN READ WRITE; INSERT INTO t VALUES (1); ABORT");
    sql.run(
        "SET default_transaction_read_only = off; START TRANSACTION; SET TRANSACTION READ ONLY",
    );
    assert_eq!(sql.state("DELETE FROM t"), "25006");
    sql.run("ROLLBACK; BEGIN READ ONLY; SELECT 1");
    assert_eq!(sql.state("SET transaction_read_only = off"), "25001");
    sql.run(
        "ROLLBACK; BEGIN; SHOW work_mem; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; SELECT 1",
    );
    assert_eq!(
        sql.state("SET TRANSACTION ISOLATION LEVEL READ COMMITTED"),
        "25001"
    );
    assert_eq!(sql.state("SELECT 1"), "25P02");
    sql.run("ROLLBACK");
}

#[test]
fn show_all_tells_what_settings_are() {
    let sql = Sql::new();
    assert_eq!(sql.names("SHOW ALL"), ["name", "setting", "description"]);
    sql.run("SET vacuum_cost_delay TO 40");
    assert_eq!(sql.rows("SHOW vacuum_cost_delay"), ["40ms"]);
}

#[test]
fn values_of_settings_have_other_names() {
    let sql = Sql::new();
    sql.run("SET client_min_messages = debug; SET client_encoding = unicode");
    assert_eq!(sql.one("SHOW client_min_messages"), "debug2");
    assert_eq!(sql.one("SHOW client_encoding"), "UTF8");
}
