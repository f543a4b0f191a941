//! ADVISE and what it is made of: predictions, the ledger, the workload record.

use crate::support::Sql;
use freestone::Database;

/// Twelve narrow columns and as many wide ones in rows; queries read two of the narrow.
fn wide() -> Sql {
    filled(Sql::new())
}

fn filled(sql: Sql) -> Sql {
    filled_with(sql, "value")
}

/// The table of [`filled`], with multiples of `factor` in the wide columns.
fn filled_with(sql: Sql, factor: &str) -> Sql {
    let columns = |name: &'static str| (0..12).map(move |number| format!("{name}{number} BIGINT"));
    let columns: Vec<String> = columns("c").chain(columns("w")).collect();
    let narrow = (0..12).map(|number| format!("value * {} % 1000", number * 7 + 1));
    let wide = (0..12).map(|number| format!("{factor} * {} % 1000000000039", number + 1_000_003));
    let values: Vec<String> = narrow.chain(wide).collect();
    sql.run(&format!(
        "CREATE TABLE t (k INT PRIMARY KEY, {}) WITH (layout = 'row', block_bytes = '2MiB');
         INSERT INTO t SELECT value, {} FROM generate_series(1::bigint, 100000) AS g(value)",
        columns.join(", "),
        values.join(", ")
    ));
    sql
}

/// To be advised on what [`ask`] asks, without what it takes beside whatever else runs.
const ASKED: &str = "ADVISE FOR (SELECT sum(c1), max(c2) FROM t WHERE c3 < 300)";

fn ask(sql: &Sql, times: usize) {
    for number in 0..times {
        sql.rows_of_one_engine(&format!(
            "SELECT sum(c1), max(c2) FROM t WHERE c3 < {}",
            300 + number
        ));
    }
}

/// The number of advice, of which there is one.
fn number(advice: &str) -> u64 {
    advice.split('|').next().unwrap().parse().unwrap()
}

fn layouts(sql: &Sql) -> Vec<String> {
    sql.rows_of_one_engine("SELECT DISTINCT layout FROM freestone_blocks('t')")
}

#[test]
fn explain_predicts_and_the_ledger_tells() {
    let sql = wide();
    let plan = sql
        .rows_of_one_engine("EXPLAIN SELECT sum(c1) FROM t")
        .join("\n");
    assert!(
        plan.contains("Predicted time: ") && plan.contains("bound by "),
        "{plan}"
    );
    assert!(plan.contains("constants of another machine"), "{plan}");
    assert!(
        !sql.rows_of_one_engine("EXPLAIN SELECT 1")
            .join("\n")
            .contains("Predicted")
    );
    ask(&sql, 3);
    let ledger =
        "SELECT count(*), min(predicted_ms) > 0, min(actual_ms) > 0, min(error_percent) >= 0
                  FROM freestone_ledger() WHERE statement LIKE '%max(c2)%'";
    assert_eq!(sql.rows_of_one_engine(ledger), ["3|true|true|true"]);
    assert_eq!(sql.state("SELECT * FROM freestone_ledger('t')"), "42883");
}

#[test]
fn what_queries_use_is_recorded_by_column() {
    let sql = wide();
    ask(&sql, 4);
    sql.rows_of_one_engine("SELECT c4, count(*) FROM t GROUP BY c4 ORDER BY c4");
    sql.run("UPDATE t SET c5 = 0 WHERE k = 7; UPDATE t SET c5 = 1 WHERE k IN (8, 9)");
    sql.rows_of_one_engine("SELECT * FROM t WHERE k = 5");
    let used = |column: &str| {
        let query = format!(
            "SELECT round(read), round(filtered), round(selectivity::numeric, 1)::float8, round(grouped), round(sorted), round(updated), round(table_looked_up)
             FROM freestone_workload() WHERE column_name = '{column}'"
        );
        sql.rows_of_one_engine(&query).join("")
    };
    // Changes look up the rows of their keys, too.
    assert_eq!(used("c1"), "4.0|0.0|NULL|0.0|0.0|0.0|4.0");
    assert_eq!(used("c3"), "0.0|4.0|0.3|0.0|0.0|0.0|4.0");
    assert_eq!(used("c4"), "1.0|0.0|NULL|1.0|1.0|0.0|4.0");
    assert!(used("c5").contains("|0.0|0.0|3.0|4.0"), "{}", used("c5"));
    assert_eq!(sql.run("RESET WORKLOAD"), "RESET WORKLOAD");
    assert_eq!(used("c1"), "");
    sql.run("SET freestone.workload = 'off'");
    assert_eq!(sql.one("SHOW freestone.workload"), "off");
    ask(&sql, 2);
    assert_eq!(used("c1"), "");
    assert_eq!(sql.state("SET freestone.workload = 'perhaps'"), "22023");
}

#[test]
fn advice_is_given_applied_and_undone() {
    let sql = wide();
    ask(&sql, 5);
    let thin = sql.rows_of_one_engine("ADVISE TABLE t").join("\n");
    assert!(thin.contains("more are needed"), "{thin}");
    sql.run("RESET WORKLOAD");
    ask(&sql, 30);
    let sum = "SELECT sum(c1), sum(c11), count(*) FROM t";
    let before = sql.rows_of_one_engine(sum);
    assert_eq!(layouts(&sql), ["row"]);
    let advice = sql.rows_of_one_engine("ADVISE").join("\n");
    assert!(
        advice.starts_with("1|t|ALTER TABLE main.t SET ("),
        "{advice}"
    );
    assert!(
        advice.contains("layout = '") && advice.contains("times as fast"),
        "{advice}"
    );
    let gains = "SELECT state, query, ms_now > ms_then FROM freestone_advice()";
    let gains = sql.rows_of_one_engine(gains).join("\n");
    assert!(
        gains.starts_with("given|read c1, c2") && gains.contains("where c3|true"),
        "{gains}"
    );
    assert_eq!(sql.run("APPLY ADVICE 1"), "APPLY ADVICE");
    assert_ne!(layouts(&sql), ["row"]);
    assert_eq!(sql.rows_of_one_engine(sum), before);
    assert_eq!(sql.state("APPLY ADVICE 1"), "55000");
    let state = "SELECT DISTINCT state FROM freestone_advice()";
    assert_eq!(sql.rows_of_one_engine(state), ["applied"]);
    assert_eq!(sql.run("UNDO ADVICE 1"), "UNDO ADVICE");
    assert_eq!(layouts(&sql), ["row"]);
    assert_eq!(sql.rows_of_one_engine(sum), before);
}

#[test]
fn a_pilot_keeps_what_is_faster() {
    let sql = wide();
    sql.run("DELETE FROM t WHERE k % 1000 = 0");
    sql.run("INSERT INTO t (k, c1, c11) VALUES (1000001, 5, 6), (1000002, 7, 8)");
    let sum = "SELECT sum(c1), sum(c11), count(*) FROM t";
    let before = sql.rows_of_one_engine(sum);
    sql.rows_of_one_engine(ASKED);
    let pilot = sql.rows_of_one_engine("PILOT ADVICE 1").join("\n");
    assert!(pilot.contains("kept in 1 of the table's blocks"), "{pilot}");
    assert_eq!(
        sql.rows_of_one_engine("SELECT count(DISTINCT layout) FROM freestone_blocks('t')"),
        ["2"]
    );
    assert_eq!(sql.rows_of_one_engine(sum), before);
    assert_eq!(
        sql.rows_of_one_engine("SELECT c1 FROM t WHERE k = 77"),
        ["616"]
    );
    let state = "SELECT DISTINCT state FROM freestone_advice()";
    assert_eq!(sql.rows_of_one_engine(state), ["piloted"]);
    assert_eq!(sql.run("UNDO ADVICE 1"), "UNDO ADVICE");
    assert_eq!(layouts(&sql), ["row"]);
    assert_eq!(sql.rows_of_one_engine(sum), before);
    assert_eq!(sql.rows_of_one_engine(state), ["given"]);
    assert_eq!(sql.state("UNDO ADVICE 1"), "55000");
}

/// Blocks have the indexes that their table has: one that is advised is tried in memory,
/// and made when the advice is applied.
#[test]
fn a_pilot_tries_indexes_without_making_them() {
    let sql = wide();
    sql.run("ALTER TABLE t SET (layout = 'column')");
    // An order does for one of the columns, and may be about as good there as an index.
    let asked = "ADVISE FOR (SELECT c1 FROM t WHERE w2 = 1000005000015;
                             SELECT c1 FROM t WHERE w3 = 1000006000018)";
    let advice = sql.rows_of_one_engine(asked).join("\n");
    assert!(advice.contains("CREATE INDEX t_w"), "{advice}");
    let blocks = "SELECT string_agg(CAST(block AS TEXT), ' ') FROM freestone_blocks('t')";
    let before = sql.rows_of_one_engine(blocks);
    let pilot = sql.rows_of_one_engine("PILOT ADVICE 1");
    assert!(pilot[0].starts_with("read c1 where w"), "{pilot:?}");
    for line in &pilot {
        assert!(
            line.contains("faster on 1 of the table's blocks, and nothing was put in place"),
            "{pilot:?}"
        );
    }
    assert_eq!(sql.rows_of_one_engine(blocks), before);
    assert_eq!(sql.state("UNDO ADVICE 1"), "55000");
    assert_eq!(sql.run("APPLY ADVICE 1"), "APPLY ADVICE");
    assert_eq!(sql.run("UNDO ADVICE 1"), "UNDO ADVICE");
}

/// Without any query there is a verdict, by rows looked up and written.
#[test]
fn a_pilot_times_look_ups_and_writes() {
    // Columns that are no smaller than rows: advice wastes no space.
    let sql = filled_with(Sql::new(), "value * value % 1000003");
    sql.run("ALTER TABLE t SET (layout = 'column'); RESET WORKLOAD");
    for number in 1..200 {
        sql.rows_of_one_engine(&format!("SELECT * FROM t WHERE k = {number}"));
    }
    sql.run("UPDATE t SET c5 = 0 WHERE k = 7");
    let advice = sql.rows_of_one_engine("ADVISE").join("\n");
    assert!(advice.contains("layout = 'row'"), "{advice}");
    let pilot = sql.rows_of_one_engine("PILOT ADVICE 1");
    let words: Vec<&str> = pilot
        .iter()
        .map(|line| line.split('|').next().unwrap())
        .collect();
    assert_eq!(words, ["look up a row", "write a row", "all of it"]);
    assert!(
        pilot[2].ends_with("kept in 1 of the table's blocks"),
        "{pilot:?}"
    );
}

/// What one session was told another cannot change, and a number is one advice for good.
#[test]
fn numbers_of_advice_never_come_again() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("db");
    let open = || Sql::on(&Database::open(&path).unwrap());
    let sql = filled(open());
    sql.run("CREATE TABLE u WITH (layout = 'row', block_bytes = '2MiB') AS SELECT * FROM t");
    let both = "ADVISE FOR (SELECT sum(c1) FROM t; SELECT sum(c1) FROM u)";
    let advice = sql.rows_of_one_engine(both);
    assert!(advice[0].starts_with("1|t|") && advice[1].starts_with("2|u|"));
    let again = sql.rows_of_one_engine("ADVISE FOR (SELECT sum(c2) FROM t)");
    assert!(again[0].starts_with("3|t|"), "{again:?}");
    let stands = "SELECT DISTINCT advice, table_name FROM freestone_advice() ORDER BY advice";
    assert_eq!(sql.rows_of_one_engine(stands), ["2|u", "3|t"]);
    for statement in ["APPLY ADVICE 1", "PILOT ADVICE 1", "UNDO ADVICE 1"] {
        let error = sql.error(statement);
        assert_eq!(error.sqlstate, "55000");
        assert!(error.message.contains("replaced"), "{}", error.message);
    }
    assert_eq!(sql.state("APPLY ADVICE 4"), "42704");
    assert_eq!(sql.run("APPLY ADVICE 2"), "APPLY ADVICE");
    drop(sql);
    let sql = open();
    // Nothing stands but what was applied, and the last number is known.
    let nothing = sql.rows_of_one_engine("ADVISE FOR (SELECT k FROM t WHERE k = 3)");
    let next = sql.rows_of_one_engine("ADVISE FOR (SELECT sum(c3) FROM t)");
    let last = if nothing[0].starts_with('4') { 5 } else { 4 };
    assert_eq!(number(&next[0]), last, "{nothing:?} {next:?}");
    assert_eq!(sql.state("APPLY ADVICE 3"), "55000");
    assert_eq!(sql.run("UNDO ADVICE 2"), "UNDO ADVICE");
}

#[test]
fn there_is_always_an_answer() {
    let sql = wide();
    sql.run("RESET WORKLOAD");
    let answer = |statement: &str| {
        let lines = sql.rows_of_one_engine(statement);
        assert_eq!(lines.len(), 1, "{statement}: {lines:?}");
        lines.into_iter().next().unwrap()
    };
    assert!(answer("ADVISE").ends_with("|no queries are known; 20 of a table are needed"));
    assert!(
        answer("ADVISE TABLE t").ends_with("0 queries are known; 20 more are needed for advice")
    );
    assert!(answer("ADVISE FOR (SELECT 1)").ends_with("the queries read no table"));
    ask(&sql, 3);
    for number in 1..5 {
        sql.rows_of_one_engine(&format!("SELECT * FROM t WHERE k = {number}"));
    }
    let thin = answer("ADVISE");
    assert!(
        thin.contains("|t|")
            && thin.contains("3 queries and 4 statements about single rows are known; 1"),
        "{thin}"
    );
    sql.run("RESET WORKLOAD; SET freestone.workload = 'off'");
    for statement in ["ADVISE", "ADVISE TABLE t"] {
        let off = answer(statement);
        assert!(
            off.ends_with("nothing is recorded: SET freestone.workload = 'on'"),
            "{off}"
        );
    }
    sql.run("SET freestone.workload = 'on'; CREATE TABLE s (a INT); INSERT INTO s VALUES (1)");
    for _ in 0..25 {
        sql.rows_of_one_engine("SELECT sum(a) FROM s");
    }
    let small = answer("ADVISE");
    assert!(small.contains("no rows in blocks: VACUUM"), "{small}");
}

/// Advice of a table whose layouts follow by themselves leaves that so.
#[test]
fn automatic_layouts_stay_automatic() {
    let sql = wide();
    sql.run("ALTER TABLE t SET (codec = 'none'); ALTER TABLE t SET (layout = 'auto')");
    let advice = sql.rows_of_one_engine("ADVISE FOR (SELECT sum(w1) FROM t WHERE w3 < 1000)");
    assert!(!advice.join("\n").contains("layout = '"), "{advice:?}");
    if advice[0].starts_with("1|") {
        assert!(advice[0].contains("|layout auto"), "{advice:?}");
        sql.run("PILOT ADVICE 1");
    }
}

#[test]
fn advice_is_applied_as_a_whole() {
    let sql = wide();
    // No query needs it: the advice is to drop it.
    sql.run("CREATE INDEX needless ON t USING csb (c9)");
    let advice = sql.rows_of_one_engine(ASKED).join("\n");
    assert!(advice.contains("DROP INDEX main.needless"), "{advice}");
    sql.run("DROP INDEX needless");
    assert_eq!(sql.state("APPLY ADVICE 1"), "42704");
    assert_eq!(layouts(&sql), ["row"], "what was done is taken back");
    let state = "SELECT DISTINCT state FROM freestone_advice()";
    assert_eq!(sql.rows_of_one_engine(state), ["given"]);
}

#[test]
fn queries_that_never_ran_can_be_asked_about() {
    let sql = wide();
    sql.run("RESET WORKLOAD");
    let advice = "ADVISE FOR (SELECT c1 FROM t WHERE c2 BETWEEN 10 AND 20; SELECT sum(c1) FROM t;)";
    let advice = sql.rows_of_one_engine(advice).join("\n");
    assert!(advice.starts_with("1|t|ALTER TABLE"), "{advice}");
    assert_eq!(sql.state("ADVISE FOR (SELECT nothing FROM t)"), "42703");
    assert_eq!(sql.state("ADVISE FOR (SELECT 1"), "42601");
}

#[test]
fn what_cannot_be_advised_is_refused() {
    let sql = wide();
    assert_eq!(sql.state("APPLY ADVICE 7"), "42704");
    assert_eq!(sql.state("ADVISE TABLE nowhere"), "42P01");
    ask(&sql, 30);
    sql.rows_of_one_engine("ADVISE TABLE t");
    assert_eq!(sql.state("UNDO ADVICE 1"), "55000");
    assert_eq!(sql.state("BEGIN; APPLY ADVICE 1"), "25001");
    sql.run("ROLLBACK; SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY");
    assert_eq!(sql.state("PILOT ADVICE 1"), "25006");
    assert_eq!(sql.state("APPLY ADVICE 1"), "25006");
    sql.run("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; DROP TABLE t");
    assert_eq!(sql.state("APPLY ADVICE 1"), "55000");
    assert_eq!(sql.state("PILOT ADVICE 1"), "55000");
}

#[test]
fn the_record_outlives_the_process() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("db");
    let open = || Sql::on(&Database::open(&path).unwrap());
    let sql = filled(open());
    ask(&sql, 30);
    sql.rows_of_one_engine("ADVISE TABLE t");
    drop(sql);
    let sql = open();
    let known = "SELECT round(read) FROM freestone_workload() WHERE column_name = 'c1'";
    assert_eq!(sql.rows_of_one_engine(known), ["30.0"]);
    assert_eq!(sql.run("APPLY ADVICE 1"), "APPLY ADVICE");
    drop(sql);
    // Damaged, it is begun anew, and the database opens.
    std::fs::write(path.join("advisor/workload.json"), "{ not json").unwrap();
    let sql = open();
    assert_eq!(sql.rows_of_one_engine(known), Vec::<String>::new());
    assert_eq!(sql.rows_of_one_engine("SELECT count(*) FROM t"), ["100000"]);
    drop(sql);
    // A machine file is kept, and queries are predicted by it.
    let machine = include_str!("../../../model/src/reference.json");
    let database = Database::open(&path).unwrap();
    assert_eq!(database.keep_machine("{}").unwrap_err().sqlstate, "22023");
    database.keep_machine(machine).unwrap();
    let plan = Sql::on(&database).rows_of_one_engine("EXPLAIN SELECT sum(c1) FROM t");
    let last = plan.last().unwrap();
    assert!(
        last.contains("Predicted") && !last.contains("another machine"),
        "{last}"
    );
    drop(database);
    assert_eq!(
        Database::in_memory()
            .keep_machine(machine)
            .unwrap_err()
            .sqlstate,
        "55000"
    );
    // A machine file that is none is said so where it is asked for.
    std::fs::write(path.join("advisor/machine.json"), "{}").unwrap();
    let sql = open();
    assert_eq!(sql.state("EXPLAIN SELECT c1 FROM t"), "22023");
    assert_eq!(
        sql.rows_of_one_engine("SELECT count(c1) FROM t"),
        ["100000"]
    );
}

/// The same machine with a tenth of the clock: queries take longer by its file, whatever was
/// learnt here, and nothing of that is kept.
#[test]
fn another_machine_is_asked_about() {
    let sql = wide();
    ask(&sql, 30);
    let predicted = || {
        let plan = sql.rows_of_one_engine("EXPLAIN SELECT sum(c1), max(c2) FROM t WHERE c3 < 300");
        let last = plan.last().unwrap().clone();
        let time = last.split_once("Predicted time: ").unwrap().1;
        let time: f64 = time.split(' ').next().unwrap().parse().unwrap();
        (time, last)
    };
    let count = |what: &str| sql.rows_of_one_engine(&format!("SELECT count(*) FROM {what}"));
    let reference = include_str!("../../../model/src/reference.json");
    let named = reference.replacen("two virtual cores", "few cores", 1);
    let (head, rest) = named.split_once("\"clock\":").unwrap();
    let (clock, rest) = rest.split_once(',').unwrap();
    let clock = clock.parse::<f64>().unwrap() / 10.0;
    let slow = format!("{head}\"clock\":{clock},{rest}");
    let place = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = place.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (slow, none) = (file("slow.json", &slow), file("none.json", "{}"));
    let (same, slower) = (file("same.json", &named), slow.as_str());
    sql.run(&format!("SET freestone.machine = '{same}'"));
    let (time, _) = predicted();
    sql.run(&format!("SET freestone.machine = '{slower}'"));
    assert_eq!(sql.rows_of_one_engine("SHOW freestone.machine"), [slower]);
    let (longer, line) = predicted();
    assert!(line.contains("as on \"few cores"), "{line}");
    // Of operators both files say nothing: they cost the usual.
    assert!(longer > time * 1.5, "{time} {longer}");
    ask(&sql, 3);
    assert_eq!(predicted().0, longer, "nothing is learnt");
    sql.rows_of_one_engine("ADVISE TABLE t");
    assert_eq!(count("freestone_advice()"), ["0"]);
    assert_eq!(sql.state("APPLY ADVICE 1"), "42704");
    let state = |file: &str| sql.state(&format!("SET freestone.machine = '{file}'"));
    assert_eq!(state("/no/such/file.json"), "58P01");
    assert_eq!(state(&none), "22023");
    assert_eq!(predicted().0, longer, "what cannot be set changes nothing");
    sql.run("RESET freestone.machine");
    assert!(!predicted().1.contains("as on"));
    assert_eq!(sql.rows_of_one_engine("SHOW freestone.machine"), [""]);
    let recorded = "freestone_ledger() WHERE statement LIKE '%max(c2)%'";
    assert_eq!(count(recorded), ["30"]);
}

/// What is asked for one by one becomes rows, block by block, and columns again.
#[test]
fn automatic_layouts_follow_both_ways() {
    let sql = wide();
    assert_eq!(layouts(&sql), ["row"]);
    let blocks = "SELECT string_agg(CAST(block AS TEXT), ' ') FROM freestone_blocks('t')";
    let before = sql.rows_of_one_engine(blocks);
    sql.run("ALTER TABLE t SET (layout = 'auto')");
    assert_eq!(sql.rows_of_one_engine(blocks), before, "nothing is written");
    let shown = sql.rows_of_one_engine("SHOW TABLES").join("");
    assert!(shown.ends_with("|auto"), "{shown}");
    // Nothing is known of it yet.
    sql.run("VACUUM t");
    assert_eq!(layouts(&sql), ["row"]);
    ask(&sql, 60);
    sql.run("VACUUM t");
    let columns = layouts(&sql);
    assert!(columns != ["row"], "{columns:?}");
    sql.run("RESET WORKLOAD");
    for number in 0..4000 {
        sql.rows_of_one_engine(&format!("SELECT * FROM t WHERE k = {}", number % 500 + 1));
    }
    sql.run("VACUUM t");
    let now = sql.rows_of_one_engine(
        "SELECT layout, count(*) > 1 FROM freestone_blocks('t') GROUP BY layout ORDER BY count(*)",
    );
    assert_eq!(now.len(), 2, "{now:?}");
    assert_eq!(now[0], "row|false", "one hot block");
    sql.run("RESET WORKLOAD");
    ask(&sql, 60);
    sql.run("VACUUM t");
    let back =
        sql.rows_of_one_engine("SELECT count(*) FROM freestone_blocks('t') WHERE layout = 'row'");
    assert_eq!(back, ["0"], "columns again");
    assert_eq!(sql.rows_of_one_engine("SELECT count(*) FROM t"), ["100000"]);
}
