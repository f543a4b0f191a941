//! Helpers: run SQL, compare rows.

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::{DataType, Field};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use freestone::{Cells, Database, Description, Error, Outcome, Prepared, Session};

pub const LAYOUTS: [&str; 3] = ["row", "column", "pax"];

pub fn runtime() -> tokio::runtime::Runtime {
    threads().build().unwrap()
}

fn threads() -> tokio::runtime::Builder {
    let mut threads = tokio::runtime::Builder::new_multi_thread();
    threads.worker_threads(2).enable_all();
    threads
}

/// A session with a runtime to run it on.
pub struct Sql {
    pub session: Session,
    runtime: tokio::runtime::Runtime,
}

impl Sql {
    pub fn new() -> Self {
        Self::on(&Database::in_memory())
    }

    /// A session whose work is done by threads with stacks of so many bytes.
    pub fn with_stacks(bytes: usize) -> Self {
        Self {
            session: Database::in_memory().session(),
            runtime: threads().thread_stack_size(bytes).build().unwrap(),
        }
    }

    pub fn on(database: &Database) -> Self {
        Self::on_session(database.session())
    }

    pub fn on_session(session: Session) -> Self {
        Self {
            session,
            runtime: runtime(),
        }
    }

    /// Runs statements that must succeed; returns the last command tag.
    #[track_caller]
    pub fn run(&self, sql: &str) -> String {
        match self.runtime.block_on(self.session.execute(sql)) {
            Ok(outcomes) => match outcomes.into_iter().last() {
                Some(Outcome::Done { tag, .. }) => tag,
                _ => String::new(),
            },
            Err(error) => panic!("{sql}\n{error}"),
        }
    }

    /// The rows of a query, each as `a|b|c`. Those that are looked up by keys must be those that bulk
    /// operators give.
    #[track_caller]
    pub fn rows(&self, sql: &str) -> Vec<String> {
        let rows = self.rows_of_one_engine(sql);
        if is_settled(sql) && self.rows_of_one_engine("SHOW freestone.engine") == ["auto"] {
            self.run("SET freestone.engine = 'bulk'");
            let theirs = self.rows_of_one_engine(sql);
            self.run("SET freestone.engine = 'auto'");
            assert_eq!(comparable(rows.clone()), comparable(theirs), "{sql}");
        }
        rows
    }

    /// The rows of a query by the engine that is set.
    #[track_caller]
    pub fn rows_of_one_engine(&self, sql: &str) -> Vec<String> {
        match self.runtime.block_on(self.session.query(sql)) {
            Ok(batches) => batches.iter().flat_map(lines).collect(),
            Err(error) => panic!("{sql}\n{error}"),
        }
    }

    /// As [`Sql::rows`], in ascending order of their text.
    #[track_caller]
    pub fn sorted(&self, sql: &str) -> Vec<String> {
        let mut rows = self.rows(sql);
        rows.sort();
        rows
    }

    /// The single value of a query.
    #[track_caller]
    pub fn one(&self, sql: &str) -> String {
        let rows = self.rows(sql);
        assert_eq!(rows.len(), 1, "{sql}: {rows:?}");
        rows.into_iter().next().unwrap()
    }

    /// The names of a query's columns.
    #[track_caller]
    pub fn names(&self, sql: &str) -> Vec<String> {
        self.of_fields(sql, |field| field.name().clone())
    }

    /// The types of a query's columns.
    #[track_caller]
    pub fn types(&self, sql: &str) -> Vec<String> {
        self.of_fields(sql, freestone::type_name_of)
    }

    /// The numbers in `pg_type` of the created types of a query's columns.
    #[track_caller]
    pub fn type_numbers(&self, sql: &str) -> Vec<String> {
        self.of_fields(sql, |field| {
            freestone::type_number(field).map_or_else(String::new, |number| number.to_string())
        })
    }

    #[track_caller]
    fn of_fields(&self, sql: &str, of: impl Fn(&Field) -> String) -> Vec<String> {
        let outcomes = self.runtime.block_on(self.session.execute(sql)).unwrap();
        match outcomes.into_iter().last() {
            Some(Outcome::Rows(rows)) => rows.schema.fields().iter().map(|f| of(f)).collect(),
            other => panic!("{other:?}"),
        }
    }

    /// The error of a statement that must fail.
    #[track_caller]
    pub fn error(&self, sql: &str) -> Error {
        match self.runtime.block_on(self.session.execute(sql)) {
            Ok(outcomes) => panic!("{sql}: should fail, gave {outcomes:?}"),
            Err(error) => error,
        }
    }

    /// What a prepared statement takes and gives.
    pub fn told(&self, prepared: &Prepared) -> Result<Description, Error> {
        self.runtime.block_on(prepared.describe(&self.session))
    }

    /// What is said of a statement that succeeds.
    #[track_caller]
    pub fn noticed(&self, sql: &str) -> Vec<String> {
        self.session.take_notices();
        self.run(sql);
        let notices = self.session.take_notices();
        notices.iter().map(ToString::to_string).collect()
    }

    /// The SQLSTATE of a statement that must fail.
    #[track_caller]
    pub fn state(&self, sql: &str) -> String {
        self.error(sql).sqlstate
    }

    /// The SQLSTATE with which a text ends; nothing if it is carried out.
    pub fn ended(&self, sql: &str) -> String {
        let done = self.runtime.block_on(self.session.execute(sql));
        done.err().map(|error| error.sqlstate).unwrap_or_default()
    }
}

/// Whether a query gives the same rows whenever it is asked.
fn is_settled(sql: &str) -> bool {
    let sql = sql.trim_start().to_lowercase();
    let changing = [
        "limit",
        "offset",
        "random",
        "val(",
        "now(",
        "current_",
        "freestone_",
        "::float4",
    ];
    let is_query = sql.starts_with("select") || sql.starts_with("with");
    is_query && !sql.contains(';') && !changing.iter().any(|word| sql.contains(word))
}

/// Rows in one order, with floats cut to what the order of sums leaves the same.
pub fn comparable(rows: Vec<String>) -> Vec<String> {
    let mut rows = rounded(rows);
    rows.sort();
    rows
}

/// Rows with floats cut to what the order of sums leaves the same.
pub fn rounded(rows: Vec<String>) -> Vec<String> {
    let cell = |cell: &str| match cell.parse::<f64>() {
        Ok(value) if cell.contains(['e', '.']) && cell.len() > 15 && value.fract() != 0.0 => {
            format!("{value:.9e}")
        }
        _ => cell.to_owned(),
    };
    let row = |row: String| row.split('|').map(cell).collect::<Vec<_>>().join("|");
    rows.into_iter().map(row).collect()
}

fn lines(batch: &RecordBatch) -> Vec<String> {
    let options = FormatOptions::default()
        .with_null("NULL")
        .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"))
        .with_timestamp_tz_format(Some("%Y-%m-%d %H:%M:%S%.f%:z"));
    let formatters: Vec<ArrayFormatter<'_>> = batch
        .columns()
        .iter()
        .map(|array| ArrayFormatter::try_new(array as &dyn Array, &options).unwrap())
        .collect();
    (0..batch.num_rows())
        .map(|row| {
            let cells = formatters.iter().zip(batch.columns()).map(|(f, array)| {
                // Arrays are their elements and bounds.
                match array.data_type() {
                    DataType::Struct(_) if array.data_type().to_string().contains("bounds") => {
                        Cells::new(array).text(row).unwrap_or_else(|| "NULL".into())
                    }
                    _ => f.value(row).to_string(),
                }
            });
            let cells: Vec<String> = cells.collect();
            cells.join("|")
        })
        .collect()
}
