//! One user's session: runs statements and shows what they return.
//!
//! The shell, `-c`, `-f` and standard input all go through [`Client`]. Ctrl-C
//! drops the future of the running statement, which is how a query is cancelled
//! everywhere in Freestone; the client is then ready for the next.

use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::progress::Bar;
use crate::render::Format;
use arrow::array::{ArrayRef, RecordBatch, StringViewArray};
use freestone::{Database, Outcome, Session, SessionOptions, Statement};
use futures::{FutureExt, StreamExt};
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A session and how its results are shown.
pub struct Client {
    /// The database, for the catalog.
    pub database: Database,
    /// Where results go.
    pub output: Output,
    /// How they are written.
    pub format: Format,
    /// `\x`: one line per value instead of `format`.
    pub expanded: bool,
    /// `\timing`: say how long each statement took.
    pub timing: bool,
    session: Session,
    interrupts: Signal,
}

impl Client {
    /// Opens a session. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// [`Failure::Io`] when the handler for Ctrl-C cannot be set.
    pub fn new(
        database: Database,
        threads: Option<usize>,
        format: Format,
        output: Output,
    ) -> Result<Self> {
        let options = SessionOptions { threads };
        Ok(Client {
            session: database.session_with(options),
            database,
            output,
            format,
            expanded: false,
            timing: false,
            interrupts: signal(SignalKind::interrupt())
                .map_err(|error| Failure::io("cannot listen for Ctrl-C", error))?,
        })
    }

    /// Runs the statements of a text, showing each result.
    ///
    /// # Errors
    /// The first that fails; the ones before it have been run.
    pub async fn run(&mut self, sql: &str) -> Result<()> {
        let statements = self.session.parse(sql)?;
        for statement in &statements {
            let start = Instant::now();
            self.statement(statement).await?;
            if self.timing {
                self.output
                    .line(&format!("Time: {}", duration(start.elapsed())))?;
            }
            self.output.flush()?;
        }
        Ok(())
    }

    /// Forgets a Ctrl-C that came while nothing was running.
    pub fn forget_interrupts(&mut self) {
        while let Some(Some(())) = self.interrupts.recv().now_or_never() {}
    }

    async fn statement(&mut self, statement: &Statement) -> Result<()> {
        let mut bar = Some(Bar::watch(self.session.progress(), "running"));
        let outcome = or_interrupt(&mut self.interrupts, self.session.run(statement)).await??;
        for notice in self.session.take_notices() {
            eprintln!("{notice}");
        }
        let format = if self.expanded {
            Format::Line
        } else {
            self.format
        };
        let mut rows = match outcome {
            Outcome::Rows(rows) => rows,
            Outcome::Done { tag, .. } => {
                drop(bar);
                return if format.shows_tags() {
                    self.output.line(&tag)
                } else {
                    Ok(())
                };
            }
        };
        // Only a table is held back; the others would be drawn over.
        let draws_over = self.output.is_terminal() && format != Format::Table;
        let mut target = self.output.target();
        target.styles = self.session.styles();
        let mut renderer = format.renderer(target);
        let mut started = false;
        while let Some(batch) = or_interrupt(&mut self.interrupts, rows.stream.next()).await? {
            let batch = batch?;
            if draws_over {
                bar = None;
            }
            if !started {
                started = true;
                renderer
                    .start(self.output.writer(), &rows.schema)
                    .map_err(Failure::output)?;
            }
            renderer
                .batch(self.output.writer(), &batch)
                .map_err(Failure::output)?;
        }
        drop(bar);
        if !started {
            renderer
                .start(self.output.writer(), &rows.schema)
                .map_err(Failure::output)?;
        }
        renderer
            .finish(self.output.writer())
            .map_err(Failure::output)
    }

    /// Shows a small table that the program made itself.
    ///
    /// # Errors
    /// [`Failure::Io`] or [`Failure::Closed`].
    pub fn show(&mut self, headers: &[&str], rows: &[Vec<String>]) -> Result<()> {
        let format = if self.expanded {
            Format::Line
        } else {
            self.format
        };
        show(&mut self.output, format, headers, rows)
    }
}

/// Writes rows of text in a format.
///
/// # Errors
/// [`Failure::Io`] or [`Failure::Closed`].
pub fn show(
    output: &mut Output,
    format: Format,
    headers: &[&str],
    rows: &[Vec<String>],
) -> Result<()> {
    let column = |at: usize| {
        let cells = rows.iter().map(|row| row.get(at).map(String::as_str));
        Arc::new(StringViewArray::from_iter(cells)) as ArrayRef
    };
    let columns = headers
        .iter()
        .enumerate()
        .map(|(at, name)| (*name, column(at), true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns)
        .map_err(|error| Failure::Message(error.to_string()))?;
    let mut target = output.target();
    (target.max_rows, target.uncounted) = (None, true);
    let mut renderer = format.renderer(target);
    renderer
        .start(output.writer(), &batch.schema())
        .map_err(Failure::output)?;
    renderer
        .batch(output.writer(), &batch)
        .map_err(Failure::output)?;
    renderer.finish(output.writer()).map_err(Failure::output)?;
    output.flush()
}

/// Waits for `work`, or drops it at Ctrl-C.
async fn or_interrupt<T>(interrupts: &mut Signal, work: impl Future<Output = T>) -> Result<T> {
    tokio::select! {
        biased;
        _ = interrupts.recv() => Err(Failure::Interrupted),
        done = work => Ok(done),
    }
}

/// `12.345 ms`, `1.234 s`, `2 min 3.0 s`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 1.0 => format!("{:.3} ms", s * 1e3),
        s if s < 60.0 => format!("{s:.3} s"),
        s => format!("{:.0} min {:.1} s", (s / 60.0).floor(), s % 60.0),
    }
}

/// `731 B`, `12.3 KiB`, `4.5 GiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// `6001215` as `6,001,215`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_well() {
        assert_eq!(duration(Duration::from_micros(12_345)), "12.345 ms");
        assert_eq!(duration(Duration::from_millis(123_000)), "2 min 3.0 s");
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(u64::MAX), "16384.0 PiB");
        assert_eq!(grouped(6_001_215), "6,001,215");
        assert_eq!(grouped(12), "12");
    }
}
