//! What unit tests share.

use crate::Session;

/// Runs statements to their end.
pub(crate) fn run(session: &Session, sql: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(session.execute(sql)).unwrap();
}
