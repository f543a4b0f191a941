//! The two servers that a suite is asked of, with a fresh database for each file.

use std::io;

use crate::answer::{Answer, Side};
use crate::served::Served;
use crate::wire::{Address, Wire};

/// Both servers, and the sessions in which statements are asked.
pub struct Sides {
    postgres: Address,
    program: String,
    served: Option<Served>,
    theirs: Option<Wire>,
    ours: Option<Wire>,
    crashed: bool,
}

/// The database of PostgreSQL, called as that of Freestone's server.
const DATABASE: &str = "freestone";

impl Sides {
    pub fn new(postgres: &Address, program: &str) -> Self {
        Self {
            postgres: postgres.clone(),
            program: program.to_owned(),
            served: None,
            theirs: None,
            ours: None,
            crashed: false,
        }
    }

    /// Begins with databases that have nothing in them.
    ///
    /// # Errors
    /// A server does not start.
    pub fn fresh(&mut self) -> io::Result<()> {
        (self.theirs, self.ours, self.served) = (None, None, None);
        let mut postgres = Wire::connect(&self.postgres)?;
        let roles = "SELECT quote_ident(rolname) FROM pg_roles \
                     WHERE rolname NOT LIKE 'pg\\_%' AND rolname <> current_user"
            .to_owned();
        let mut clean = vec![format!("DROP DATABASE IF EXISTS {DATABASE} (FORCE)")];
        for answer in postgres.ask(&[roles])? {
            let names = answer
                .rows
                .unwrap_or_default()
                .into_iter()
                .flatten()
                .flatten();
            clean.extend(
                names
                    .filter(|name| name != "postgres")
                    .map(|name| format!("DROP ROLE {name}")),
            );
        }
        clean.push(format!("CREATE DATABASE {DATABASE}"));
        clean.push(format!("ALTER DATABASE {DATABASE} SET timezone = 'UTC'"));
        postgres.ask(&clean)?;
        self.served = Some(Served::start(&self.program)?);
        self.again()
    }

    /// Begins new sessions in the databases at hand.
    ///
    /// # Errors
    /// A server is gone and does not start again.
    pub fn again(&mut self) -> io::Result<()> {
        (self.theirs, self.ours) = (None, None);
        self.theirs = Some(self.connect_theirs()?);
        self.ours = Some(self.connect_ours()?);
        Ok(())
    }

    fn connect_theirs(&self) -> io::Result<Wire> {
        Wire::connect(&Address {
            database: DATABASE.to_owned(),
            ..self.postgres.clone()
        })
    }

    fn connect_ours(&mut self) -> io::Result<Wire> {
        let user = self.postgres.user.clone();
        let as_user = |served: &Served| Address {
            user: user.clone(),
            ..served.address.clone()
        };
        if let Some(served) = &self.served
            && let Ok(wire) = Wire::connect(&as_user(served))
        {
            return Ok(wire);
        }
        self.served = None;
        let served = Served::start(&self.program)?;
        let wire = Wire::connect(&as_user(&served));
        self.served = Some(served);
        wire
    }

    /// The answers of PostgreSQL and of Freestone. A broken connection is a failure with the
    /// state 08006; it is opened again.
    ///
    /// # Errors
    /// A server does not start again.
    pub fn ask(&mut self, statement: &str, rows: Option<&str>) -> io::Result<[Answer; 2]> {
        self.crashed = false;
        let theirs = answer(self.theirs.as_mut(), statement, rows);
        let theirs = match theirs {
            Ok(answer) => answer,
            Err(error) => {
                self.theirs = Some(self.connect_theirs()?);
                broken(&error)
            }
        };
        let ours = answer(self.ours.as_mut(), statement, rows);
        let ours = match ours {
            Ok(answer) => answer,
            Err(error) => {
                self.crashed = true;
                self.ours = Some(self.connect_ours()?);
                broken(&error)
            }
        };
        Ok([theirs, ours])
    }

    /// Whether Freestone's connection broke at the last statement.
    pub fn crashed(&self) -> bool {
        self.crashed
    }
}

fn answer(wire: Option<&mut Wire>, statement: &str, rows: Option<&str>) -> io::Result<Answer> {
    let wire = wire.ok_or_else(|| io::Error::other("no session"))?;
    if let Some(rows) = rows {
        return wire.copy(statement, rows);
    }
    let answers = wire.ask(&[statement.to_owned()])?;
    let answer = answers.into_iter().next();
    answer.ok_or_else(|| io::Error::other("no answer"))
}

fn broken(error: &io::Error) -> Answer {
    Answer::failed("08006", format!("the connection broke: {error}"))
}
