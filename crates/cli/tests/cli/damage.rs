//! Damaged files: `verify` names them, other tables go on working.

use crate::support::{run, sample};
use std::path::{Path, PathBuf};

fn block_file(db: &str, table: &str) -> PathBuf {
    let blocks = run(&["inspect", db, table, "--format", "csv"]).ok();
    let file = blocks
        .lines()
        .nth(1)
        .and_then(|line| line.split(',').nth(4))
        .expect("a file");
    let direct = Path::new(db).join(file);
    if direct.exists() {
        direct
    } else {
        Path::new(db).join("blocks").join(file)
    }
}

fn flip(file: &Path, at: usize) {
    let mut bytes = std::fs::read(file).expect("readable");
    bytes[at] ^= 0x40;
    std::fs::write(file, bytes).expect("writable");
}

#[test]
fn a_good_database_verifies() {
    let (_folder, db) = sample();
    let out = run(&["verify", &db]).ok();
    assert!(
        out.starts_with("main.t: 1 block, ") && out.ends_with(", ok\n"),
        "{out}"
    );
}

#[test]
fn one_flipped_bit_is_found_and_named() {
    let (_folder, db) = sample();
    run(&[
        &db,
        "-c",
        "CREATE TABLE other (a INT); INSERT INTO other VALUES (5); VACUUM other",
    ])
    .ok();
    let file = block_file(&db, "t");
    let size = std::fs::metadata(&file).expect("there").len() as usize;
    // The last bytes may be padding, which no checksum covers.
    for at in [0, 40, size / 3, size / 2] {
        flip(&file, at);
        let ran = run(&["verify", &db]);
        let name = file
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        assert_eq!(ran.code, 1, "byte {at}: {}", ran.out);
        assert!(
            ran.out.contains("BAD") && ran.out.contains(&name),
            "byte {at}: {}",
            ran.out
        );
        assert!(
            ran.out.contains("main.other: 1 block") && ran.out.contains("ok"),
            "{}",
            ran.out
        );
        let out = run(&[&db, "--format", "csv", "-c", "SELECT a FROM other"]).ok();
        assert_eq!(out, "a\n5\n");
        flip(&file, at);
    }
    run(&["verify", &db]).ok();
}

#[test]
fn a_query_over_damage_is_xx001() {
    let (_folder, db) = sample();
    let file = block_file(&db, "t");
    let bytes = std::fs::read(&file).expect("readable");
    std::fs::write(&file, &bytes[..bytes.len() / 2]).expect("writable");
    let err = run(&[&db, "-c", "SELECT sum(price) FROM t"]).failed();
    assert!(err.contains("ERROR XX001: "), "{err}");
}

#[test]
fn salvage_says_what_is_lost_and_keeps_the_rest() {
    let (_folder, db) = sample();
    run(&[
        &db,
        "-c",
        "CREATE TABLE other (a INT); INSERT INTO other VALUES (5); VACUUM other",
    ])
    .ok();
    let out = run(&["salvage", &db]).ok();
    assert!(out.starts_with("nothing is damaged\n"), "{out}");
    let file = block_file(&db, "other");
    let size = std::fs::metadata(&file).expect("there").len() as usize;
    flip(&file, size / 2);
    let ran = run(&["salvage", &db]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(
        ran.out.contains("of table main.other, 1 rows"),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("nothing was changed on disk"),
        "{}",
        ran.out
    );
    let ran = run(&["salvage", &db, "--rewrite", "--json"]);
    assert!(ran.out.contains("\"rewritten\": true"), "{}", ran.out);
    run(&["verify", &db]).ok();
    let counts = "SELECT (SELECT count(*) FROM other), (SELECT count(*) > 0 FROM t)";
    let out = run(&[&db, "--format", "csv", "-c", counts]).ok();
    assert!(out.ends_with("0,true\n") || out.ends_with("0,t\n"), "{out}");
}
