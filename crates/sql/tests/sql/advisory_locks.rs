//! `pg_advisory_lock` and its kin.

use freestone::Database;

use crate::support::Sql;

fn two(folder: &tempfile::TempDir) -> (Sql, Sql) {
    let database = Database::open(folder.path()).unwrap();
    (Sql::on(&database), Sql::on(&database))
}

#[test]
fn locks_of_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = two(&folder);
    assert_eq!(
        a.one("SELECT pg_advisory_lock(1), pg_try_advisory_lock(1)"),
        "|true"
    );
    assert_eq!(b.one("SELECT pg_try_advisory_lock(1)"), "false");
    assert_eq!(b.one("SELECT pg_try_advisory_lock_shared(1)"), "false");
    // Two numbers are no other number.
    assert_eq!(
        b.one("SELECT pg_try_advisory_lock(0, 1), pg_try_advisory_lock(NULL)"),
        "true|NULL"
    );
    assert_eq!(a.one("SELECT pg_try_advisory_lock(0, 1)"), "false");
    assert_eq!(b.one("SELECT pg_advisory_unlock(1)"), "false");
    assert_eq!(a.one("SELECT pg_advisory_unlock(1)"), "true");
    assert_eq!(b.one("SELECT pg_try_advisory_lock(1)"), "false");
    assert_eq!(a.one("SELECT pg_advisory_unlock(1)"), "true");
    assert_eq!(b.one("SELECT pg_try_advisory_lock_shared(1)"), "true");
    assert_eq!(a.one("SELECT pg_try_advisory_lock_shared(1)"), "true");
    assert_eq!(a.one("SELECT pg_try_advisory_lock(1)"), "false");
    a.run("SET lock_timeout = '20ms'");
    assert_eq!(a.state("SELECT pg_advisory_lock(1)"), "55P03");
    b.run("SELECT pg_advisory_unlock_all()");
    a.run("SELECT pg_advisory_lock(1)");
    assert_eq!(b.one("SELECT pg_try_advisory_lock(1)"), "false");
    // The same text means another session.
    let same = "SELECT pg_try_advisory_lock(9)";
    assert_eq!(
        (a.one(same), b.one(same), a.one(same)),
        ("true".into(), "false".into(), "true".into())
    );
    // They outlive transactions, and end with the session.
    a.run("BEGIN; SELECT pg_advisory_lock(7); ROLLBACK");
    assert_eq!(b.one("SELECT pg_try_advisory_lock(7)"), "false");
    drop(a);
    assert_eq!(
        b.one("SELECT pg_try_advisory_lock(1), pg_try_advisory_lock(7)"),
        "true|true"
    );
}

#[test]
fn locks_of_a_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = two(&folder);
    let free = |key: i32| b.one(&format!("SELECT pg_try_advisory_xact_lock({key})"));
    // Outside of one they are of the statement, also of the one that asks here.
    a.run("SELECT pg_advisory_xact_lock(1)");
    assert_eq!(free(1), "true");
    a.run("BEGIN; SELECT pg_advisory_xact_lock(1); SAVEPOINT s; SELECT pg_advisory_xact_lock(2)");
    assert_eq!((free(1), free(2)), ("false".into(), "false".into()));
    // It is not given back by itself.
    assert_eq!(a.one("SELECT pg_advisory_unlock(1)"), "false");
    a.run("ROLLBACK TO s");
    assert_eq!((free(1), free(2)), ("false".into(), "true".into()));
    a.run("COMMIT");
    assert_eq!(free(1), "true");
    a.run("BEGIN; SELECT pg_advisory_xact_lock_shared(3)");
    assert_eq!(b.one("SELECT pg_try_advisory_xact_lock_shared(3)"), "true");
    assert_eq!(free(3), "false");
    assert_eq!(a.state("SELECT 1 / 0"), "22012");
    a.run("ROLLBACK");
    assert_eq!(free(3), "true");
    a.run("CREATE TABLE t (k INT); INSERT INTO t VALUES (4), (5)");
    a.run("BEGIN; SELECT pg_advisory_xact_lock(k) FROM t");
    assert_eq!(
        (free(4), free(5), free(6)),
        ("false".into(), "false".into(), "true".into())
    );
    a.run("DISCARD PLANS; ROLLBACK; SELECT pg_advisory_lock(8); DISCARD ALL");
    assert_eq!(free(8), "true");
}

#[test]
fn the_catalog_lists_locks_and_who_waits() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = two(&folder);
    let listed = "SELECT classid, objid, objsubid, mode, granted, virtualtransaction
                  FROM pg_locks ORDER BY granted DESC, objid, mode";
    assert!(b.rows_of_one_engine(listed).is_empty());
    a.run("SELECT pg_advisory_lock(1), pg_advisory_lock(1), pg_advisory_lock_shared(7, 2)");
    let own = ["0|1|1|ExclusiveLock|true|1/0", "7|2|2|ShareLock|true|1/0"];
    assert_eq!(b.rows_of_one_engine(listed), own);
    assert_eq!(a.rows_of_one_engine(listed), own);
    std::thread::scope(|scope| {
        let waits = scope
            .spawn(|| a.run("SELECT pg_advisory_unlock(1), pg_sleep(0.2), pg_advisory_lock(9)"));
        b.run("SELECT pg_advisory_lock(9)");
        let mut rows = b.rows_of_one_engine(listed);
        while rows.len() < 4 {
            std::thread::sleep(std::time::Duration::from_millis(5));
            rows = b.rows_of_one_engine(listed);
        }
        assert_eq!(
            rows,
            [
                "0|1|1|ExclusiveLock|true|1/0",
                "7|2|2|ShareLock|true|1/0",
                "0|9|1|ExclusiveLock|true|2/0",
                "0|9|1|ExclusiveLock|false|1/0",
            ]
        );
        b.run("SELECT pg_advisory_unlock(9)");
        waits.join().unwrap();
    });
}
