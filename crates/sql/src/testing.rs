//! What unit tests share.

use crate::Session;

/// Waits for something on a runtime of its own.
pub(crate) fn on_runtime<T>(waited: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(waited)
}

/// Runs statements to their end.
pub(crate) fn run(session: &Session, sql: &str) {
    on_runtime(session.execute(sql)).unwrap();
}
