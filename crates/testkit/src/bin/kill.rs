//! `kill [--transactions] [--rounds N] [--rows N] [--seed N] [--freestone PROGRAM]`:
//! kills loads, or a stream of transactions, at random moments and checks what
//! they leave.

use std::path::PathBuf;
use std::process::ExitCode;

use freestone_testkit::kill::{Plan, run, transactions};

const USAGE: &str =
    "usage: kill [--transactions] [--rounds N] [--rows N] [--seed N] [--freestone PROGRAM]";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let transactions = arguments
        .first()
        .is_some_and(|first| first == "--transactions");
    if transactions {
        arguments.remove(0);
    }
    let Some(plan) = plan(arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if transactions {
        return kill_transactions(&plan);
    }
    println!(
        "{} rounds, {} rows, seed {}",
        plan.rounds, plan.rows, plan.seed
    );
    let result = run(&plan, &|number, round| {
        println!("{:>3}  {round}", number + 1)
    });
    match result {
        Ok(rounds) => {
            let good = rounds.iter().filter(|round| round.outcome.is_ok()).count();
            let all = rounds
                .iter()
                .filter(|round| round.outcome.as_ref().is_ok_and(|seen| seen.complete))
                .count();
            println!(
                "{good} sound of {}: {all} with all rows, {} with none",
                rounds.len(),
                good - all
            );
            println!("{good} passed, {} failed, 0 skipped", rounds.len() - good);
            if good == rounds.len() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(message) => {
            println!("kill: {message}");
            println!("0 passed, 1 failed, 0 skipped");
            ExitCode::FAILURE
        }
    }
}

fn kill_transactions(plan: &Plan) -> ExitCode {
    println!("{} rounds, seed {}", plan.rounds, plan.seed);
    let outcome = transactions::run(plan, &|round, killed| {
        let transactions::Killed { held, said } = killed;
        println!("{:>3}  {said:>5} said, {held:>7} held in all", round + 1);
    });
    match outcome {
        Ok(()) => {
            println!("{} passed, 0 failed, 0 skipped", plan.rounds);
            ExitCode::SUCCESS
        }
        Err(message) => {
            println!("kill: {message}");
            println!("0 passed, 1 failed, 0 skipped");
            ExitCode::FAILURE
        }
    }
}

fn plan(arguments: Vec<String>) -> Option<Plan> {
    let mut plan = Plan {
        program: std::env::current_exe().ok()?.with_file_name("freestone"),
        rounds: 5,
        rows: 3_000_000,
        seed: getrandom::u64().ok()? >> 32, // short enough to type again
    };
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let value = arguments.next()?;
        match argument.as_str() {
            "--rounds" => plan.rounds = value.parse().ok()?,
            "--rows" => plan.rows = value.parse().ok()?,
            "--seed" => plan.seed = value.parse().ok()?,
            "--freestone" => plan.program = PathBuf::from(value),
            _ => return None,
        }
    }
    (plan.rounds > 0 && plan.rows > 0).then_some(plan)
}
