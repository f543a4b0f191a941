//! One page: every step leaves what the model has, and what readers understand.

use super::*;

/// What is done to a page, with numbers that records, columns and values are made of.
#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(u64),
    Update(usize, usize, u64),
    Delete(usize),
    Compact,
}

/// How often updates and inserts ended in which way.
#[derive(Debug, Default)]
struct Seen {
    in_place: usize,
    rewritten: usize,
    reorganised: usize,
    no_room: usize,
    too_large: usize,
    full: usize,
}

/// A page and what must be on it.
struct Checked<E> {
    columns: Vec<PageColumn>,
    compaction: Compaction,
    longest: usize,
    editor: E,
    /// By number.
    records: Vec<Option<Record>>,
    seen: Seen,
}

impl<E: TestedPage> Checked<E> {
    fn new(
        columns: &[PageColumn],
        page_bytes: usize,
        compaction: Compaction,
        longest: usize,
    ) -> Self {
        let form = E::form(columns, page_bytes).unwrap();
        Checked {
            columns: columns.to_vec(),
            compaction,
            longest,
            editor: E::empty(&form, page_bytes, compaction).unwrap(),
            records: Vec::new(),
            seen: Seen::default(),
        }
    }

    fn page_bytes(&self) -> usize {
        self.editor.bytes().len()
    }

    fn live(&self) -> Vec<&Record> {
        self.records.iter().flatten().collect()
    }

    fn needed(&self, records: &[&Record], slots: usize) -> usize {
        E::needed(&self.columns, records, slots, self.page_bytes())
    }

    /// The number of a record that is not deleted.
    fn pick(&self, seed: usize) -> Option<usize> {
        let live = self
            .records
            .iter()
            .enumerate()
            .filter(|(_, record)| record.is_some());
        let live: Vec<usize> = live.map(|(number, _)| number).collect();
        (!live.is_empty()).then(|| live[seed % live.len()])
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Insert(seed) => self.insert(seed),
            Step::Update(row, column, seed) => {
                if let Some(number) = self.pick(row) {
                    self.update(number, column % self.columns.len(), seed);
                }
            }
            Step::Delete(row) => {
                if let Some(number) = self.pick(row) {
                    self.editor.delete(number).unwrap();
                    self.records[number] = None;
                    assert_eq!(self.editor.delete(number).unwrap_err().sqlstate(), "22023");
                }
            }
            Step::Compact => self.editor.compact(),
        }
        self.check();
    }

    fn insert(&mut self, seed: u64) {
        let record = record(&self.columns, seed, self.longest);
        let mut wanted = self.live();
        wanted.push(&record);
        let numbers = self.editor.numbers();
        let free_slot = (0..numbers).any(|number| !self.editor.has(number));
        let slots = numbers + usize::from(!free_slot);
        let fits = self.needed(&wanted, slots) <= self.page_bytes();
        let alone = self.needed(&[&record], 1) <= self.page_bytes();
        match self.editor.insert(&slices(&record)) {
            Ok(Some(number)) => {
                assert!(fits);
                self.records
                    .resize(self.records.len().max(number + 1), None);
                assert_eq!(self.records[number].replace(record), None);
            }
            Ok(None) => {
                assert!(!fits && alone);
                self.seen.full += 1;
            }
            Err(error) => {
                assert!(!alone);
                assert_eq!(error.sqlstate(), "54000");
                self.seen.too_large += 1;
            }
        }
    }

    fn update(&mut self, number: usize, column: usize, seed: u64) {
        let new = value(self.columns[column], seed, self.longest);
        let Some(old) = self.records[number].clone() else {
            return;
        };
        let mut changed = old.clone();
        changed[column].clone_from(&new);
        let others = self
            .records
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != number);
        let mut wanted: Vec<&Record> = others.filter_map(|(_, record)| record.as_ref()).collect();
        wanted.push(&changed);
        let fits = self.needed(&wanted, self.editor.numbers()) <= self.page_bytes();
        let alone = self.needed(&[&changed], 1) <= self.page_bytes();
        let longer = length(&changed) > length(&old);
        let outcome = match self.editor.update(number, column, new.as_deref()) {
            Ok(outcome) => outcome,
            Err(error) => {
                assert!(!alone && longer);
                assert_eq!(error.sqlstate(), "54000");
                self.seen.too_large += 1;
                return;
            }
        };
        match outcome {
            PageUpdate::InPlace => self.seen.in_place += 1,
            PageUpdate::Rewritten => self.seen.rewritten += 1,
            PageUpdate::Reorganised => self.seen.reorganised += 1,
            PageUpdate::NoRoom => self.seen.no_room += 1,
        }
        assert!(longer || outcome == PageUpdate::InPlace, "{outcome:?}");
        assert_eq!(fits, outcome != PageUpdate::NoRoom, "{outcome:?}");
        if fits {
            self.records[number] = Some(changed);
        }
    }

    fn check(&self) {
        self.check_values(&self.editor, &self.records);
        let live: Vec<Record> = self.live().into_iter().cloned().collect();
        let packed = self.editor.packed();
        assert_eq!(packed.len(), self.page_bytes());
        self.check_block(&packed, &live);
        if live.len() == self.editor.numbers() {
            self.check_block(self.editor.bytes(), &live);
        }
        // What a reader understands, an editor does, too.
        let form = E::form(&self.columns, self.page_bytes()).unwrap();
        let again = E::open(&form, packed, self.compaction).unwrap();
        let live: Vec<Option<Record>> = live.into_iter().map(Some).collect();
        assert_eq!(again.numbers(), live.len());
        self.check_values(&again, &live);
    }

    fn check_values(&self, editor: &E, records: &[Option<Record>]) {
        assert!(editor.numbers() <= records.len());
        for (number, record) in records.iter().enumerate() {
            assert_eq!(editor.has(number), record.is_some(), "record {number}");
            for column in 0..self.columns.len() {
                match record {
                    Some(record) => assert_eq!(
                        editor.value(number, column).unwrap(),
                        record[column].as_deref(),
                        "record {number}, column {column}"
                    ),
                    None => assert!(editor.value(number, column).is_err()),
                }
            }
        }
    }

    fn check_block(&self, page: &[u8], live: &[Record]) {
        if live.is_empty() {
            assert_eq!(page[..4], [0; 4]);
            return;
        }
        let (rows, bytes) = (live.len(), page.len());
        let store = E::store(&self.columns, rows, bytes, page.to_vec(), vec![0; 8]).unwrap();
        assert_eq!(read(&*store, &self.columns, rows), live);
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => any::<u64>().prop_map(Step::Insert),
        8 => (any::<usize>(), any::<usize>(), any::<u64>())
            .prop_map(|(row, column, seed)| Step::Update(row, column, seed)),
        2 => any::<usize>().prop_map(Step::Delete),
        1 => Just(Step::Compact),
    ];
    prop::collection::vec(step, 1..60)
}

/// Sizes with offsets of every width, and the longest values on such pages.
fn sizes() -> impl Strategy<Value = (usize, usize)> {
    prop::sample::select(vec![
        (128, 12),
        (256, 8),
        (300, 60),
        (1024, 100),
        (1024, 1100),
        (40_000, 9000),
        (70_000, 20_000),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn pages_equal_the_model(
        columns in columns(),
        (page_bytes, longest) in sizes(),
        compaction in compaction(),
        steps in steps(),
    ) {
        let mut pax = Checked::<PaxPageEditor>::new(&columns, page_bytes, compaction, longest);
        steps.iter().for_each(|step| pax.step(*step));
        let mut slotted = Checked::<SlottedPageEditor>::new(&columns, page_bytes, compaction, longest);
        steps.iter().for_each(|step| slotted.step(*step));
    }

    #[test]
    fn damaged_pages_never_panic(
        columns in columns(),
        compaction in compaction(),
        steps in steps(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..=255, any::<bool>()), 1..4),
    ) {
        damage::<PaxPageEditor>(&columns, compaction, &steps, &flips);
        damage::<SlottedPageEditor>(&columns, compaction, &steps, &flips);
    }
}

fn damage<E: TestedPage>(
    columns: &[PageColumn],
    compaction: Compaction,
    steps: &[Step],
    flips: &[(prop::sample::Index, u8, bool)],
) {
    let mut page = Checked::<E>::new(columns, 512, compaction, 30);
    (0..12).for_each(|seed| page.insert(seed));
    let mut bytes = page.editor.packed();
    for (at, mask, in_header) in flips {
        let at = at.index(if *in_header {
            16 + 6 * columns.len()
        } else {
            bytes.len()
        });
        bytes[at] ^= mask;
    }
    let form = E::form(columns, 512).unwrap();
    let Ok(mut editor) = E::open(&form, bytes, compaction) else {
        return;
    };
    for step in steps {
        let number = |seed: usize| seed % (editor.numbers() + 1);
        // Only panics count.
        let _ = match *step {
            Step::Insert(seed) => editor.insert(&slices(&record(columns, seed, 30))).map(drop),
            Step::Update(row, column, seed) => {
                let column = column % columns.len();
                let new = value(columns[column], seed, 30);
                editor.update(number(row), column, new.as_deref()).map(drop)
            }
            Step::Delete(row) => editor.delete(number(row)),
            Step::Compact => {
                editor.compact();
                Ok(())
            }
        };
        for number in 0..editor.numbers() {
            let _ = editor.value(number, 0);
        }
    }
    editor.packed();
}

/// Many steps on one page of a mixed table.
fn busy<E: TestedPage>(compaction: Compaction) -> Seen {
    let column = |width, nullable| PageColumn { width, nullable };
    let columns = [
        column(Some(4), false),
        column(None, false),
        column(Some(8), true),
        column(None, true),
    ];
    let mut page = Checked::<E>::new(&columns, 1024, compaction, 1050);
    page.longest = 40;
    for seed in 0..4000_u64 {
        let (first, second, third) = (noise(seed), noise(seed + 9999), noise(!seed));
        // Now and then a value that hardly any page can hold.
        page.longest = if seed.is_multiple_of(50) { 1050 } else { 40 };
        page.step(match first % 16 {
            0..5 => Step::Insert(second),
            5..14 => Step::Update(second as usize, (first / 16) as usize, third),
            14 => Step::Delete(second as usize),
            _ => Step::Compact,
        });
    }
    page.seen
}

#[test]
fn every_outcome_occurs() {
    for compaction in [Compaction::Now, Compaction::Deferred] {
        let pax = busy::<PaxPageEditor>(compaction);
        let slotted = busy::<SlottedPageEditor>(compaction);
        assert_eq!(pax.rewritten, 0);
        assert!(slotted.rewritten > 50, "{slotted:?}");
        for seen in [pax, slotted] {
            assert!(seen.in_place > 500 && seen.reorganised > 20, "{seen:?}");
            assert!(
                seen.no_room > 50 && seen.full > 50 && seen.too_large > 0,
                "{seen:?}"
            );
        }
    }
}

#[test]
fn wrong_requests_are_refused() {
    fn check<E: TestedPage>() {
        let column = |width, nullable| PageColumn { width, nullable };
        let columns = [column(Some(4), false), column(None, true)];
        let state = |result: Result<()>| result.unwrap_err().sqlstate();
        assert_eq!(state(E::form(&[], 1024).map(drop)), "54000");
        assert_eq!(
            state(E::form(&[column(Some(256), false)], 1024).map(drop)),
            "54000"
        );
        let form = E::form(&columns, 1024).unwrap();
        let empty = |bytes| E::empty(&form, bytes, Compaction::Now);
        assert_eq!(state(empty(8).map(drop)), "54000");
        assert_eq!(state(empty(1 << 40).map(drop)), "54000");
        assert_eq!(
            state(E::open(&form, vec![], Compaction::Now).map(drop)),
            "XX001"
        );
        let mut page = empty(1024).unwrap();
        assert_eq!(state(page.insert(&[Some(b"four")]).map(drop)), "22023");
        assert_eq!(state(page.insert(&[None, None]).map(drop)), "23502");
        assert_eq!(page.insert(&[Some(b"four"), None]).unwrap(), Some(0));
        assert_eq!(state(page.update(0, 0, Some(b"five!")).map(drop)), "22023");
        assert_eq!(state(page.update(0, 0, None).map(drop)), "23502");
        assert_eq!(state(page.update(0, 2, None).map(drop)), "22023");
        assert_eq!(state(page.update(1, 0, Some(b"five")).map(drop)), "22023");
        assert_eq!(
            state(page.update(0, 1, Some(&[0; 2000])).map(drop)),
            "54000"
        );
        assert_eq!(state(page.value(0, 2).map(drop)), "22023");
        assert_eq!(state(page.value(usize::MAX, 0).map(drop)), "22023");
        assert_eq!(page.value(0, 0).unwrap(), Some(&b"four"[..]));
        assert_eq!(page.value(0, 1).unwrap(), None);
    }
    check::<PaxPageEditor>();
    check::<SlottedPageEditor>();
}
