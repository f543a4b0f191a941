//! A progress bar on standard error for what takes longer than half a second.
//!
//! A thread of its own draws it, so it moves while the caller computes. It is
//! never drawn when standard error is no terminal, and is gone without a trace
//! when [`Bar`] is dropped.

use freestone::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(100);
const STEPS: u64 = 1000;

/// Shows a [`Progress`] until it is dropped.
pub struct Bar {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Bar {
    /// Watches `progress` under the name `what`.
    pub fn watch(progress: Arc<Progress>, what: &str) -> Bar {
        let mut bar = Bar {
            stop: None,
            thread: None,
        };
        if std::io::stderr().is_terminal() {
            let (stop, stopped) = mpsc::channel();
            let what = what.to_string();
            let thread = std::thread::Builder::new().name("progress".into());
            // Without a thread there is no bar; nothing else is lost.
            bar.thread = thread.spawn(move || draw(&progress, what, &stopped)).ok();
            bar.stop = Some(stop);
        }
        bar
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic in there has been printed; there is nothing to add.
            let _ = thread.join();
        }
    }
}

fn draw(progress: &Progress, what: String, stopped: &mpsc::Receiver<()>) {
    if stopped.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
    bar.set_style(style("{spinner} {msg} {elapsed}"));
    bar.set_message(what);
    let mut known = false;
    loop {
        if let Some(fraction) = progress.fraction() {
            if !known {
                known = true;
                bar.set_style(style("{msg} {wide_bar} {percent:>3} %  {elapsed}"));
            }
            // A fraction is at most 1, so this is at most STEPS.
            bar.set_position((fraction.clamp(0.0, 1.0) * STEPS as f64) as u64);
        }
        bar.tick();
        if stopped.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
            bar.finish_and_clear();
            return;
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
