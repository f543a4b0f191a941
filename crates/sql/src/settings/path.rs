//! `search_path`: the schemas in which names without one are looked up.

use std::sync::Arc;

use freestone_storage::Catalog;

use crate::names::{PG_TEMP, meant_schema};

/// The schemas of a path as it was set, under the names that they are kept by.
pub(crate) fn listed(path: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = path.trim();
    while !rest.is_empty() {
        let (name, behind) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let mut name = String::new();
                let mut chars = quoted.char_indices().peekable();
                let mut end = quoted.len();
                while let Some((at, c)) = chars.next() {
                    match c {
                        '"' if chars.peek().is_some_and(|(_, next)| *next == '"') => {
                            chars.next();
                            name.push('"');
                        }
                        '"' => {
                            end = at + 1;
                            break;
                        }
                        c => name.push(c),
                    }
                }
                (name, &quoted[end..])
            }
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (rest[..end].trim().to_lowercase(), &rest[end..])
            }
        };
        names.push(meant_schema(&name).to_owned());
        rest = behind.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    names
}

/// The schemas of a path as it was set in which names are looked up; `None` for the path that
/// every session begins with.
pub(crate) fn schemas(path: &str) -> Option<Vec<String>> {
    let mut names = listed(path);
    // Those of the system and of temporary tables are looked at anyhow.
    names.retain(|name| !matches!(name.as_str(), "" | "pg_catalog" | "pg_temp"));
    (names != ["main"] && names != ["$user", "main"]).then_some(names)
}

/// The place of temporary relations in a path.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfTemporary {
    /// The schemas before them, in which names are looked up first.
    pub(crate) behind: Arc<[String]>,
    /// Whether theirs is the first schema, in which what is new is made.
    pub(crate) first: bool,
}

impl OfTemporary {
    pub(crate) fn of(path: &str) -> Self {
        let mut names = listed(path);
        let place = names.iter().position(|name| name == PG_TEMP);
        names.truncate(place.unwrap_or(0));
        Self {
            first: place == Some(0),
            behind: names.into(),
        }
    }

    /// The schemas before them that there are.
    pub(crate) fn schemas(&self, catalog: &Catalog, user: Option<&str>) -> Vec<String> {
        let names = self.behind.iter().map(|schema| match schema.as_str() {
            "$user" => user.unwrap_or_default(),
            schema => schema,
        });
        let known = |name: &&str| catalog.schemas().any(|known| known == *name);
        names.filter(known).map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::schemas;

    #[test]
    fn paths_are_read() {
        for (path, names) in [
            ("main", None),
            ("\"$user\", public", None),
            ("pg_catalog, public", None),
            ("", Some(vec![])),
            ("s1, Public", Some(vec!["s1", "main"])),
            ("\"A,\"\"b\" , c", Some(vec!["A,\"b", "c"])),
            ("\"open", Some(vec!["open"])),
        ] {
            let names = names.map(|names| names.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(schemas(path), names, "{path}");
        }
    }
}
