//! The corpus in the language front against PostgreSQL's recorded answers.

use freestone_referee::corpus;
use freestone_referee::front::Front;

#[test]
fn the_corpus_is_answered_as_recorded() {
    // Deep statements are walked by recursion.
    let worker = std::thread::Builder::new().stack_size(1 << 30);
    worker.spawn(check).unwrap().join().unwrap().unwrap();
}

fn check() -> std::io::Result<()> {
    let folder = corpus::folder();
    let open = corpus::known(&folder, false)?;
    let mut front = Front::default();
    let (mut differing, mut wrong) = (Vec::new(), Vec::new());
    for file in corpus::files(&folder, None)? {
        let (asked, misses) = corpus::check(&file, &mut front)?;
        assert!(asked > 0, "{} has no statements", file.display());
        for miss in misses {
            if !open.contains(&miss.statement) {
                let kind = miss.difference.fingerprint();
                wrong.push(format!("{kind}: {}", miss.statement));
            }
            differing.push(miss.statement);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let mended = open
        .iter()
        .filter(|statement| !differing.contains(statement));
    let mended: Vec<_> = mended.collect();
    assert!(
        mended.is_empty(),
        "mended, to be taken out of open.sql or wanted.sql: {mended:#?}"
    );
    Ok(())
}
