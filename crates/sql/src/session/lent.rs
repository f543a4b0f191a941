//! Frames that a program lends to the statements of a session.

use std::collections::HashMap;
use std::future::Future;

use super::Session;
use crate::frames::Frame;
use crate::names::DEFAULT_SCHEMA;

impl Session {
    /// Does work, such as [`Session::run`], whose statement may name `frames` where the
    /// database has no table or view of that name. Work that is done so waits its turn in
    /// its session; a result that it gives may be read later.
    pub async fn lending<T>(
        &self,
        frames: HashMap<String, Frame>,
        work: impl Future<Output = T>,
    ) -> T {
        let _turn = self.lent.lend(frames).await;
        work.await
    }

    /// Whether the database has a table or view of that name in its default schema, as the
    /// session sees it.
    pub fn has_table(&self, name: &str) -> bool {
        self.glance().is_ok_and(|snapshot| {
            let found = snapshot.table(DEFAULT_SCHEMA, name).is_some();
            found || snapshot.view(DEFAULT_SCHEMA, name).is_some()
        })
    }
}
