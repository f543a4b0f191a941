//! `referee`: asks Freestone and PostgreSQL the same statements.

use std::collections::btree_map::Entry;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use freestone_postgres::Cluster;
use freestone_referee::answer::Side;
use freestone_referee::appends::run::{Folder, Target};
use freestone_referee::appends::{self, Isolation, Outcome, draw::Space};
use freestone_referee::contest::{Contest, Kind, Rules};
use freestone_referee::corpus;
use freestone_referee::coverage;
use freestone_referee::front::Front;
use freestone_referee::functions;
use freestone_referee::generate::signatures::Signatures;
use freestone_referee::generate::{Generator, Table};
use freestone_referee::laws;
use freestone_referee::random::Random;
use freestone_referee::served::Served;
use freestone_referee::suite::{self, Format};
use freestone_referee::wire::{Address, Wire};
use freestone_referee::{histories, plan_time, shapes, views};

const USAGE: &str = "\
referee corpus [--record] [--prune] [--chapter NAME] [side]
    asks the recorded statements; --record asks PostgreSQL and writes its answers; --prune
    takes what no longer differs out of the lists of known differences
referee coverage [--record]
    which functions, operators and clauses of PostgreSQL's documentation the corpus has;
    --record asks PostgreSQL for its catalogue and writes it down
referee functions
    the functions, operators and casts of the front as Markdown, for docs/functions.md
referee generate [--statements N] [--seed S] [--chapter NAME] [--jobs N] [--most N]
                 [--changes | --kept] [--permanent] [--messages] [--errors] [--forms]
                 [--rewrites | side]
    asks random statements of both sides and reports each kind of difference once; without
    a seed, statements that nobody has seen;
    --changes: INSERT, UPDATE, DELETE and MERGE, too, each taken back; --kept: each stays;
    --permanent: tables are not temporary;
    --messages: messages of errors count, too;
    --errors: the most frequent errors of both; --forms: how often each form is made;
    --rewrites: both sides are the front, with plans as bound and rewritten
referee laws [--statements N] [--seed S] [side]
    asks random statements of one side that must agree with each other
referee histories [--cases N] [--seed S] [--jobs N] [--serializable] [--foreign] side
    does random transactions of several sessions on both servers, step by step, and reports each
    kind of difference once: answers, waits, and the rows that are left;
    --serializable: at that level, too; --foreign: rows refer to each other
referee appends --serve PROGRAM [--transactions N] [--clients N] [--kills N] [--isolation LEVEL]
                [--judged LEVEL] [--seed S] [--keys N] [--tables N] [--length N]
    has clients append to lists and read them while the server is killed and started again, and
    searches the history for anomalies that the level forbids;
    --isolation: 'read committed', 'repeatable read' (default) or 'serializable';
    --judged: the level that forbids, if it is another; --keys: lists in use at a time;
    --length: appends after which a list is no longer in use;
    with --own or --postgres HOST PORT, and without --serve, PostgreSQL is asked and not killed
referee views [--statements N] [--seed S] [--chapter NAME] [--jobs N] [--most N] [--alone] [side]
    makes views of random queries and compares their texts with PostgreSQL's, and the rows of our
    texts with those of the views; --alone: without PostgreSQL; --most: differences that are made
    small
referee show [--statements N] [--seed S] [--chapter NAME]
    prints a case of random statements
referee shapes [--only NAME] [--percent N] [--stack MIB]
    plans and runs statements of great size and depth, and prints the time of each stage
referee plan-time [--runs N]
    prints the microseconds that planning the statements of TPC-H takes
referee suite pg|slt PATH... --own --serve PROGRAM [--list FILE] [--only TEXT] [--every N]
    asks the statements of public test suites, one after the other, and counts how the answers
    differ; pg: scripts of psql, all in one database, in the order of a parallel_schedule beside
    their folder; slt: files of sqllogictest, each in a database of its own;
    --list: writes down the statements that are wrong or refused, with both answers;
    --only: files whose path has the text; --every: each Nth file
referee ask [side]
    answers the statements of standard input

side: --front (default), --rewritten (the front with its plans rewritten),
      --freestone HOST PORT, --serve PROGRAM (starts PROGRAM serve), --theirs (PostgreSQL)
Freestone's server: --user NAME, --database NAME (both default to postgres)
PostgreSQL: --own (starts one that is gone afterwards), --postgres HOST PORT (default: PGHOST
      and PGPORT), PGUSER, PGDATABASE";

/// Bytes of a thread's stack: deep statements are walked by recursion.
const STACK: usize = 1 << 30;

/// The program's arguments.
struct Options {
    words: Vec<String>,
    /// Freestone's server that `--serve` started.
    served: Option<Address>,
    /// PostgreSQL that `--own` started.
    own: Option<Address>,
}

impl Options {
    fn flag(&self, name: &str) -> bool {
        self.words.iter().any(|word| word == name)
    }

    /// The `n`th word after a flag.
    fn after(&self, name: &str, n: usize) -> Option<&str> {
        let at = self.words.iter().position(|word| word == name)?;
        self.words.get(at + n).map(String::as_str)
    }

    fn number(&self, name: &str, default: usize) -> usize {
        let given = self.after(name, 1).and_then(|word| word.parse().ok());
        given.unwrap_or(default)
    }

    fn server(&self, name: &str) -> Option<Address> {
        let host = self.after(name, 1)?.to_owned();
        let port = self.after(name, 2)?.parse().ok()?;
        let of = |name| self.after(name, 1).unwrap_or("postgres").to_owned();
        Some(Address {
            host,
            port,
            user: of("--user"),
            database: of("--database"),
        })
    }

    fn postgres(&self) -> io::Result<Wire> {
        Wire::connect(&self.theirs())
    }

    /// Where PostgreSQL is.
    fn theirs(&self) -> Address {
        let of = |name, default: &str| std::env::var(name).unwrap_or_else(|_| default.into());
        if let Some(own) = &self.own {
            return own.clone();
        }
        let given = self.server("--postgres");
        Address {
            user: of("PGUSER", "postgres"),
            database: of("PGDATABASE", "postgres"),
            ..given.unwrap_or_else(|| Address {
                host: of("PGHOST", "localhost"),
                port: of("PGPORT", "5432").parse().unwrap_or(5432),
                user: String::new(),
                database: String::new(),
            })
        }
    }

    fn ours(&self) -> io::Result<Box<dyn Side>> {
        if self.flag("--theirs") {
            return Ok(Box::new(self.postgres()?));
        }
        Ok(match self.server("--freestone").or(self.served.clone()) {
            Some(server) => Box::new(Wire::connect(&server)?),
            None if self.flag("--rewritten") => Box::new(Front::rewritten()),
            None => Box::new(Front::default()),
        })
    }
}

fn main() -> ExitCode {
    let mut options = Options {
        words: std::env::args().skip(1).collect(),
        served: None,
        own: None,
    };
    // Deep statements are walked by recursion.
    let worker = std::thread::Builder::new().stack_size(STACK);
    let worker = worker
        .spawn(move || with_servers(&mut options))
        .map(std::thread::JoinHandle::join);
    match worker {
        Ok(Ok(Ok(true))) => ExitCode::SUCCESS,
        Ok(Ok(Err(error))) => {
            eprintln!("referee: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::FAILURE,
    }
}

/// Does the work beside the servers that it asks for, which go with it.
fn with_servers(options: &mut Options) -> io::Result<bool> {
    // Servers that are killed are started by the work itself.
    let is_killed = options.words.first().is_some_and(|word| word == "appends");
    let program = options.after("--serve", 1).filter(|_| !is_killed);
    let served = program.map(Served::start).transpose()?;
    options.served = served.as_ref().map(|served| served.address.clone());
    match options.flag("--own") {
        false => work(options),
        true => match Cluster::new(&std::env::temp_dir(), "C.UTF-8", "fsync = off")? {
            Ok(cluster) => {
                options.own = Some(Address {
                    host: cluster.socket().display().to_string(),
                    port: freestone_postgres::PORT,
                    user: freestone_postgres::USER.to_owned(),
                    database: "postgres".to_owned(),
                });
                work(options)
            }
            Err(why) => {
                println!("nothing is asked: {why}");
                Ok(true)
            }
        },
    }
}

fn work(options: &Options) -> io::Result<bool> {
    match options.words.first().map(String::as_str) {
        Some("corpus") => check(options),
        Some("coverage") => coverage(options),
        Some("functions") => {
            print!("{}", functions::markdown());
            Ok(true)
        }
        Some("generate") => generate(options),
        Some("laws") => test_laws(options),
        Some("histories") => histories(options),
        Some("appends") => append(options),
        Some("views") => views(options),
        Some("show") => show(options),
        Some("shapes") => shapes(options),
        Some("plan-time") => plan_time(options),
        Some("suite") => suite(options),
        Some("ask") => ask(options),
        _ => {
            eprintln!("{USAGE}");
            Ok(false)
        }
    }
}

/// How often statements are asked again of a server that differs.
const AGAIN: usize = 9;

fn check(options: &Options) -> io::Result<bool> {
    let files = corpus::files(&corpus::folder(), options.after("--chapter", 1))?;
    if options.flag("--record") {
        let mut postgres = options.postgres()?;
        for file in files {
            let count = corpus::record(&file, &mut postgres)?;
            println!("{count:5} {}", file.display());
        }
        return Ok(true);
    }
    let mut side = options.ours()?;
    let served = options.flag("--freestone") || options.flag("--serve");
    let open = corpus::known(&corpus::folder(), served)?;
    let (mut asked, mut missed, mut known) = (0, 0, 0);
    let mut differing = Vec::new();
    for file in files {
        let (count, mut misses) = corpus::check(&file, side.as_mut())?;
        asked += count;
        // Some answers depend on which thread is first: LIMIT without an order, the value that
        // stands for equal ones.
        for _ in 0..if served { AGAIN } else { 0 } {
            if misses.iter().all(|miss| open.contains(&miss.statement)) {
                break;
            }
            let (_, again) = corpus::check(&file, side.as_mut())?;
            let differs = |miss: &corpus::Miss| {
                let mut again = again.iter();
                again.any(|other| other.statement == miss.statement)
            };
            misses.retain(differs);
        }
        for miss in misses {
            differing.push(miss.statement.clone());
            if open.contains(&miss.statement) {
                known += 1;
                continue;
            }
            missed += 1;
            println!("-- {}: {}", file.display(), miss.difference.fingerprint());
            println!("{};", miss.statement);
            println!("-- PostgreSQL:\n{}", miss.theirs.shown());
            println!("-- Freestone:\n{}\n", miss.ours.shown());
        }
    }
    println!("{asked} statements, {missed} differences, {known} known");
    if options.flag("--prune") && options.after("--chapter", 1).is_none() {
        let lists = corpus::LISTS
            .iter()
            .filter(|list| (**list == "served.sql") == served);
        for list in lists.map(|list| corpus::folder().join(list)) {
            let text = std::fs::read_to_string(&list)?;
            std::fs::write(&list, corpus::pruned(&text, &differing))?;
        }
    }
    Ok(missed == 0)
}

fn test_laws(options: &Options) -> io::Result<bool> {
    std::panic::set_hook(Box::new(|_| {}));
    let statements = options.number("--statements", 10_000);
    let seed = options.number("--seed", 1) as u64;
    let mut side = options.ours()?;
    let verdict = laws::test(side.as_mut(), &Signatures::read(), statements, seed)?;
    for breach in &verdict.breaches {
        for statement in &breach.setup {
            println!("{statement};");
        }
        for (statement, answer) in breach.statements.iter().zip(&breach.answers) {
            println!("{statement};\n{}", answer.shown());
        }
        println!();
    }
    println!(
        "{} statements, {} queries tested, {} laws broken",
        verdict.asked,
        verdict.tested,
        verdict.breaches.len()
    );
    Ok(verdict.breaches.is_empty())
}

fn histories(options: &Options) -> io::Result<bool> {
    let Some(ours) = options.server("--freestone").or(options.served.clone()) else {
        return Err(io::Error::other("histories need a server: --serve PROGRAM"));
    };
    let theirs = options.theirs();
    let seed = options.number("--seed", drawn()) as u64;
    let rules = histories::Rules {
        serializable: options.flag("--serializable"),
        foreign: options.flag("--foreign"),
    };
    println!("seed {seed}");
    let cases = options.number("--cases", 500);
    let next = AtomicUsize::new(0);
    let kinds = Mutex::new(histories::Kinds::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= cases {
                return Ok(());
            }
            let mut random = Random::new(seed.wrapping_add(number as u64));
            let history = histories::drawn(&mut random, rules, number);
            let servers = (&theirs, &ours);
            let Some(difference) = histories::compared(&history, servers)? else {
                continue;
            };
            let difference = difference.made_short(servers)?;
            let mut kinds = kinds.lock().unwrap_or_else(PoisonError::into_inner);
            match kinds.entry(difference.fingerprint()) {
                Entry::Occupied(mut known) => known.get_mut().0 += 1,
                Entry::Vacant(free) => {
                    println!("-- {}\n{}\n", free.key(), difference.shown());
                    free.insert((1, difference));
                }
            }
        }
    };
    at_once(options, work)?;
    let kinds = kinds.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (kind, (times, _)) in &kinds {
        println!("{times:5} times {kind}");
    }
    println!("{cases} histories, {} kinds of difference", kinds.len());
    Ok(kinds.is_empty())
}

/// Most anomalies that are told,
const ANOMALIES: usize = 10;
/// and transactions of each.
const TRANSACTIONS: usize = 6;

fn append(options: &Options) -> io::Result<bool> {
    let level = |name: &str| {
        let Some(given) = options.after(name, 1) else {
            return Ok(None);
        };
        let unknown = || io::Error::other(format!("{given:?} is no level of isolation"));
        Isolation::named(given).map(Some).ok_or_else(unknown)
    };
    let isolation = level("--isolation")?.unwrap_or(Isolation::RepeatableRead);
    let judged = level("--judged")?.unwrap_or(isolation);
    let tables = options.number("--tables", 2).max(1);
    let rules = appends::run::Rules {
        transactions: options.number("--transactions", 20_000).max(1),
        clients: options.number("--clients", 8).clamp(1, 1000),
        kills: options.number("--kills", 5),
        isolation,
        seed: options.number("--seed", drawn()) as u64,
        space: Space {
            places: options.number("--keys", 10).max(tables),
            tables,
            length: options.number("--length", 64).max(1),
        },
    };
    println!("seed {}, {}", rules.seed, isolation.name());
    let started = std::time::Instant::now();
    let mut folder = Folder::new()?;
    let program = options.after("--serve", 1);
    let ran = match program {
        Some(program) => appends::run::run(rules, &Target::Program(program, &folder.path)),
        None => appends::run::run(rules, &Target::Running(options.theirs())),
    };
    let ran = match ran {
        Ok(ran) => ran,
        Err(error) => {
            folder.is_kept = program.is_some();
            let path = folder.path.display();
            return Err(io::Error::other(format!("{error}; the database is {path}")));
        }
    };
    let seconds = started.elapsed().as_secs_f32();
    let started = std::time::Instant::now();
    let verdict = appends::check::check(&ran.history, judged);
    let (reads, writes) = ran.history.counts();
    let of = |outcome| ran.history.ended(outcome);
    println!(
        "{} transactions committed, {} aborted, {} unknown; {} kills, {} more while it started; \
         {reads} reads, {writes} appends, {} lists; {seconds:.1} s, checked in {:.1} s",
        of(Outcome::Committed),
        of(Outcome::Aborted),
        of(Outcome::Unknown),
        ran.kills,
        ran.killed_starts,
        ran.history.keys(),
        started.elapsed().as_secs_f32(),
    );
    for (sqlstate, (times, message)) in &ran.failures {
        println!("{times:6} times {sqlstate}: {message}");
    }
    let mut is_good = true;
    let internal = ran.failures.keys().filter(|state| state.starts_with("XX"));
    let internal = internal.map(|state| format!("a statement failed with {state}"));
    for fault in ran.faults.iter().cloned().chain(internal) {
        is_good = false;
        println!("fault: {fault}");
    }
    for (kind, times) in &verdict.counts {
        is_good = false;
        println!("{times:6} times {}", kind.name());
    }
    for anomaly in verdict.anomalies.iter().take(ANOMALIES) {
        println!("\n{}: {}", anomaly.kind.name(), anomaly.text);
        for transaction in anomaly.transactions.iter().take(TRANSACTIONS) {
            let shown = ran.history.shown(*transaction, rules.space, isolation);
            println!("  {}", shown.replace('\n', "\n  "));
        }
        for key in &anomaly.keys {
            let left = appends::listed(ran.history.list(*key));
            println!("  key {key} is left with {left}");
        }
    }
    match is_good {
        true => println!("no anomaly"),
        false if program.is_some() => {
            folder.is_kept = true;
            println!("the database is {}", folder.path.display());
        }
        false => {}
    }
    Ok(is_good)
}

/// Does the same work on `--jobs` threads at once.
fn at_once(options: &Options, work: impl Fn() -> io::Result<()> + Copy + Send) -> io::Result<()> {
    std::thread::scope(|scope| {
        let mut workers = Vec::new();
        for _ in 0..options.number("--jobs", 3).max(1) {
            let worker = std::thread::Builder::new().stack_size(STACK);
            workers.push(worker.spawn_scoped(scope, work)?);
        }
        for worker in workers {
            let gone = |_| io::Error::other("a worker panicked");
            worker.join().map_err(gone)??;
        }
        Ok(())
    })
}

fn views(options: &Options) -> io::Result<bool> {
    let contest = views::Contest::new(views::Rules {
        statements: options.number("--statements", 3_000),
        seed: options.number("--seed", drawn()) as u64,
        chapter: options.after("--chapter", 1).map(str::to_owned),
        most: options.number("--most", 300),
    });
    println!("seed {}", contest.rules.seed);
    let signatures = Signatures::read();
    let alone = options.flag("--alone");
    let work = || {
        let mut ours = options.ours()?;
        if alone {
            return contest.work(None, ours.as_mut(), &signatures);
        }
        let mut theirs = options.postgres()?;
        contest.work(Some(&mut theirs), ours.as_mut(), &signatures)
    };
    at_once(options, work)?;
    for kind in contest.kinds() {
        println!("-- {} times {}", kind.times, kind.fingerprint);
        for statement in &kind.setup {
            println!("{statement};");
        }
        println!("{};", kind.statement);
        println!("-- PostgreSQL:\n{}", kind.theirs);
        println!("-- Freestone:\n{}\n", kind.ours);
    }
    let counts = &contest.counts;
    let of = |count: &AtomicUsize| count.load(Ordering::Relaxed);
    println!(
        "{} statements, {} views: {} with PostgreSQL's text, {} with another, {} as written, {} \
         with another meaning, {} printed otherwise when made of their text",
        of(&counts.asked),
        of(&counts.made),
        of(&counts.same),
        of(&counts.differing),
        of(&counts.written),
        of(&counts.wrong),
        of(&counts.again),
    );
    Ok(of(&counts.wrong) == 0)
}

fn coverage(options: &Options) -> io::Result<bool> {
    if options.flag("--record") {
        let data = corpus::folder().with_file_name("data");
        let count = coverage::record(&data, &mut options.postgres()?)?;
        println!("{count} entries of PostgreSQL's catalogue");
        return Ok(true);
    }
    let mut complete = true;
    println!(
        "{:20} {:>7} {:>7} {:>7} {:>7} {:>5}",
        "chapter", "covered", "open", "missing", "refused", "%"
    );
    for chapter in coverage::chapters(&corpus::folder())? {
        let counts = [
            &chapter.covered,
            &chapter.open,
            &chapter.missing,
            &chapter.refused,
        ];
        let [covered, open, missing, refused] = counts.map(Vec::len);
        let share = covered * 100 / (covered + open + missing).max(1);
        println!(
            "{:20} {covered:7} {open:7} {missing:7} {refused:7} {share:5}",
            chapter.name
        );
        for name in &chapter.open {
            println!("    open: {name}");
        }
        for name in &chapter.missing {
            complete = false;
            println!("    missing: {name}");
        }
        for name in &chapter.refused {
            println!("    refused: {name}");
        }
    }
    let placed = coverage::placed(&corpus::folder())?;
    println!(
        "PostgreSQL's catalogue: {} names listed above, {} refused above",
        placed.listed, placed.refused
    );
    for (ty, count) in &placed.foreign {
        println!("    {count} names refused: no type {ty}");
    }
    for name in &placed.missing {
        complete = false;
        println!("    no place: {name}");
    }
    Ok(complete)
}

fn show(options: &Options) -> io::Result<bool> {
    let signatures = Signatures::read();
    let seed = options.number("--seed", 1) as u64;
    let mut generator = Generator::new(seed, &signatures);
    generator = generator
        .with_chapter(options.after("--chapter", 1))
        .with_changes(options.flag("--changes"));
    let case = generator.case(options.number("--statements", 20));
    let tables = case.tables.iter().flat_map(Table::setup);
    for statement in case.settings.iter().cloned().chain(tables) {
        println!("{statement};");
    }
    for statement in &case.statements {
        println!("{statement};");
    }
    Ok(true)
}

/// A seed that nobody has seen.
fn drawn() -> usize {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(1, |since| since.as_millis() as usize)
}

fn generate(options: &Options) -> io::Result<bool> {
    // A panic of the front is an answer; its message would drown the report.
    std::panic::set_hook(Box::new(|_| {}));
    let rules = Rules {
        statements: options.number("--statements", 10_000),
        seed: options.number("--seed", drawn()) as u64,
        chapter: options.after("--chapter", 1).map(str::to_owned),
        most: options.number("--most", 300),
        changes: options.flag("--changes") || options.flag("--kept"),
        kept: options.flag("--kept"),
        permanent: options.flag("--permanent"),
        messages: options.flag("--messages"),
        // The front alone has no rows to lock.
        locks: options.flag("--freestone") || options.flag("--serve"),
    };
    println!("seed {}", rules.seed);
    let started = std::time::Instant::now();
    let report = |kind: &Kind| {
        println!("-- {}", kind.fingerprint);
        for statement in &kind.setup {
            println!("{statement};");
        }
        println!("{};", kind.statement);
        println!("-- PostgreSQL:\n{}", kind.theirs.short());
        println!("-- Freestone:\n{}\n", kind.ours.short());
    };
    let contest = Contest::new(rules, &report);
    let signatures = Signatures::read();
    let work = || {
        if options.flag("--rewrites") {
            let (mut theirs, mut ours) = (Front::default(), Front::rewritten());
            return contest.work(&mut theirs, &mut ours, &signatures);
        }
        let mut theirs = options.postgres()?;
        let mut ours = options.ours()?;
        contest.work(&mut theirs, ours.as_mut(), &signatures)
    };
    at_once(options, work)?;
    let counts = &contest.counts;
    let of = |count: &AtomicUsize| count.load(Ordering::Relaxed);
    println!(
        "{} statements in {} s: {} accepted by both, {} refused by both, {} differences of {} \
         kinds; {} differences on purpose, {} failures in values that nothing needs",
        of(&counts.asked),
        started.elapsed().as_secs(),
        of(&counts.accepted),
        of(&counts.refused),
        of(&counts.differing),
        contest.kinds(),
        of(&counts.wanted),
        of(&counts.unneeded),
    );
    if options.flag("--forms") {
        println!("{:32} {:>9} {:>9}", "form", "asked", "accepted");
        for (form, asked, accepted) in contest.forms() {
            println!("{form:32} {asked:9} {accepted:9}");
        }
    }
    if options.flag("--errors") {
        for (error, times) in contest.errors().iter().take(60) {
            println!("{times:6} {error}");
        }
    }
    Ok(of(&counts.differing) == 0)
}

fn shapes(options: &Options) -> io::Result<bool> {
    let percent = options.number("--percent", 100);
    let only = options.after("--only", 1);
    let stack = options
        .after("--stack", 1)
        .and_then(|mib| mib.parse::<usize>().ok());
    let stack = stack.map(|mib| mib.max(1) << 20);
    println!("{}", shapes::Outcome::HEADER);
    let mut all = true;
    for shape in shapes::all() {
        if only.is_some_and(|only| only != shape.name) {
            continue;
        }
        let outcome = shapes::tried(&shape, (shape.size * percent / 100).max(1), stack)?;
        println!("{outcome}");
        all &= outcome.is_good();
    }
    Ok(all)
}

fn plan_time(options: &Options) -> io::Result<bool> {
    plan_time::print(options.number("--runs", 50))?;
    Ok(true)
}

fn suite(options: &Options) -> io::Result<bool> {
    let format = match options.words.get(1).map(String::as_str) {
        Some("pg") => Format::Psql,
        Some("slt") => Format::Sqllogictest,
        _ => return Err(io::Error::other("suite takes pg or slt")),
    };
    let paths = options.words.iter().skip(2);
    let paths = paths.take_while(|word| !word.starts_with("--"));
    let (Some(own), Some(program)) = (&options.own, options.after("--serve", 1)) else {
        let reason = "suite takes --own and --serve PROGRAM: each file has databases of its own";
        return Err(io::Error::other(reason));
    };
    let rules = suite::Rules {
        format,
        paths: paths.map(PathBuf::from).collect(),
        list: options.after("--list", 1).map(PathBuf::from),
        only: options.after("--only", 1).map(str::to_owned),
        every: options.number("--every", 1).max(1),
    };
    suite::run(&rules, own, program)
}

fn ask(options: &Options) -> io::Result<bool> {
    let text = io::read_to_string(io::stdin())?;
    let mut side = options.ours()?;
    for statement in corpus::statements(&text) {
        for answer in side.ask(&[statement])? {
            println!("{}", answer.shown());
        }
    }
    Ok(true)
}
