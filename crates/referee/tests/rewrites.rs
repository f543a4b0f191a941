//! Rewritten plans give the rows of plans as bound, with generated statements.

use std::sync::atomic::Ordering;

use freestone_referee::contest::{Contest, Rules};
use freestone_referee::front::Front;
use freestone_referee::generate::signatures::Signatures;

#[test]
fn rewritten_plans_mean_the_same() {
    // Deep statements are walked by recursion.
    let worker = std::thread::Builder::new().stack_size(1 << 30);
    worker.spawn(check).unwrap().join().unwrap().unwrap();
}

fn check() -> std::io::Result<()> {
    let rules = Rules {
        statements: 1_000,
        seed: 1,
        chapter: Some("subqueries".to_owned()),
        most: 5,
        changes: false,
        kept: false,
        permanent: false,
        messages: false,
        locks: false,
    };
    let report = |kind: &freestone_referee::contest::Kind| {
        println!(
            "{}\n{}\n{}",
            kind.fingerprint,
            kind.setup.join(";\n"),
            kind.statement
        );
        println!("as bound: {:?}\nrewritten: {:?}", kind.theirs, kind.ours);
    };
    let contest = Contest::new(rules, &report);
    let (mut bound, mut rewritten) = (Front::default(), Front::rewritten());
    contest.work(&mut bound, &mut rewritten, &Signatures::read())?;
    let counts = &contest.counts;
    assert_eq!(counts.differing.load(Ordering::Relaxed), 0);
    assert!(counts.accepted.load(Ordering::Relaxed) > 850);
    Ok(())
}
