//! Values of every type, as text and in binary, there and back.

use tokio_postgres::SimpleQueryMessage as Simple;
use tokio_postgres::types::{FromSql, Kind, Type};

use crate::support::Served;

/// The bytes of a value in whatever type.
struct Raw(Vec<u8>);

impl<'a> FromSql<'a> for Raw {
    fn from_sql(
        _: &Type,
        bytes: &'a [u8],
    ) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Raw(bytes.to_vec()))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

const VALUES: [(&str, &str, &str, &str); 18] = [
    ("TRUE", "bool", "t", "01"),
    ("CAST(-2 AS SMALLINT)", "int2", "-2", "fffe"),
    ("CAST(70000 AS INT)", "int4", "70000", "00011170"),
    ("CAST(-1 AS BIGINT)", "int8", "-1", "ffffffffffffffff"),
    ("CAST(0.5 AS REAL)", "float4", "0.5", "3f000000"),
    (
        "CAST(-0.25 AS DOUBLE PRECISION)",
        "float8",
        "-0.25",
        "bfd0000000000000",
    ),
    (
        "CAST(-12345.67 AS DECIMAL(9,2))",
        "numeric",
        "-12345.67",
        "0003000140000002000109291a2c",
    ),
    ("CAST('wörd' AS TEXT)", "text", "wörd", "77c3b67264"),
    ("CAST('\\x00ff' AS BYTEA)", "bytea", "\\x00ff", "00ff"),
    ("DATE '2000-01-11'", "date", "2000-01-11", "0000000a"),
    ("TIME '00:00:01'", "time", "00:00:01", "00000000000f4240"),
    (
        "TIMESTAMP '1999-12-31 23:59:59'",
        "timestamp",
        "1999-12-31 23:59:59",
        "fffffffffff0bdc0",
    ),
    (
        "CAST('2000-01-01 01:00:00+01' AS TIMESTAMP WITH TIME ZONE)",
        "timestamptz",
        "2000-01-01 00:00:00+00",
        "0000000000000000",
    ),
    (
        "INTERVAL '1 month 2 days 3 seconds'",
        "interval",
        "1 mon 2 days 00:00:03",
        "00000000002dc6c00000000200000001",
    ),
    (
        "CAST('00112233-4455-6677-8899-aabbccddeeff' AS UUID)",
        "uuid",
        "00112233-4455-6677-8899-aabbccddeeff",
        "00112233445566778899aabbccddeeff",
    ),
    ("NULL", "text", "", ""),
    (
        "CAST('pg_class' AS REGCLASS)",
        "regclass",
        "pg_class",
        "000004eb",
    ),
    ("pg_typeof(1)", "regtype", "integer", "00000017"),
];

#[tokio::test(flavor = "multi_thread")]
async fn values_go_as_text_and_in_binary() {
    let served = Served::new().await;
    let client = served.client().await;
    for (written, kind, text, hex) in VALUES {
        let sql = format!("SELECT {written} AS v");
        let row = client.query_one(&sql, &[]).await.unwrap();
        assert_eq!(row.columns()[0].type_().name(), kind, "{written}");
        let bytes = row
            .get::<_, Option<Raw>>(0)
            .map(|raw| raw.0)
            .unwrap_or_default();
        let found: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, hex, "{written}");
        let answers = client.simple_query(&sql).await.unwrap();
        let shown = answers.iter().find_map(|answer| match answer {
            Simple::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
            _ => None,
        });
        assert_eq!(shown.as_deref(), Some(text), "{written}");
    }
}

/// A value sent as its bytes is the same as the value that is written.
#[tokio::test(flavor = "multi_thread")]
async fn parameters_are_what_they_were() {
    let served = Served::new().await;
    let client = served.client().await;
    for (written, kind, _, _) in VALUES {
        // Parameters of object types are not supported.
        if written == "NULL" || kind.starts_with("reg") {
            continue;
        }
        let row = client
            .query_one(&format!("SELECT {written} AS v"), &[])
            .await
            .unwrap();
        let wanted = row.get::<_, Raw>(0);
        let sql = match kind {
            "numeric" => "SELECT CAST($1 AS DECIMAL(9,2)) AS v".to_owned(),
            kind => format!("SELECT CAST($1 AS {}) AS v", named(kind)),
        };
        let statement = client
            .prepare_typed(&sql, &[row.columns()[0].type_().clone()])
            .await
            .unwrap();
        let back = client
            .query_one(&statement, &[&Sent(wanted.0.clone())])
            .await
            .unwrap();
        assert_eq!(back.columns()[0].type_().name(), kind);
        assert_eq!(back.get::<_, Raw>(0).0, wanted.0, "{written}");
    }
    let nothing: Option<i32> = None;
    let statement = client
        .prepare_typed("SELECT CAST($1 AS INT) IS NULL", &[Type::INT4])
        .await
        .unwrap();
    let row = client.query_one(&statement, &[&nothing]).await.unwrap();
    assert!(row.get::<_, bool>(0));
}

fn named(kind: &str) -> &str {
    match kind {
        "timestamptz" => "TIMESTAMP WITH TIME ZONE",
        "float8" => "DOUBLE PRECISION",
        "float4" => "REAL",
        kind => kind,
    }
}

/// Bytes that are sent as they are.
#[derive(Debug)]
struct Sent(Vec<u8>);

impl tokio_postgres::types::ToSql for Sent {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut bytes::BytesMut,
    ) -> Result<tokio_postgres::types::IsNull, Box<dyn std::error::Error + Sync + Send>> {
        out.extend_from_slice(&self.0);
        Ok(tokio_postgres::types::IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

/// Lists as parameters and results, in binary.
#[tokio::test(flavor = "multi_thread")]
async fn lists_of_values() {
    let served = Served::new().await;
    let client = served.client().await;
    client
        .batch_execute(
            "CREATE TABLE l (k INT, t TEXT); INSERT INTO l VALUES (1, 'a'), (2, 'b, c'), (3, NULL)",
        )
        .await
        .unwrap();
    let rows = client
        .query(
            "SELECT k FROM l WHERE k = ANY($1::int[]) ORDER BY k",
            &[&vec![3, 1, 9]],
        )
        .await
        .unwrap();
    let found: Vec<i32> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(found, [1, 3]);
    let row = client
        .query_one(
            "SELECT array_agg(t ORDER BY k), array_agg(k ORDER BY k) FROM l",
            &[],
        )
        .await
        .unwrap();
    let texts: Vec<Option<String>> = row.get(0);
    assert_eq!(texts, [Some("a".to_owned()), Some("b, c".to_owned()), None]);
    assert_eq!(row.get::<_, Vec<i32>>(1), [1, 2, 3]);
}

/// Columns of created types are told by the numbers of the types, by which a client finds their
/// labels and fields in the catalog.
#[tokio::test(flavor = "multi_thread")]
async fn created_types_are_told_by_their_numbers() {
    let served = Served::new().await;
    let client = served.client().await;
    let made = "CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE TYPE spot AS (x INT, how mood);
                CREATE TABLE t (k INT PRIMARY KEY, m mood, all_of mood[], s spot);
                INSERT INTO t VALUES (1, 'glad', '{sad,glad}', ROW(7, 'sad'))";
    client.batch_execute(made).await.unwrap();
    for condition in ["k = 1", "k > 0"] {
        let sql = format!("SELECT m, all_of, s, t FROM t WHERE {condition}");
        let row = client.query_one(&sql, &[]).await.unwrap();
        let types: Vec<&Type> = row.columns().iter().map(|column| column.type_()).collect();
        let labels = ["sad", "glad"].map(str::to_owned).to_vec();
        assert_eq!(types[0].name(), "mood");
        assert_eq!(*types[0].kind(), Kind::Enum(labels));
        assert_eq!(row.get::<_, Raw>(0).0, b"glad");
        assert_eq!(*types[1].kind(), Kind::Array(types[0].clone()));
        let fields = |ty: &Type| match ty.kind() {
            Kind::Composite(fields) => fields
                .iter()
                .map(|field| format!("{} {}", field.name(), field.type_().name()))
                .collect(),
            _ => Vec::new(),
        };
        assert_eq!(fields(types[2]), ["x int4", "how mood"]);
        assert_eq!(
            fields(types[3]),
            ["k int4", "m mood", "all_of _mood", "s spot"]
        );
    }
}
