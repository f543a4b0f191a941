//! House rules as a program, with a message a person can act on.
//!
//! Every rule is a function from files (path and text) to [`Finding`]s, so its
//! tests feed it bad samples without touching the disk. Rules live in one file
//! each; what they allow stands in a constant at the top of that file.

mod crates;
mod files;
mod glossary;
mod links;
mod lock;
mod modules;
mod rust;
mod tables;
mod unsafe_code;
mod words;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

pub use files::File;

/// One broken rule: where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Path relative to the workspace, with forward slashes.
    pub path: String,
    /// Line, counted from 1; 0 speaks of the whole file.
    pub line: usize,
    /// What is wrong and what would be right.
    pub message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Finding {
            path: path.to_string(),
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

type Rule = fn(&[File]) -> Vec<Finding>;

const RULES: [Rule; 8] = [
    crates::check,
    glossary::check,
    links::check,
    lock::check,
    modules::check,
    tables::check,
    unsafe_code::check,
    words::check,
];

/// Checks every file of the working tree that git does not ignore.
pub fn run(root: &Path) -> ExitCode {
    let files = match files::read_tree(root) {
        Ok(files) => files,
        Err(error) => {
            eprintln!("tidy: cannot read {}: {error}", root.display());
            return ExitCode::FAILURE;
        }
    };
    let findings = check(&files);
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: {} files, {} findings", files.len(), findings.len());
    match findings.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn check(files: &[File]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(files)).collect();
    findings.sort();
    findings
}
