//! A server that is asked through a `psql` child process.
//!
//! One child serves all statements: they are written to its input, each followed by `\echo`
//! with the SQLSTATE of the last statement between control characters that no answer holds.
//!
//! ```text
//! SELECT 1            1 ⏎
//! \g                  ␝ 00000 '' ␜ ⏎
//! \echo …
//! ```

use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::answer::{Answer, Cell, Failure, Side};

const NULL: &str = "\u{2400}";
const FIELD: char = '\x1f';
const RECORD: char = '\x1e';
const BEFORE_STATE: char = '\x1d';
const END: &[u8] = b"\x1c\n";

/// Longest wait for more output.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server.
pub struct Psql {
    arguments: Vec<String>,
    child: Child,
    input: ChildStdin,
    output: Receiver<Vec<u8>>,
    unread: Vec<u8>,
}

impl Psql {
    /// Starts `psql` with arguments that say to which server it connects.
    ///
    /// # Errors
    /// There is no `psql`.
    pub fn start(arguments: &[String]) -> io::Result<Self> {
        let mut child = Command::new("psql")
            .args(["-X", "-A", "-t", "-q"])
            .args(arguments)
            .env("PGOPTIONS", "-c statement_timeout=10000 -c jit=off")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let gone = || io::Error::other("psql has no input or output");
        let input = child.stdin.take().ok_or_else(gone)?;
        let mut stdout = child.stdout.take().ok_or_else(gone)?;
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut piece = vec![0; 1 << 16];
            while let Ok(length) = stdout.read(&mut piece) {
                let part = piece.get(..length).unwrap_or_default().to_vec();
                if length == 0 || sender.send(part).is_err() {
                    break;
                }
            }
        });
        let mut psql = Self {
            arguments: arguments.to_vec(),
            child,
            input,
            output,
            unread: Vec::new(),
        };
        let settings = format!(
            "\\set VERBOSITY verbose\n\\pset null '{NULL}'\n\\pset fieldsep '\\x1f'\n\
             \\pset recordsep '\\x1e'\nSET timezone = 'UTC';\n"
        );
        psql.input.write_all(settings.as_bytes())?;
        Ok(psql)
    }

    /// The next block of output, without the mark at its end.
    fn block(&mut self) -> io::Result<String> {
        let mut searched = 0;
        loop {
            let rest = self.unread.get(searched..).unwrap_or_default();
            if let Some(at) = rest.windows(END.len()).position(|window| window == END) {
                let mut block: Vec<u8> = self.unread.drain(..searched + at + END.len()).collect();
                block.truncate(searched + at);
                return Ok(String::from_utf8_lossy(&block).into_owned());
            }
            searched = self.unread.len().saturating_sub(END.len());
            let more = self.output.recv_timeout(PATIENCE);
            let more = more.map_err(|_| io::Error::other("the server is gone or silent"))?;
            self.unread.extend(more);
        }
    }
}

impl Drop for Psql {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Side for Psql {
    fn ask(&mut self, statements: &[String], types: bool) -> io::Result<Vec<Answer>> {
        let mut text = String::new();
        let mark = "\\echo '\\x1d' :SQLSTATE :'LAST_ERROR_MESSAGE' '\\x1c'\n";
        for statement in statements {
            let statement = statement.trim().trim_end_matches(';');
            if types {
                text += &format!("{statement}\n\\gdesc\n{mark}");
            }
            text += &format!("{statement}\n;\n{mark}");
        }
        // The child may wait for its output to be read while it is written to; the reading
        // thread prevents that.
        self.input.write_all(text.as_bytes())?;
        self.input.flush()?;
        let mut answers = Vec::new();
        for _ in statements {
            let columns = match types {
                true => described(&self.block()?),
                false => None,
            };
            let rows = rows(&self.block()?);
            answers.push(Answer { columns, rows });
        }
        Ok(answers)
    }

    fn reset(&mut self) -> io::Result<()> {
        *self = Self::start(&self.arguments.clone())?;
        Ok(())
    }
}

/// Output and state of a block.
fn parted(block: &str) -> (&str, Result<(), Failure>) {
    let Some((output, state)) = block.rsplit_once(BEFORE_STATE) else {
        return (block, Ok(()));
    };
    let state = state.trim();
    let (sqlstate, message) = state.split_once(' ').unwrap_or((state, ""));
    let failed = sqlstate != "00000";
    let failure = Failure {
        sqlstate: sqlstate.to_owned(),
        message: message.trim_matches('\'').replace("''", "'"),
    };
    (output, if failed { Err(failure) } else { Ok(()) })
}

fn records(output: &str) -> Vec<Vec<Cell>> {
    let Some(output) = output.strip_suffix('\n') else {
        return Vec::new();
    };
    let cell = |cell: &str| (cell != NULL).then(|| cell.to_owned());
    let records = output.split(RECORD);
    records
        .map(|record| record.split(FIELD).map(cell).collect())
        .collect()
}

fn rows(block: &str) -> Result<Vec<Vec<Cell>>, Failure> {
    let (output, state) = parted(block);
    state.map(|()| records(output))
}

fn described(block: &str) -> Option<Vec<(String, String)>> {
    let (output, state) = parted(block);
    state.ok()?;
    let column = |record: Vec<Cell>| {
        let mut cells = record.into_iter().flatten();
        Some((cells.next()?, cells.next()?))
    };
    records(output).into_iter().map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_parted_into_rows() {
        let block = "1\x1fa\x1e\u{2400}\x1f\n\x1d 00000 '' ";
        let expected = vec![
            vec![Some("1".to_owned()), Some("a".to_owned())],
            vec![None, Some(String::new())],
        ];
        assert_eq!(rows(block), Ok(expected));
        assert_eq!(rows("\x1d 00000 '' "), Ok(Vec::new()));
        assert_eq!(
            rows("\n\x1d 00000 '' "),
            Ok(vec![vec![Some(String::new())]])
        );
    }

    #[test]
    fn an_error_has_its_state_and_message() {
        let failure = rows("\x1d 42703 'column \"it''s\" does not exist' ").unwrap_err();
        assert_eq!(failure.sqlstate, "42703");
        assert_eq!(failure.message, "column \"it's\" does not exist");
    }

    #[test]
    fn columns_have_names_and_types() {
        let expected = vec![("a".to_owned(), "integer".to_owned())];
        assert_eq!(described("a\x1finteger\n\x1d 00000 "), Some(expected));
        assert_eq!(described("\x1d 42P01 'x' "), None);
    }
}
