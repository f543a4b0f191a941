//! Files of the server that statements name.
//!
//! Reading needs membership in `pg_read_server_files`, writing in `pg_write_server_files`.
//! A session that is confined to folders, as all of a server's are, names nothing outside
//! of them, and nothing of the database itself, whose log has the verifiers of passwords:
//! names are looked at when links and `..` are resolved.

use std::path::{Path, PathBuf};

use freestone_storage::{Catalog, RoleId};

use super::existing;
use crate::error::{Error, Result};
use crate::rights::{Confined, Identity};

/// The full name of a file that may be read.
///
/// # Errors
/// `42501`; `58P01` and others if it is not there.
pub(crate) fn readable(identity: &Identity, catalog: &Catalog, name: &str) -> Result<PathBuf> {
    if identity
        .received()
        .is_some_and(|own| own == Path::new(name))
    {
        return existing(name);
    }
    let rights = identity.rights(catalog);
    rights.member(RoleId::READ_SERVER_FILES, "read files of the server")?;
    let Some(confined) = identity.confined() else {
        return existing(name);
    };
    // What is outside of the folders is not even said to be there or not.
    let found = existing(name).map_err(|_| outside(name))?;
    within(confined, found, name)
}

/// The full name of a file that may be written; its folder has to be there.
///
/// # Errors
/// `42501`; `58P01` and others of the folder.
pub(crate) fn writable(identity: &Identity, catalog: &Catalog, name: &str) -> Result<PathBuf> {
    let rights = identity.rights(catalog);
    rights.member(RoleId::WRITE_SERVER_FILES, "write files of the server")?;
    let Some(confined) = identity.confined() else {
        return Ok(PathBuf::from(name));
    };
    let path = Path::new(name);
    let (Some(folder), Some(last)) = (path.parent(), path.file_name()) else {
        return Err(outside(name));
    };
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let folder = std::fs::canonicalize(folder).map_err(|_| outside(name))?;
    let target = folder.join(last);
    // A link would be followed, wherever it leads.
    let target = match std::fs::symlink_metadata(&target) {
        Ok(_) => std::fs::canonicalize(&target).map_err(|_| outside(name))?,
        Err(_) => target,
    };
    within(confined, target, name)
}

fn within(confined: &Confined, found: PathBuf, name: &str) -> Result<PathBuf> {
    let inside = |folder: &PathBuf| {
        std::fs::canonicalize(folder).is_ok_and(|folder| found.starts_with(folder))
    };
    if !confined.folders.iter().any(inside) {
        return Err(outside(name));
    }
    if confined.own.iter().any(inside) {
        let message = format!("\"{name}\" is in a directory of the database itself");
        return Err(Error::new("42501", message)
            .with_hint("give files for statements a folder beside the database"));
    }
    Ok(found)
}

fn outside(name: &str) -> Error {
    let message = format!("\"{name}\" is no file of a folder that statements may name");
    Error::new("42501", message)
        .with_hint("the server is started with the folders: freestone serve --files DIR")
}
