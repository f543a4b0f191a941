//! What would keep experiments from running, found before any of them does.

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::plot::bytes;
use crate::setting::{Scale, Setting};
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What is asked for to have all experiments.
pub const ALL: &str = "all";

/// The experiments of those names, each once, in the order of the names.
///
/// `all` names all that are `known`. Letters may be large or small.
///
/// # Errors
/// One that lists everything in the way: names of no experiment, memory, disk,
/// programs; and what would mend each.
pub fn prepare<'a>(
    ids: &[String],
    known: &[&'a Experiment],
    setting: &Setting,
) -> Result<Vec<&'a Experiment>> {
    let mut problems = Vec::new();
    let mut chosen: Vec<&Experiment> = Vec::new();
    for id in ids {
        let id = id.trim().to_lowercase();
        let named: Vec<_> = known
            .iter()
            .filter(|experiment| id == ALL || experiment.id == id)
            .collect();
        if named.is_empty() {
            problems.push(unknown(&id, known));
        }
        for experiment in named {
            if chosen.iter().all(|other| other.id != experiment.id) {
                chosen.push(experiment);
            }
        }
    }
    if ids.is_empty() {
        let hint = format!("name some, or `{ALL}`; `freestone lab list` shows them");
        problems.push(Error::new("no experiment is named", hint));
    }
    problems.extend(scratch(&setting.scratch));
    problems.extend(lacks_space(&chosen, setting));
    for experiment in &chosen {
        if (experiment.need)(setting).sql && setting.sql.is_none() {
            let message = format!("`{}` asks by SQL, which this lab has not", experiment.id);
            problems.push(Error::new(message, "run it as `freestone lab run`"));
        }
    }
    problems.extend(programs(&chosen, setting, env::var_os("PATH").as_deref()));
    match together(problems) {
        Some(error) => Err(error),
        None => Ok(chosen),
    }
}

/// What is not installed, and what would mend it: some claims cannot be tested without.
pub fn lacking(chosen: &[&Experiment], setting: &Setting) -> Vec<String> {
    let of_postgres = chosen
        .iter()
        .filter(|experiment| (experiment.need)(setting).postgres);
    let ids: Vec<&str> = of_postgres.map(|experiment| experiment.id).collect();
    match crate::m::postgres(&existing(&setting.scratch)) {
        Err(why) if !ids.is_empty() => vec![format!(
            "claims of `{}` about PostgreSQL will not be tested: {why}",
            ids.join("`, `")
        )],
        _ => Vec::new(),
    }
}

/// One error of all.
fn together(mut problems: Vec<Error>) -> Option<Error> {
    if problems.len() < 2 {
        return problems.pop();
    }
    let mut message = format!("{} things keep the lab from running:", problems.len());
    for problem in problems {
        message.push_str("\n- ");
        message.push_str(&problem.to_string());
    }
    Some(Error::new(message, ""))
}

fn unknown(id: &str, known: &[&Experiment]) -> Error {
    let nearest = known
        .iter()
        .min_by_key(|experiment| distance(id, experiment.id));
    let ids: Vec<&str> = known.iter().map(|experiment| experiment.id).collect();
    let hint = match nearest {
        None => "this program has no experiments".to_string(),
        Some(nearest) if distance(id, nearest.id) <= 2 => {
            format!(
                "did you mean `{}`? There are: {}",
                nearest.id,
                ids.join(", ")
            )
        }
        Some(_) => format!("there are: {}", ids.join(", ")),
    };
    Error::new(format!("no experiment is called `{id}`"), hint)
}

/// Characters to insert, drop or replace to make one name of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, from) in (1..).zip(a.chars()) {
        let mut next = vec![at];
        let pairs = row.iter().zip(row.iter().skip(1)).zip(&b);
        for ((replaced, dropped), to) in pairs {
            let inserted = next.last().copied().unwrap_or(at);
            let replaced = replaced + usize::from(from != *to);
            next.push(replaced.min(dropped + 1).min(inserted + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

/// Memory and disk that one experiment needs; they run one after the other.
fn space(experiment: &Experiment, setting: &Setting) -> Vec<Error> {
    let need = (experiment.need)(setting);
    let id = experiment.id;
    let mut problems = Vec::new();
    if need.memory > setting.memory {
        let (needs, may) = (bytes(need.memory), bytes(setting.memory));
        let message = format!("`{id}` needs {needs} of memory, and may fill {may}");
        problems.push(Error::new(message, "give it more, or leave it out"));
    }
    let free = free_space(&setting.scratch);
    if let Some(free) = free.filter(|&free| need.disk > free) {
        let (needs, free) = (bytes(need.disk), bytes(free));
        let place = setting.scratch.display();
        let message = format!("`{id}` needs {needs} on disk, and {place} has {free}");
        problems.push(Error::new(message, "make room, or use another directory"));
    }
    problems
}

/// Those that lack memory or disk, with the largest scale at which none does.
fn lacks_space(chosen: &[&Experiment], setting: &Setting) -> Vec<Error> {
    let problems = chosen.iter().flat_map(|one| space(one, setting));
    let mut problems: Vec<Error> = problems.collect();
    if !problems.is_empty() && setting.scale != Scale::Quick {
        let smaller = match largest_that_fits(chosen, setting) {
            0 => "no scale fits; ".to_string(),
            1 => "run it with --quick, the largest scale that fits, or ".to_string(),
            factor => format!("run it with --scale {factor}, the largest that fits, or "),
        };
        for problem in &mut problems {
            problem.hint.insert_str(0, &smaller);
        }
    }
    problems
}

/// The largest whole factor at which all have the space that they need; 0 if none is.
fn largest_that_fits(chosen: &[&Experiment], setting: &Setting) -> u32 {
    const MOST: u32 = 10_000;
    let fits = |factor: u32| {
        let setting = Setting {
            scale: Scale::Times(f64::from(factor)),
            ..setting.clone()
        };
        let mut problems = chosen.iter().flat_map(|one| space(one, &setting));
        problems.next().is_none()
    };
    // What is needed grows with the scale.
    let (mut fitting, mut too_large) = (0, MOST);
    while too_large - fitting > 1 {
        let middle = fitting.midpoint(too_large);
        match fits(middle) {
            true => fitting = middle,
            false => too_large = middle,
        }
    }
    fitting
}

/// Whether files can be written there.
fn scratch(directory: &Path) -> Option<Error> {
    let place = existing(directory);
    let error = tempfile::tempfile_in(&place).err()?;
    let message = format!("nothing can be written to {}: {error}", place.display());
    Some(Error::new(
        message,
        "use another directory, or allow writing there",
    ))
}

/// The directory itself, or the nearest above it that exists.
fn existing(directory: &Path) -> PathBuf {
    let existing = directory.ancestors().find(|place| place.exists());
    // A relative path ends in nothing, which stands for where we are.
    let existing = existing.unwrap_or(Path::new("."));
    existing.to_path_buf()
}

/// Bytes that may still be written below a directory; none if the system does not say.
fn free_space(directory: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(existing(directory)).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

/// Programs that are not to be found, each with the experiments that need it.
fn programs(chosen: &[&Experiment], setting: &Setting, path: Option<&OsStr>) -> Vec<Error> {
    let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for experiment in chosen {
        for program in (experiment.need)(setting).programs {
            if !installed(program, path) {
                missing.entry(program).or_default().push(experiment.id);
            }
        }
    }
    let error = |(program, ids): (&str, Vec<&str>)| {
        let message = format!(
            "`{}` needs the program {program}, which is not in PATH",
            ids.join("`, `")
        );
        Error::new(
            message,
            format!("install {program}, or leave the experiment out"),
        )
    };
    missing.into_iter().map(error).collect()
}

fn installed(program: &str, path: Option<&OsStr>) -> bool {
    let Some(path) = path else { return false };
    env::split_paths(path).any(|folder| {
        let file = folder.join(program);
        file.is_file() && rustix::fs::access(&file, rustix::fs::Access::EXEC_OK).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Need;
    use crate::outcome::Outcome;

    const fn experiment(id: &'static str, need: fn(&Setting) -> Need) -> Experiment {
        Experiment {
            id,
            source: "T, figure 1",
            title: "test",
            need,
            run: |_| Ok(Outcome::default()),
        }
    }

    const SMALL: Experiment = experiment("h6", |_| Need::default());
    const LARGE: Experiment = experiment("h10", |setting| Need {
        memory: setting.by_scale(1 << 20, 1 << 50),
        disk: setting.by_scale(1, u64::MAX),
        programs: vec!["a-program-that-nobody-has"],
        ..Need::default()
    });

    fn setting() -> Setting {
        Setting {
            scale: Scale::Full,
            seed: 1,
            scratch: env::temp_dir(),
            threads: 1,
            memory: 1 << 30,
            sql: None,
        }
    }

    fn prepared(ids: &[&str]) -> Result<Vec<&'static str>> {
        let ids: Vec<String> = ids.iter().map(|id| id.to_string()).collect();
        let chosen = prepare(&ids, &[&SMALL, &LARGE], &setting())?;
        Ok(chosen.into_iter().map(|experiment| experiment.id).collect())
    }

    #[test]
    fn each_is_chosen_once() {
        assert_eq!(prepared(&["H6", "h6"]).unwrap(), ["h6"]);
        let all = prepare(&["all".to_string()], &[&SMALL], &setting()).unwrap();
        assert_eq!(all.len(), 1);
    }

    #[test]
    fn everything_in_the_way_is_said_at_once() {
        let error = prepared(&["h7", "h10", "nonsense"])
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("5 things"), "{error}");
        for part in [
            "no experiment is called `h7` (did you mean `h6`? There are: h6, h10)",
            "no experiment is called `nonsense` (there are: h6, h10)",
            "`h10` needs 1024 TiB of memory, and may fill 1 GiB (run it with --scale 1024, the \
             largest that fits, or give it more",
            "on disk, and",
            "`h10` needs the program a-program-that-nobody-has",
        ] {
            assert!(error.contains(part), "{part} not in {error}");
        }
    }

    #[test]
    fn the_largest_scale_that_fits_is_named() {
        let hint = |memory: u64, scale: Scale| {
            let setting = Setting {
                memory,
                scale,
                ..setting()
            };
            let problems = lacks_space(&[&SMALL, &LARGE], &setting);
            problems.first().map(|problem| problem.hint.clone())
        };
        for (memory, scale, begins) in [
            (
                40 << 20,
                Scale::Full,
                "run it with --scale 40, the largest that fits, or give",
            ),
            (
                5 << 19,
                Scale::Times(7.5),
                "run it with --scale 2, the largest",
            ),
            (
                1 << 20,
                Scale::Full,
                "run it with --quick, the largest scale",
            ),
            (1, Scale::Full, "no scale fits; give it more"),
            (1, Scale::Quick, "give it more"),
        ] {
            let hint = hint(memory, scale).unwrap();
            assert!(hint.starts_with(begins), "{hint}");
        }
        assert_eq!(hint(1 << 30, Scale::Times(1024.0)), None);
    }

    #[test]
    fn one_problem_stands_alone() {
        let error = prepared(&[]).unwrap_err().to_string();
        assert!(
            error.starts_with("no experiment is named (name some"),
            "{error}"
        );
        let elsewhere = Setting {
            scratch: "/proc/nowhere".into(),
            ..setting()
        };
        let error = prepare(&["h6".to_string()], &[&SMALL], &elsewhere)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("nothing can be written to /proc"),
            "{error}"
        );
    }

    #[test]
    fn a_directory_need_not_exist_yet() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        assert!(scratch(&deep).is_none());
        assert!(free_space(&deep).unwrap() > 0);
    }

    #[test]
    fn programs_are_files_that_run() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tool"), "").unwrap();
        assert!(!installed("tool", Some(folder.path().as_os_str())));
        assert!(installed("sh", Some(OsStr::new("/bin:/usr/bin"))));
        assert!(!installed("sh", None));
    }

    #[test]
    fn distances_count_changes() {
        assert_eq!(distance("h6", "h6"), 0);
        assert_eq!(distance("h7", "h6"), 1);
        assert_eq!(distance("", "h6"), 2);
        assert_eq!(distance("q10", "q1"), 1);
    }
}
