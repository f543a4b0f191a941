//! Ctrl-C during generation, loading and queries.
//!
//! The first one asks: loads end with an error before their next batch and clean
//! up, queries are dropped. The second one leaves at once.

use crate::failure::{Failure, Result};
use std::future::Future;
use tokio::sync::watch;

/// Whether the user has asked to stop. Clones share it.
#[derive(Clone)]
pub struct Interrupt {
    asked: watch::Receiver<bool>,
}

impl Interrupt {
    /// Starts listening. Must be called inside a tokio runtime.
    pub fn listen() -> Self {
        let (ask, asked) = watch::channel(false);
        tokio::spawn(async move {
            // Without a handler Ctrl-C just ends the program; a database that is
            // being loaded is not there under its name then, either.
            if tokio::signal::ctrl_c().await.is_ok() {
                eprintln!("cancelling; Ctrl-C again leaves at once");
                ask.send_replace(true);
                if tokio::signal::ctrl_c().await.is_ok() {
                    std::process::exit(130);
                }
            }
            std::future::pending::<()>().await;
            drop(ask);
        });
        Interrupt { asked }
    }

    /// Whether to stop now.
    pub fn is_asked(&self) -> bool {
        *self.asked.borrow()
    }

    /// [`Failure::Interrupted`] if it is time to stop.
    ///
    /// # Errors
    /// That one.
    pub fn check(&self) -> Result<()> {
        if self.is_asked() {
            Err(Failure::Interrupted)
        } else {
            Ok(())
        }
    }

    /// Waits for `work`, or drops it.
    ///
    /// # Errors
    /// [`Failure::Interrupted`].
    pub async fn or<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        let mut asked = self.asked.clone();
        tokio::select! {
            biased;
            _ = asked.wait_for(|asked| *asked) => Err(Failure::Interrupted),
            done = work => Ok(done),
        }
    }
}
