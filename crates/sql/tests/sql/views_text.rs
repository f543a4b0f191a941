//! Texts of views, which are those of PostgreSQL 15.
//!
//! `views_text.txt` has statements and the texts that PostgreSQL prints for their views, those
//! with few brackets behind `-- pretty` where they are others, and behind `-- again` those of a view
//! that is made of such a text, if PostgreSQL prints it in another way.

use crate::support::Sql;

/// The tables, types and functions that the views read.
const SETUP: &str = "
    CREATE SCHEMA s2;
    CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
    CREATE DOMAIN posint AS int CHECK (VALUE > 0);
    CREATE TABLE a (id int PRIMARY KEY, name text, amount numeric(10, 2), born date, at timestamp,
        tz timestamptz, tags text[], flag boolean, code varchar(10), ch char(4), big bigint,
        small smallint, f8 double precision, f4 real, js json, jb jsonb, iv interval, u uuid,
        by bytea, tm time);
    CREATE TABLE b (id int, a_id int, name text, worth numeric);
    CREATE TABLE c (id int, name text, \"Mixed Case\" int, \"select\" text);
    CREATE TABLE s2.d (id int, x int, y text);
    CREATE TABLE m (id int, feeling mood, p posint);
    CREATE FUNCTION addone(int) RETURNS int LANGUAGE sql AS 'SELECT $1 + 1';
    CREATE FUNCTION s2.twice(x int) RETURNS int LANGUAGE sql AS 'SELECT $1 * 2';
    CREATE FUNCTION rowsof(int) RETURNS TABLE (p int, q text) LANGUAGE sql
        AS 'SELECT id, name FROM a WHERE id > $1';
    CREATE VIEW va AS SELECT id, name FROM a";

/// A statement and both texts of its view.
struct Recorded<'t> {
    statement: &'t str,
    plain: &'t str,
    pretty: &'t str,
    /// The text with few brackets of a view of that text.
    again: &'t str,
}

fn recorded() -> Vec<Recorded<'static>> {
    let all = include_str!("views_text.txt").trim_end().split("\n\n");
    all.map(|entry| {
        let (statement, texts) = entry.split_once('\n').unwrap();
        let (texts, again) = match texts.split_once("\n-- again\n") {
            Some((texts, again)) => (texts, Some(again)),
            None => (texts, None),
        };
        let (plain, pretty) = texts.split_once("\n-- pretty\n").unwrap_or((texts, texts));
        Recorded {
            statement,
            plain,
            pretty,
            again: again.unwrap_or(pretty),
        }
    })
    .collect()
}

fn filled() -> Sql {
    let sql = Sql::new();
    sql.run(SETUP);
    sql
}

#[test]
fn views_are_printed_as_postgresql_prints_them() {
    let sql = filled();
    let all = recorded();
    assert!(all.len() > 250);
    for Recorded {
        statement,
        plain,
        pretty,
        again,
    } in all
    {
        sql.run(statement);
        assert_eq!(
            sql.one("SELECT pg_get_viewdef('seen'::regclass)"),
            plain,
            "{statement}"
        );
        assert_eq!(
            sql.one("SELECT pg_get_viewdef('seen'::regclass, true)"),
            pretty,
            "{statement}"
        );
        sql.run("DROP VIEW seen");
        sql.run(&format!("CREATE VIEW seen AS {pretty}"));
        assert_eq!(
            sql.one("SELECT pg_get_viewdef('seen', true)"),
            again,
            "{statement}"
        );
        sql.run("DROP VIEW seen");
    }
}

#[test]
fn catalogues_tell_the_text_of_a_view() {
    let sql = filled();
    sql.run("CREATE VIEW v AS SELECT id FROM a WHERE name = 'x' AND id > 1");
    let text = " SELECT a.id\n   FROM a\n  WHERE ((a.name = 'x'::text) AND (a.id > 1));";
    for query in [
        "SELECT definition FROM pg_views WHERE viewname = 'v'",
        "SELECT view_definition FROM information_schema.views WHERE table_name = 'v'",
        "SELECT pg_get_viewdef('v')",
        "SELECT pg_get_viewdef('v', false)",
        "SELECT pg_get_viewdef(oid) FROM pg_class WHERE relname = 'v'",
    ] {
        assert_eq!(sql.one(query), text, "{query}");
    }
    let few = " SELECT a.id\n   FROM a\n  WHERE a.name = 'x'::text AND a.id > 1;";
    assert_eq!(sql.one("SELECT pg_get_viewdef('v', true)"), few);
    assert_eq!(sql.one("SELECT pg_get_viewdef('v'::regclass, 0)"), few);
    let rule = |schema: &str, query: &str| {
        format!("CREATE RULE \"_RETURN\" AS\n    ON SELECT TO {schema}v DO INSTEAD {query}")
    };
    for (call, wanted) in [
        ("pg_get_ruledef(oid)", rule("public.", text)),
        ("pg_get_ruledef(oid, true)", rule("", few)),
    ] {
        let query = format!("SELECT {call} FROM pg_rewrite WHERE ev_class = 'v'::regclass");
        assert_eq!(sql.one(&query), wanted);
    }
}

#[test]
fn names_are_full_where_they_are_not_found_without_their_schema() {
    let sql = filled();
    sql.run(
        "CREATE VIEW v AS SELECT d.x, s2.twice(a.id) AS y FROM a JOIN s2.d ON addone(d.id) = a.id",
    );
    let text = |sql: &Sql| sql.one("SELECT pg_get_viewdef('public.v'::regclass, true)");
    assert_eq!(
        text(&sql),
        " SELECT d.x,\n    s2.twice(a.id) AS y\n   FROM a\n     JOIN s2.d ON addone(d.id) = a.id;"
    );
    sql.run("SET search_path = s2");
    assert_eq!(
        text(&sql),
        " SELECT d.x,\n    twice(a.id) AS y\n   FROM public.a\n     JOIN d ON public.addone(d.id) = a.id;"
    );
}

/// Forms that PostgreSQL does not have, and those that are too deep, stay as they are.
#[test]
fn other_forms_are_told_as_they_were_written() {
    let sql = filled();
    let deep = format!("SELECT {} AS n FROM b", vec!["id"; 400].join(" - "));
    for query in [
        "SELECT list_transform([1, id], x -> x + 1) AS l FROM a",
        "SELECT id FROM a QUALIFY row_number() OVER (ORDER BY id) = 1",
        &deep,
    ] {
        sql.run(&format!("CREATE VIEW seen AS {query}"));
        assert_eq!(
            sql.one("SELECT pg_get_viewdef('seen'::regclass)"),
            format!("{query};")
        );
        sql.run("DROP VIEW seen");
    }
}
