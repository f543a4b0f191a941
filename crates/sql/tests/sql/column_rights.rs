//! Rights on single columns.

use freestone::Database;

use crate::support::Sql;

/// A table and a view whose owner grants rights on columns, and a role that has them.
fn granted(grants: &str) -> (Sql, Sql) {
    let database = Database::in_memory();
    let owner = Sql::on(&database);
    owner.run(
        "CREATE TABLE staff (id INT PRIMARY KEY, name TEXT, salary INT);
         INSERT INTO staff VALUES (1, 'a', 10), (2, 'b', 20);
         CREATE TABLE teams (id INT, boss INT);
         INSERT INTO teams VALUES (7, 1);
         CREATE VIEW shown AS SELECT id, name, salary FROM staff;
         CREATE ROLE clerk LOGIN; GRANT SELECT ON teams TO clerk",
    );
    owner.run(grants);
    let clerk = Sql::on(&database);
    clerk.run("SET SESSION AUTHORIZATION clerk");
    (owner, clerk)
}

#[test]
fn columns_that_were_granted_can_be_read_and_others_cannot() {
    let (owner, clerk) = granted("GRANT SELECT (id, name) ON staff TO clerk");
    assert_eq!(clerk.rows("SELECT name FROM staff ORDER BY id"), ["a", "b"]);
    assert_eq!(clerk.rows("SELECT name FROM staff WHERE id = 2"), ["b"]);
    assert_eq!(
        clerk.rows("SELECT s.name FROM teams JOIN staff s ON s.id = boss"),
        ["a"]
    );
    assert_eq!(
        clerk.rows("SELECT count(*), count(name) FROM staff"),
        ["2|2"]
    );
    assert_eq!(
        clerk.rows("SELECT x FROM (SELECT name AS x FROM staff) q ORDER BY 1"),
        ["a", "b"]
    );
    // Rights are looked at each time that a prepared statement runs.
    clerk.run("PREPARE named AS SELECT name FROM staff WHERE id = $1");
    for _ in 0..5 {
        assert_eq!(clerk.rows("EXECUTE named (2)"), ["b"]);
        assert_eq!(clerk.rows("SELECT name FROM staff WHERE id = 1"), ["a"]);
        assert_eq!(
            clerk.state("SELECT salary FROM staff WHERE id = 1"),
            "42501"
        );
    }
    owner.run("REVOKE SELECT (name) ON staff FROM clerk");
    assert_eq!(clerk.state("EXECUTE named (2)"), "42501");
    assert_eq!(clerk.state("SELECT name FROM staff WHERE id = 1"), "42501");
    owner.run("GRANT SELECT (name) ON staff TO clerk");
    for query in [
        "SELECT * FROM staff",
        "TABLE staff",
        "SELECT salary FROM staff WHERE id = 1",
        "SELECT salary FROM staff",
        "SELECT s FROM staff s",
        "SELECT row_to_json(staff) FROM staff",
        "SELECT count(s) FROM staff s",
        "SELECT name FROM staff WHERE salary > 10",
        "SELECT name FROM staff ORDER BY salary",
        "SELECT name FROM staff GROUP BY name, salary",
        "SELECT name, sum(salary) OVER () FROM staff",
        "SELECT 1 FROM teams JOIN staff ON salary = boss",
        "SELECT 1 FROM staff JOIN (SELECT 1 AS salary) q USING (salary)",
        "SELECT (SELECT max(salary) FROM staff)",
        "SELECT name FROM (SELECT name, salary FROM staff) q",
        "SELECT boss FROM teams WHERE EXISTS (SELECT 1 FROM staff WHERE salary > boss)",
        "WITH q AS (SELECT salary FROM staff) SELECT count(*) FROM q",
        "SELECT ctid FROM staff",
        "CREATE TEMP TABLE copied AS SELECT salary FROM staff",
        "EXPLAIN SELECT salary FROM staff",
        "SUMMARIZE staff",
        "SELECT * FROM shown",
        "SELECT salary FROM staff LIMIT 0",
        "DELETE FROM staff WHERE id = 1",
        "UPDATE staff SET name = 'x'",
        "INSERT INTO staff (id) VALUES (9)",
        "INSERT INTO teams SELECT salary, 1 FROM staff",
    ] {
        assert_eq!(clerk.state(query), "42501", "{query}");
    }
    owner.run("GRANT SELECT ON staff TO clerk");
    assert_eq!(
        clerk.rows("SELECT salary FROM staff ORDER BY 1"),
        ["10", "20"]
    );
    // Taken from the table, a right is taken from its columns, too.
    owner.run("REVOKE SELECT ON staff FROM clerk");
    assert_eq!(clerk.state("SELECT name FROM staff"), "42501");
    owner.run("GRANT SELECT (name) ON staff TO clerk; GRANT SELECT (id) ON staff TO PUBLIC");
    assert_eq!(
        clerk.rows("SELECT id, name FROM staff ORDER BY 1"),
        ["1|a", "2|b"]
    );
    owner.run("REVOKE SELECT (name) ON staff FROM clerk");
    assert_eq!(clerk.state("SELECT id, name FROM staff"), "42501");
    assert_eq!(clerk.rows("SELECT id FROM staff ORDER BY 1"), ["1", "2"]);
}

#[test]
fn columns_that_were_granted_can_be_changed_and_others_cannot() {
    let (owner, clerk) = granted(
        "GRANT SELECT (id), UPDATE (name), INSERT (id, name) ON staff TO clerk;
         GRANT SELECT (id, name), UPDATE (name) ON shown TO clerk",
    );
    clerk.run("UPDATE staff SET name = 'c' WHERE id = 1");
    clerk.run("UPDATE staff SET name = name_of.boss::text FROM teams AS name_of WHERE staff.id = 2 AND name_of.id = 7");
    clerk.run("INSERT INTO staff (id, name) VALUES (3, 'd')");
    clerk.run("INSERT INTO staff (id, name) VALUES (3, 'e') ON CONFLICT (id) DO NOTHING");
    clerk.run("INSERT INTO staff (id, name) VALUES (3, 'e') ON CONFLICT (id) DO UPDATE SET name = excluded.name RETURNING id");
    // Rows without a list of columns are for as many as they have.
    clerk.run(
        "BEGIN; INSERT INTO staff VALUES (8, 'x'); INSERT INTO staff SELECT id, 'y' FROM teams",
    );
    clerk.run(
        "MERGE INTO staff USING teams ON staff.id = 9 WHEN NOT MATCHED THEN INSERT VALUES (9, 'z')",
    );
    assert_eq!(
        clerk.rows("SELECT id FROM staff WHERE id > 5 ORDER BY 1 FOR UPDATE"),
        ["7", "8", "9"]
    );
    clerk.run("ROLLBACK");
    assert_eq!(clerk.state("INSERT INTO staff DEFAULT VALUES"), "23502");
    assert_eq!(
        owner.rows("TABLE staff ORDER BY 1"),
        ["1|c|10", "2|1|20", "3|e|NULL"]
    );
    assert_eq!(clerk.rows("SELECT name FROM shown WHERE id = 1"), ["c"]);
    clerk.run("UPDATE shown SET name = 'f' WHERE id = 1");
    for change in [
        "UPDATE staff SET salary = 1",
        "UPDATE staff SET (name, salary) = ('x', 1)",
        "UPDATE staff SET name = salary::text",
        "UPDATE staff SET name = 'x' WHERE salary = 10",
        "UPDATE staff SET name = 'x' RETURNING salary",
        "UPDATE staff SET name = 'x' RETURNING *",
        "UPDATE staff SET name = (SELECT max(s.salary)::text FROM staff s)",
        "UPDATE staff SET name = 'x' WHERE EXISTS (SELECT * FROM staff AS o WHERE o.salary > 1)",
        "UPDATE staff SET name = o.salary::text FROM staff AS o",
        "WITH q AS (SELECT salary FROM staff) UPDATE staff SET name = q.salary::text FROM q",
        "UPDATE staff AS s SET name = s.salary::text",
        "UPDATE staff SET name = staff.salary::text",
        "UPDATE staff SET name = staff::text",
        "UPDATE staff SET name = (staff.*)::text",
        "UPDATE staff SET name = (staff).salary::text",
        "UPDATE staff SET name = (SELECT q::text FROM (SELECT staff.*) q)",
        "UPDATE staff SET name = salary(staff)::text",
        "UPDATE staff SET name = 'x' RETURNING (SELECT max(s.salary) FROM staff s)",
        "UPDATE staff SET name = 'x' WHERE staff IS NOT NULL",
        "UPDATE staff SET name = 'x' WHERE (id, salary) = (1, 10)",
        "UPDATE staff SET name = 'x' WHERE ctid IS NOT NULL",
        "INSERT INTO staff (id, salary) VALUES (4, 1)",
        "INSERT INTO staff VALUES (4, 'x', 1)",
        "INSERT INTO staff SELECT COLUMNS(*) + 1 FROM (SELECT 1 AS a, 2 AS b, 3 AS c) q",
        "INSERT INTO staff SELECT q.* FROM (SELECT 1 AS a, 'x' AS b, 3 AS c) q",
        "INSERT INTO staff TABLE staff",
        "INSERT INTO staff (id, name) VALUES (4, 'x') RETURNING salary",
        "INSERT INTO staff (id, name) VALUES (3, 'x') ON CONFLICT (id) DO UPDATE SET name = staff.salary::text",
        "INSERT INTO staff (id, name) VALUES (3, 'x') ON CONFLICT (id) DO UPDATE SET salary = 1",
        "INSERT INTO staff (id, name) SELECT salary, name FROM staff",
        "DELETE FROM staff",
        "TRUNCATE staff",
        "UPDATE shown SET salary = 1",
        "UPDATE shown SET name = salary::text",
        "MERGE INTO staff USING teams ON staff.id = boss WHEN MATCHED THEN UPDATE SET salary = 1",
        "MERGE INTO staff USING teams ON salary = boss WHEN MATCHED THEN UPDATE SET name = 'x'",
        "CREATE TABLE other (staff INT REFERENCES staff (id))",
    ] {
        assert_eq!(clerk.state(change), "42501", "{change}");
    }
    clerk.run(
        "MERGE INTO staff USING teams ON staff.id = boss WHEN MATCHED THEN UPDATE SET name = 'm'",
    );
    assert_eq!(owner.rows("SELECT name FROM staff WHERE id = 1"), ["m"]);
    owner.run("GRANT REFERENCES (id) ON staff TO clerk; GRANT CREATE ON SCHEMA public TO clerk");
    clerk.run("CREATE TABLE other (staff INT REFERENCES staff (id))");
}

#[test]
fn rights_on_columns_follow_their_columns_and_roles() {
    let (owner, clerk) = granted("GRANT ALL (name) ON staff TO clerk");
    owner.run("ALTER TABLE staff RENAME COLUMN name TO called");
    assert_eq!(
        clerk.rows("SELECT called FROM staff ORDER BY 1"),
        ["a", "b"]
    );
    owner.run(
        "ALTER TABLE staff DROP COLUMN called CASCADE; ALTER TABLE staff ADD COLUMN called INT",
    );
    assert_eq!(clerk.state("SELECT called FROM staff"), "42501");
    owner.run("GRANT SELECT (called) ON staff TO clerk");
    assert_eq!(owner.state("DROP ROLE clerk"), "2BP01");
    owner.run("DROP OWNED BY clerk; REVOKE SELECT ON teams FROM clerk");
    assert_eq!(clerk.state("SELECT called FROM staff"), "42501");
    clerk.run("RESET SESSION AUTHORIZATION");
    owner.run("DROP ROLE clerk");
}

#[test]
fn the_catalog_tells_of_rights_on_columns() {
    let (owner, clerk) = granted("GRANT SELECT (id, name), UPDATE (name) ON staff TO clerk");
    assert_eq!(
        owner.rows("SELECT attname, attacl FROM pg_attribute WHERE attrelid = 'staff'::regclass AND attacl IS NOT NULL ORDER BY 1"),
        ["id|{clerk=r/freestone}", "name|{clerk=rw/freestone}"]
    );
    assert_eq!(
        owner.one("SELECT relacl FROM pg_class WHERE relname = 'staff'"),
        "NULL"
    );
    assert_eq!(
        owner.rows(
            "SELECT column_name, privilege_type FROM information_schema.column_privileges
              WHERE grantee = 'clerk' AND table_name = 'staff' ORDER BY 1, 2"
        ),
        ["id|SELECT", "name|SELECT", "name|UPDATE"]
    );
    assert_eq!(
        clerk.one(
            "SELECT has_column_privilege('staff', 'name', 'UPDATE'), has_column_privilege('staff', 'id', 'UPDATE'),
                    has_column_privilege('staff', 2::int2, 'SELECT'), has_column_privilege('staff', 9::int2, 'SELECT'),
                    has_any_column_privilege('staff', 'UPDATE'), has_any_column_privilege('staff', 'INSERT'),
                    has_table_privilege('staff', 'SELECT')"
        ),
        "true|false|true|NULL|true|false|false"
    );
    assert_eq!(
        clerk.state("SELECT has_column_privilege('staff', 'none', 'SELECT')"),
        "42703"
    );
    assert_eq!(
        clerk.state("SELECT has_column_privilege('staff', 'id', 'DELETE')"),
        "22023"
    );
    for (grant, state) in [
        ("GRANT SELECT (none) ON staff TO clerk", "42703"),
        ("GRANT SELECT (none) ON shown TO clerk", "42703"),
        ("GRANT DELETE (id) ON staff TO clerk", "0LP01"),
        ("GRANT USAGE (id) ON SCHEMA public TO clerk", "0LP01"),
        ("GRANT SELECT (id) TO clerk", "42601"),
        ("GRANT SELECT () ON staff TO clerk", "42601"),
    ] {
        assert_eq!(owner.state(grant), state, "{grant}");
    }
}
