//! The files that the rules read.

use std::io;
use std::path::Path;
use std::process::Command;

/// A text file of the repository.
#[derive(Debug, Clone)]
pub struct File {
    /// Path relative to the workspace, with forward slashes.
    pub path: String,
    /// Its whole text.
    pub text: String,
}

impl File {
    /// A file made of its parts; tests make bad samples with it.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        File {
            path: path.into(),
            text: text.into(),
        }
    }

    /// Whether this is Rust source.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether the whole file is test code: it lies in a `tests` folder or is
    /// named `tests.rs` or `…_tests.rs`.
    pub fn is_test(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name == "tests.rs"
            || name.ends_with("_tests.rs")
            || name.starts_with("test_")
            || self.path.split('/').any(|part| part == "tests")
    }
}

/// Every file that is tracked, or new and not ignored. Binary files are left
/// out, and so are files listed but deleted in the working tree.
pub fn read_tree(root: &Path) -> io::Result<Vec<File>> {
    let mut files = Vec::new();
    for path in list(root)? {
        let Ok(bytes) = std::fs::read(root.join(&path)) else {
            continue;
        };
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(File::new(path, text));
        }
    }
    Ok(files)
}

fn list(root: &Path) -> io::Result<Vec<String>> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output();
    let mut paths = match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout)
            .split_terminator('\0')
            .map(str::to_string)
            .collect(),
        // An unpacked archive has no git: walk it.
        _ => walk(root)?,
    };
    paths.sort();
    paths.dedup();
    Ok(paths)
}

fn walk(root: &Path) -> io::Result<Vec<String>> {
    const SKIPPED: [&str; 4] = [".git", "target", "demo-db", "bench-db"];
    let mut paths = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if SKIPPED.iter().any(|skipped| name == *skipped) {
                continue;
            }
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if let Ok(relative) = path.strip_prefix(root) {
                paths.push(relative.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::File;

    #[test]
    fn knows_test_files() {
        for path in ["a/src/tests.rs", "a/tests/x.rs", "a/src/pax_tests.rs"] {
            assert!(File::new(path, "").is_test(), "{path}");
        }
        for path in ["a/src/latest.rs", "crates/testkit/src/lib.rs"] {
            assert!(!File::new(path, "").is_test(), "{path}");
        }
    }
}
