//! Answers to statements, in the form in which clients see them.

/// A cell as text; `None` for NULL.
pub type Cell = Option<String>;

/// A refused or failed statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Five characters.
    pub sqlstate: String,
    /// The sentence.
    pub message: String,
}

/// The answer to one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Names and types of the columns, if they were asked for.
    pub columns: Option<Vec<(String, String)>>,
    /// Its rows, or why there are none.
    pub rows: Result<Vec<Vec<Cell>>, Failure>,
    /// The word of a statement without columns, if the side gives one: `UPDATE 3`.
    pub done: Option<String>,
}

impl Answer {
    /// A failure.
    pub fn failed(sqlstate: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            columns: None,
            rows: Err(Failure {
                sqlstate: sqlstate.into(),
                message: message.into(),
            }),
            done: None,
        }
    }

    /// Whether the statement was accepted.
    pub fn accepted(&self) -> bool {
        self.rows.is_ok()
    }

    /// The answer as lines: its columns, and its rows or its failure.
    pub fn shown(&self) -> String {
        let mut lines = Vec::new();
        if let Some(columns) = &self.columns {
            let columns = columns.iter().map(|(name, ty)| format!("{name} {ty}"));
            lines.push(columns.collect::<Vec<_>>().join(" | "));
        }
        match &self.rows {
            Err(failure) => lines.push(format!("ERROR {}: {}", failure.sqlstate, failure.message)),
            Ok(rows) => {
                for row in rows {
                    let cells = row.iter().map(|cell| cell.as_deref().unwrap_or("∅"));
                    lines.push(cells.collect::<Vec<_>>().join("|"));
                }
            }
        }
        lines.join("\n")
    }

    /// As [`Answer::shown`], without the lines and characters of great ones.
    pub fn short(&self) -> String {
        let most = |rows: &Vec<Vec<Option<String>>>| rows.len().min(LINES);
        let shown = Answer {
            rows: self
                .rows
                .as_ref()
                .map(|rows| rows[..most(rows)].to_vec())
                .map_err(Clone::clone),
            columns: self.columns.clone(),
            done: self.done.clone(),
        };
        let shown = shown.shown();
        let cut = |line: &str| line.chars().take(CHARACTERS).collect::<String>();
        let mut lines: Vec<String> = shown.lines().take(LINES).map(cut).collect();
        if let Some(done) = &self.done {
            lines.push(format!("({done})"));
        }
        lines.join("\n")
    }
}

/// Most lines of an answer that is shown in short,
const LINES: usize = 24;
/// and characters of each.
const CHARACTERS: usize = 300;

/// A side that answers statements: PostgreSQL, Freestone's server or its language front.
pub trait Side {
    /// Answers to statements that are asked one after the other.
    ///
    /// # Errors
    /// The side is gone.
    fn ask(&mut self, statements: &[String]) -> std::io::Result<Vec<Answer>>;

    /// Begins anew: no tables, settings as at first.
    ///
    /// # Errors
    /// The side is gone.
    fn reset(&mut self) -> std::io::Result<()>;
}
