//! The laws in the language front, with generated statements.

use freestone_referee::front::Front;
use freestone_referee::generate::signatures::Signatures;
use freestone_referee::laws;

#[test]
fn generated_statements_keep_the_laws() {
    // Deep statements are walked by recursion.
    let worker = std::thread::Builder::new().stack_size(1 << 30);
    worker.spawn(check).unwrap().join().unwrap().unwrap();
}

fn check() -> std::io::Result<()> {
    let verdict = laws::test(&mut Front::default(), &Signatures::read(), 2_000, 1)?;
    let first = verdict.breaches.first();
    assert!(first.is_none(), "{first:#?}");
    let queries = verdict.asked / 6;
    assert!(
        verdict.tested * 10 > queries * 8,
        "{} of {queries}",
        verdict.tested
    );
    Ok(())
}
