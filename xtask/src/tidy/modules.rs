//! Imports inside a crate point one way, too: a module may use `crate::x` only of modules
//! before it in the crate's order.

use super::rust::{code_only, lines_before_tests};
use super::{File, Finding};

/// Sources of crates and their top-level modules, lowest first. Modules in one text know each
/// other: such a group may lose members, and none joins one.
const ORDERS: &[(&str, &[&str])] = &[
    ("crates/storage/src/", STORAGE),
    ("crates/frontend/src/", FRONTEND),
    ("crates/sql/src/", SQL),
    ("crates/exec/src/", EXEC),
    ("crates/model/src/", MODEL),
    ("crates/calibrate/src/", CALIBRATE),
    ("crates/lab/src/", LAB),
    ("crates/server/src/", SERVER),
    ("crates/python/src/", PYTHON),
    ("crates/cli/src/", CLI),
    ("crates/referee/src/", REFEREE),
    ("crates/postgres/src/", POSTGRES),
    ("crates/testkit/src/", TESTKIT),
];

const FRONTEND: &[&str] = &[
    "error",
    "interrupt",
    "stack",
    "values",
    "types",
    "functions",
    "plan",
    "evaluate",
    "rewrite",
    "reference",
    "syntax",
    "bind",
];

const STORAGE: &[&str] = &[
    "ids",
    "error",
    "schema",
    "io",
    "format",
    "postings",
    "predicate",
    "roles",
    "row",
    "codec",
    "layout",
    "index",
    "delta",
    "block",
    "wal",
    "manifest",
    "scan",
    "table",
    "store",
];

const SQL: &[&str] = &[
    "error",
    "names",
    "progress",
    "types",
    "values",
    "memory",
    "parameter",
    "outline",
    "advisory_locks",
    "outcome",
    "rows",
    "sequences",
    "transaction_number",
    "oids",
    "routine",
    "dialect",
    "grammar",
    "statement",
    "options",
    "state",
    "interrupt",
    "partition",
    "expression",
    "scan",
    "source",
    "frames",
    "engine",
    "lower",
    "settings",
    "rights",
    "files",
    "workload",
    "plans",
    "relations",
    "functions",
    "keyed",
    "permissions",
    "front",
    "deparse",
    "catalogs",
    "routing",
    "ingest",
    "temporary",
    "database",
    "session",
    "run",
    "advisor",
    "execution",
    "testing",
];

const EXEC: &[&str] = &[
    "error",
    "kernels",
    "vector",
    "expression",
    "interner",
    "keys",
    "spill",
    "memory",
    "partition",
    "kept",
    "aggregate",
    "threads",
    "limit",
    "plan",
    "shared",
    "context",
    "outside",
    "sort",
    "window",
    "join",
    "scan",
    "merge",
    "fold",
    "ranges",
    "source",
    "step",
    "drive",
    "pipeline",
    "testing",
];

const MODEL: &[&str] = &[
    "curve",
    "error",
    "machine",
    "rate",
    "selection",
    "correction",
    "costs",
    "operators",
    "calibration",
    "disk",
    "query",
    "advisor",
    "codb",
];

const CALIBRATE: &[&str] = &[
    "random", "columns", "disk", "tables", "timer", "descent", "hardware", "meter", "cold",
    "drawn", "refine", "scans", "check",
];

const LAB: &[&str] = &[
    "error",
    "outcome",
    "sql",
    "setting",
    "experiment",
    "c",
    "cache",
    "measure",
    "m",
    "plot",
    "check",
    "machine",
    "record",
    "report",
    "run",
    "command",
    "h",
    "p",
    "q",
    "registry",
];

const SERVER: &[&str] = &[
    "kinds",
    "numeric",
    "ranges",
    "arrays",
    "output",
    "parameters",
    "users",
    "cancel",
    "door",
    "failure",
    "held",
    "limits",
    "request",
    "log",
    "metrics",
    "watch",
    "messages",
    "places",
    "portal",
    "options",
    "told",
    "startup",
    "connection",
    "copy_binary",
    "copy",
    "extended",
    "tls",
    "socket",
    "flight",
    "listener",
    "simple",
];

const PYTHON: &[&str] = &[
    "failure",
    "exchange",
    "batch",
    "open",
    "values",
    "waiting",
    "session",
    "rows",
    "many",
    "connection",
];

const CLI: &[&str] = &[
    "render",
    "args",
    "failure",
    "output",
    "progress",
    "client",
    "lexer",
    "script",
    "describe",
    "meta",
    "batch",
    "shell",
    "calibrate",
    "inspect",
    "tpch",
    "lab",
    "salvage",
    "serve",
    "verify",
];

const REFEREE: &[&str] = &[
    "answer",
    "compare",
    "corpus",
    "random",
    "generate",
    "shrink",
    "contest",
    "coverage",
    "front",
    "functions",
    "laws",
    "plan_time",
    "shapes",
    "views",
    "wire",
    "histories",
    "served",
    "appends",
    "suite",
];

const POSTGRES: &[&str] = &["installed", "cluster"];

const TESTKIT: &[&str] = &["kill", "slt"];

/// Pairs that must not know each other, whatever their order.
const STRANGERS: &[(&str, &str)] = &[("layout", "index")];

/// Checks every source file of these crates except their roots and their tests.
pub fn check(files: &[File]) -> Vec<Finding> {
    ORDERS
        .iter()
        .flat_map(|(source, order)| check_crate(files, source, order))
        .collect()
}

fn check_crate(files: &[File], source: &str, order: &[&str]) -> Vec<Finding> {
    let reexports = files
        .iter()
        .find(|file| file.path == format!("{source}lib.rs"))
        .map(|file| reexports(&file.text))
        .unwrap_or_default();
    files
        .iter()
        .filter(|file| file.is_rust() && !file.is_test())
        .filter_map(|file| Some((file, file.path.strip_prefix(source)?)))
        .flat_map(|(file, inner)| check_file(file, inner, order, &reexports))
        .collect()
}

fn check_file(
    file: &File,
    inner: &str,
    order: &[&str],
    reexports: &[(String, String)],
) -> Vec<Finding> {
    let place = |module: &str| {
        let has = |group: &&str| group.split(' ').any(|known| known == module);
        order.iter().position(has)
    };
    let module = inner
        .split('/')
        .next()
        .unwrap_or("")
        .trim_end_matches(".rs");
    if ["lib", "main", "bin"].contains(&module) {
        return Vec::new();
    }
    let Some(own) = place(module) else {
        let message = format!(
            "module `{module}` has no place in the import order of xtask/src/tidy/modules.rs"
        );
        return vec![Finding::new(&file.path, 0, message)];
    };
    let kept = lines_before_tests(&file.text);
    let mut findings = Vec::new();
    for (line, name) in imports(&file.text, depth(inner)) {
        if line > kept {
            break;
        }
        let exported = reexports.iter().find(|(item, _)| *item == name);
        let target = match exported {
            Some((_, module)) if place(&name).is_none() => match place(module) {
                // From another crate, or the root's own.
                None => continue,
                Some(_) => module.as_str(),
            },
            _ => name.as_str(),
        };
        let message = match place(target) {
            None if reexports.is_empty() => continue,
            None => format!(
                "`crate::{name}` is no module of the import order; name the module it comes from"
            ),
            Some(_) if target == module => continue,
            Some(_) if strangers(module, target) => {
                format!("`{module}` and `{target}` must not know each other")
            }
            Some(other) if other > own => {
                format!("`{module}` comes before `{target}` and must not import it")
            }
            Some(_) => continue,
        };
        findings.push(Finding::new(&file.path, line, message));
    }
    findings
}

fn strangers(a: &str, b: &str) -> bool {
    STRANGERS.contains(&(a, b)) || STRANGERS.contains(&(b, a))
}

/// How many `super::` lead from this file to the root of the crate.
fn depth(inner: &str) -> usize {
    let folders = inner.matches('/').count();
    match inner.ends_with("/mod.rs") {
        true => folders,
        false => folders + 1,
    }
}

/// Names taken from the crate root by `crate::x`, `crate::{x, y::z}` or as many
/// `super::` as lead there, with their lines.
fn imports(source: &str, depth: usize) -> Vec<(usize, String)> {
    let code = code_only(source);
    let up = "super::".repeat(depth);
    let mut found = Vec::new();
    for prefix in ["crate::", up.as_str()] {
        for (at, _) in code.match_indices(prefix) {
            if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let line = code[..at].matches('\n').count() + 1;
            let rest = &code[at + prefix.len()..];
            found.extend(heads(rest).into_iter().map(|name| (line, name)));
        }
    }
    found.sort();
    found
}

/// The first segments of a path or of each path of a `{…}` group.
fn heads(rest: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim_start()
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    if !rest.starts_with('{') {
        return vec![name(rest)]
            .into_iter()
            .filter(|n| !n.is_empty() && n != "super")
            .collect();
    }
    let mut depth = 0;
    let mut names = Vec::new();
    for (at, c) in rest.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if depth == 1 && (c == '{' || c == ',') {
            names.push(name(&rest[at + 1..]));
        }
    }
    names.retain(|name| !name.is_empty() && name != "self");
    names
}

/// Items that the crate root re-exports, with the module they come from.
fn reexports(root: &str) -> Vec<(String, String)> {
    let code = code_only(root);
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let path: String = code[at + 4..].chars().take_while(|c| *c != ';').collect();
        let path = path.trim().trim_start_matches("crate::");
        let Some((module, items)) = path.split_once("::") else {
            continue;
        };
        for item in items.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            if !item.is_empty() {
                found.push((item.to_string(), module.trim().to_string()));
            }
        }
    }
    // Definitions of the root itself are below everything.
    for keyword in ["struct ", "enum ", "type ", "trait ", "fn ", "const "] {
        for (at, _) in code.match_indices(keyword) {
            let name = code[at + keyword.len()..].chars();
            let name = name.take_while(|c| c.is_alphanumeric() || *c == '_');
            found.push((name.collect(), String::new()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let root = File::new(
            "crates/storage/src/lib.rs",
            "mod x;\npub use error::{Error, Result};\npub use store::Store;\n",
        );
        check(&[root, File::new(path, text)])
            .iter()
            .map(Finding::to_string)
            .collect()
    }

    #[test]
    fn importing_upwards_is_found_in_every_form() {
        let path = "crates/storage/src/codec.rs";
        for text in [
            "use crate::block::Header;",
            "use crate::{error::Error, block::Header};",
            "use crate::{\n    error::{Error, Result},\n    block,\n};",
            "fn f() { super::block::open() }",
            "use crate::Store;",
        ] {
            assert_eq!(findings(path, text).len(), 1, "{text}");
        }
        let deep = "crates/storage/src/codec/plain.rs";
        assert_eq!(findings(deep, "use super::super::store::Store;").len(), 1);
        assert_eq!(findings(deep, "use super::store;"), Vec::<String>::new());
    }

    #[test]
    fn layout_and_index_are_strangers() {
        let found = findings(
            "crates/storage/src/index/mod.rs",
            "\nuse crate::layout::Pax;",
        );
        assert_eq!(
            found,
            ["crates/storage/src/index/mod.rs:2: `index` and `layout` must not know each other"]
        );
        assert_eq!(
            findings("crates/storage/src/layout.rs", "use crate::index;").len(),
            1
        );
    }

    #[test]
    fn a_group_knows_itself_and_what_is_below() {
        let of = |inner: &str, text: &str| {
            let path = format!("crates/x/src/{inner}");
            let order = ["a", "b c", "d"];
            check_file(&File::new(&path, text), inner, &order, &[]).len()
        };
        assert_eq!(of("b.rs", "use crate::{a::A, c::C};"), 0);
        assert_eq!(of("b.rs", "use crate::d::D;"), 1);
        assert_eq!(of("a.rs", "use crate::c::C;"), 1);
    }

    #[test]
    fn a_module_without_a_place_is_found() {
        assert_eq!(findings("crates/storage/src/misc.rs", "").len(), 1);
    }

    #[test]
    fn downward_imports_comments_and_tests_pass() {
        let text = "//! Used by [`crate::store`].\nuse crate::error::Error;\nuse crate::Result;\npub(crate) fn f() {}\n\
                    #[cfg(test)]\nmod tests {\n    use crate::store::Store;\n}\n";
        assert_eq!(
            findings("crates/storage/src/block.rs", text),
            Vec::<String>::new()
        );
        assert_eq!(
            findings("crates/storage/src/block/tests.rs", "use crate::store;"),
            Vec::<String>::new()
        );
    }
}
