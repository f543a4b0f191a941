//! The files of a suite, in the order in which they are asked.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Format, Rules};

/// Bytes of the greatest file that is asked.
const GREATEST: u64 = 2 << 20;

/// The script that makes the tables which the others share.
const FIRST: &str = "test_setup";

/// The files that rules ask for.
///
/// # Errors
/// A folder cannot be read.
pub fn listed(rules: &Rules) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in &rules.paths {
        match path.is_dir() {
            true => {
                let mut found = Vec::new();
                under(path, rules.format, &mut found)?;
                found.sort();
                let schedule = path.with_file_name("parallel_schedule");
                if let (Format::Psql, Ok(schedule)) = (rules.format, fs::read_to_string(schedule)) {
                    found = scheduled(&schedule, path);
                }
                files.extend(found);
            }
            false => files.push(path.clone()),
        }
    }
    let mut at = 0;
    files.retain(|file| {
        let shown = file.display().to_string();
        let named = rules
            .only
            .as_ref()
            .is_none_or(|only| shown.contains(only.as_str()));
        at += usize::from(named);
        let first =
            rules.format == Format::Psql && file.file_stem().is_some_and(|stem| stem == FIRST);
        let small = fs::metadata(file).is_ok_and(|file| file.len() <= GREATEST);
        small && (first || named && (at - 1) % rules.every == 0)
    });
    Ok(files)
}

fn under(folder: &Path, format: Format, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        let wanted = match format {
            Format::Psql => extension == Some("sql"),
            Format::Sqllogictest => matches!(extension, None | Some("test" | "slt" | "part")),
        };
        match path.is_dir() {
            true => under(&path, format, found)?,
            false if wanted => found.push(path),
            false => {}
        }
    }
    Ok(())
}

/// The scripts of a folder in the order of a schedule: lines `test: one two`.
fn scheduled(schedule: &str, folder: &Path) -> Vec<PathBuf> {
    let names = schedule
        .lines()
        .filter_map(|line| line.strip_prefix("test:"));
    let names = names.flat_map(str::split_whitespace);
    names
        .map(|name| folder.join(format!("{name}.sql")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_orders_the_scripts() {
        let files = scheduled("# One\ntest: b\ntest: c a\n", Path::new("sql"));
        let names: Vec<_> = files.iter().filter_map(|file| file.to_str()).collect();
        assert_eq!(names, ["sql/b.sql", "sql/c.sql", "sql/a.sql"]);
    }
}
