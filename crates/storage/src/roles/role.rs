//! A role: somebody who may connect, or a group of those.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// Names one role of one database, whatever it is called now.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct RoleId(pub u64);

/// The role that is there from the beginning, may everything, and stays so.
pub const FIRST_ROLE: RoleId = RoleId(10);

/// Roles that are in every database, by the numbers that PostgreSQL gives them.
const BUILT_IN: [(&str, RoleId); 6] = [
    ("freestone", FIRST_ROLE),
    ("pg_monitor", RoleId::MONITOR),
    ("pg_read_all_data", RoleId::READ_ALL_DATA),
    ("pg_read_server_files", RoleId::READ_SERVER_FILES),
    ("pg_write_all_data", RoleId::WRITE_ALL_DATA),
    ("pg_write_server_files", RoleId::WRITE_SERVER_FILES),
];

impl RoleId {
    /// Everybody.
    pub const PUBLIC: Self = Self(0);
    /// May read what the database tells of itself.
    pub const MONITOR: Self = Self(3373);
    /// May read files of the server.
    pub const READ_SERVER_FILES: Self = Self(4569);
    /// May write files of the server.
    pub const WRITE_SERVER_FILES: Self = Self(4570);
    /// May read all tables, views and sequences.
    pub const READ_ALL_DATA: Self = Self(6181);
    /// May change all tables, views and sequences.
    pub const WRITE_ALL_DATA: Self = Self(6182);
    /// The least number of a role that was made.
    pub const FIRST_MADE: u64 = 16_384;

    /// Whether the role is in every database.
    pub fn is_built_in(self) -> bool {
        self.0 < Self::FIRST_MADE
    }
}

/// A role as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Role {
    /// Its number.
    pub id: RoleId,
    /// Whether it may connect.
    #[serde(default)]
    pub login: bool,
    /// Whether it may do everything.
    #[serde(default)]
    pub superuser: bool,
    /// Whether it has the rights of the roles that it is a member of, without SET ROLE.
    pub inherit: bool,
    /// How it proves who it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<Verifier>,
    /// Until when its password is good, in microseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<i64>,
    /// Connections at a time, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// What its queries may take together, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<String>,
    /// The roles that it is a member of, and whether it may add members to them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub member_of: BTreeMap<RoleId, bool>,
}

impl Default for Role {
    fn default() -> Self {
        Self {
            id: RoleId::PUBLIC,
            login: false,
            superuser: false,
            inherit: true,
            password: None,
            valid_until: None,
            connections: None,
            memory_limit: None,
            member_of: BTreeMap::new(),
        }
    }
}

impl Role {
    /// A role that is in every database.
    pub fn built_in(name: &str) -> Option<Self> {
        let known = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        let first = known.1 == FIRST_ROLE;
        Some(Self {
            id: known.1,
            login: first,
            superuser: first,
            ..Self::default()
        })
    }

    pub(super) fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    pub(super) fn built_in_name(id: RoleId) -> Option<&'static str> {
        let mut known = BUILT_IN.iter();
        known.find(|known| known.1 == id).map(|known| known.0)
    }
}

/// What a password is checked against, as SCRAM-SHA-256 asks. Neither the password nor
/// anything that proves to know it is kept.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verifier {
    /// Rounds of salting.
    pub iterations: u32,
    /// The salt.
    #[serde(serialize_with = "to_digits", deserialize_with = "of_digits")]
    pub salt: Vec<u8>,
    /// The hash of the client's key.
    #[serde(serialize_with = "to_digits", deserialize_with = "of_digits")]
    pub stored_key: Vec<u8>,
    /// By which the server proves that it knows the password.
    #[serde(serialize_with = "to_digits", deserialize_with = "of_digits")]
    pub server_key: Vec<u8>,
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Verifier")
    }
}

fn to_digits<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    serializer.serialize_str(&digits)
}

fn of_digits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let digits = String::deserialize(deserializer)?;
    let wrong = || serde::de::Error::custom("no pairs of hexadecimal digits");
    let pairs = (0..digits.len()).step_by(2);
    let bytes = pairs.map(|at| {
        let pair = digits.get(at..at + 2).ok_or_else(wrong)?;
        u8::from_str_radix(pair, 16).map_err(|_| wrong())
    });
    bytes.collect()
}
