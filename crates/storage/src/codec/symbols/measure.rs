//! Figures for the tuning of this codec; run with `--ignored --nocapture`.

use super::SymbolTable;
use std::time::{Duration, Instant};

/// Sentences in the manner of TPC-H comments: words of a small vocabulary, some
/// far more frequent, with values cut out anywhere as `dbgen` does.
pub(super) fn comments(bytes: usize, lengths: std::ops::RangeInclusive<usize>) -> Vec<Vec<u8>> {
    const NOUNS: &str = "foxes ideas theodolites pinto beans instructions dependencies excuses \
        platelets asymptotes courts dolphins multipliers sauternes warthogs frets dinos \
        attainments somas braids hockey players sheaves patterns waters realms pains grouches \
        escapades packages requests accounts deposits pearls frays gifts warhorses epitaphs";
    const VERBS: &str = "sleep wake are cajole haggle nag use boost affix detect integrate \
        maintain nod was lose sublate solve thrash promise engage hinder print x-ray breach eat \
        grow impress mold poach serve run dazzle snooze doze unwind kindle play hang believe doubt";
    const ADJECTIVES: &str = "furious sly careful blithe quick fluffy slow quiet ruthless thin \
        close dogged daring brave stealthy permanent enticing idle busy regular final ironic even \
        bold silent special pending unusual express";
    const ADVERBS: &str = "sometimes always never furiously slyly carefully blithely quickly \
        fluffily slowly quietly ruthlessly thinly closely doggedly daringly bravely stealthily \
        permanently enticingly idly busily regularly finally ironically evenly boldly silently";
    const PREPOSITIONS: &str = "about above according to across after against along alongside of \
        among around at atop before behind beneath beside besides between beyond by despite \
        during except for from in place of inside instead of into near of on outside over";
    let words = [NOUNS, VERBS, ADJECTIVES, ADVERBS, PREPOSITIONS]
        .map(|list| list.split_whitespace().collect::<Vec<_>>());
    let mut state = 7_u64;
    let mut random = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((state >> 33) as usize) % below
    };
    let mut text = String::new();
    while text.len() < bytes.min(4 << 20) + lengths.end() {
        let forms: [&[usize]; 5] = [
            &[0, 1],
            &[2, 0, 1, 3],
            &[3, 2, 0, 1],
            &[0, 1, 4, 0],
            &[2, 0, 1, 4, 2, 0],
        ];
        let mut space = "";
        for &class in forms[random(forms.len())] {
            // The first words of a list come up more often.
            let word = random(words[class].len()).min(random(words[class].len()));
            text.push_str(space);
            text.push_str(words[class][word]);
            space = " ";
        }
        text.push_str([". ", ". ", ", ", "; ", "? ", "! ", ": "][random(7)]);
    }
    let mut values = Vec::new();
    let mut total = 0;
    while total < bytes {
        let length = lengths.start() + random(lengths.end() - lengths.start() + 1);
        let start = random(text.len() - length);
        values.push(text.as_bytes()[start..start + length].to_vec());
        total += length;
    }
    values
}

/// Time this thread was on a processor, as others may be busy too; where
/// the system does not tell, time.
fn processor_time(since: Instant) -> Duration {
    // Giving way brings the figure up to date.
    std::thread::yield_now();
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|line| line.split(' ').next()?.parse().ok())
        .map_or_else(|| since.elapsed(), Duration::from_nanos)
}

fn best<T>(rounds: usize, mut work: impl FnMut() -> T) -> (Duration, T) {
    let mut run = || {
        let now = Instant::now();
        let start = processor_time(now);
        let result = work();
        (processor_time(now) - start, result)
    };
    let mut best = run();
    for _ in 1..rounds {
        best = std::cmp::min_by_key(best, run(), |run| run.0);
    }
    best
}

fn report(name: &str, values: &[&[u8]], code_bits: u8) {
    let bytes: usize = values.iter().map(|value| value.len()).sum();
    let rate = |time: Duration| bytes as f64 / time.as_secs_f64() / 1e6;
    let sample: Vec<&[u8]> = values
        .iter()
        .step_by((bytes >> 20).max(1))
        .copied()
        .collect();
    let (training, table) = best(5, || SymbolTable::train(&sample, code_bits));
    let mut table_bytes = Vec::new();
    table.write(&mut table_bytes);
    let (reading, _) = best(5, || SymbolTable::read(&table_bytes).expect("just written"));
    let (building, encoder) = best(5, || table.encoder());
    let (encoding, (coded, ends)) = best(5, || {
        let mut coded = Vec::with_capacity(bytes);
        let mut ends = Vec::with_capacity(values.len());
        for value in values {
            encoder.encode(value, &mut coded);
            ends.push(coded.len());
        }
        (coded, ends)
    });
    let (mut out, mut out_ends) = (Vec::new(), Vec::new());
    let (decoding, decoded) = best(5, || {
        let (mut start, mut decoded) = (0, 0);
        for batch in ends.chunks(4096) {
            out.clear();
            out_ends.clear();
            let end = *batch.last().expect("chunks are not empty");
            let ends = batch.iter().map(|end| end - start);
            let done = table.decode_all(&coded[start..end], ends, &mut out, &mut out_ends);
            done.expect("just encoded");
            decoded += out.len();
            start = end;
        }
        decoded
    });
    assert_eq!(decoded, bytes);
    let (single, _) = best(3, || {
        let mut start = 0;
        for &end in &ends {
            out.clear();
            table
                .decode(&coded[start..end], &mut out)
                .expect("just encoded");
            start = end;
        }
    });
    println!(
        "{name} {code_bits} bits, {:2} MiB: ratio {:.2} ({:.2} without table of {} symbols, {} \
         bytes), train {:.1} ms, read {:.2} ms, encoder {:.2} ms, encode {:.0} MB/s, decode {:.0} \
         MB/s, singly {:.0} MB/s",
        bytes >> 20,
        bytes as f64 / (coded.len() + table_bytes.len()) as f64,
        bytes as f64 / coded.len() as f64,
        table.len(),
        table_bytes.len(),
        training.as_secs_f64() * 1e3,
        reading.as_secs_f64() * 1e3,
        building.as_secs_f64() * 1e3,
        rate(encoding),
        rate(decoding),
        rate(single),
    );
}

/// Generated comments, or the lines of the files named in `SYMBOLS_TEXT`.
#[test]
#[ignore = "prints figures, tests nothing"]
fn figures() {
    let mut texts = vec![
        ("short comments".to_string(), comments(16 << 20, 10..=43)),
        ("long comments".to_string(), comments(16 << 20, 49..=198)),
    ];
    if let Ok(files) = std::env::var("SYMBOLS_TEXT") {
        texts = files
            .split(':')
            .map(|file| {
                let text = std::fs::read(file).expect("a readable file");
                let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec);
                (file.to_string(), lines.collect())
            })
            .collect();
    }
    for (name, values) in &texts {
        let mut values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        for code_bits in [12, 16] {
            report(name, &values, code_bits);
        }
        let mut bytes = 0;
        values.retain(|value| {
            bytes += value.len();
            bytes <= 1 << 20
        });
        for code_bits in [12, 16] {
            report(name, &values, code_bits);
        }
    }
}
