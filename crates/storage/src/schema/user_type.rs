//! Types that users create: enumerations, domains and composite types.

use super::{Column, ColumnType, Modifier};
use crate::ids::TypeId;
use serde::{Deserialize, Serialize};

/// A type that a user has created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserType {
    /// The type's number.
    pub id: TypeId,
    /// What it is.
    #[serde(flatten)]
    pub kind: UserTypeKind,
}

/// What a created type is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UserTypeKind {
    /// An enumeration: its labels in their order.
    Enum(Vec<Label>),
    /// Values of another type that conditions hold for.
    Domain(Domain),
    /// Records: their fields in order.
    Composite(Vec<Attribute>),
}

/// A field of a composite type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// How a column of its type would hold its values.
    #[serde(rename = "type")]
    pub kind: ColumnType,
    /// The part of its type that `kind` does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modifier: Option<Modifier>,
    /// The created type that its values, or the elements of its arrays, are of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<TypeId>,
}

impl Attribute {
    /// It as a column of a table.
    pub fn column(&self) -> Column {
        Column {
            name: self.name.clone(),
            kind: self.kind,
            nullable: true,
            default: None,
            identity: None,
            modifier: self.modifier,
            declared: self.declared,
            generated: false,
            hidden: None,
        }
    }
}

impl UserType {
    /// The created types that it is made of.
    pub fn parts(&self) -> Vec<TypeId> {
        match &self.kind {
            UserTypeKind::Enum(_) => Vec::new(),
            UserTypeKind::Domain(domain) => domain.declared.into_iter().collect(),
            UserTypeKind::Composite(fields) => {
                fields.iter().filter_map(|field| field.declared).collect()
            }
        }
    }
}

/// A label of an enumeration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Label {
    /// Its text, as columns store it.
    pub name: String,
    /// Its place as `pg_enum` shows it: a label between two others has a number between theirs.
    pub order: f32,
    /// Its number within the type, which no other label has had.
    pub number: u32,
}

/// A domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// How values are stored.
    #[serde(rename = "type")]
    pub kind: ColumnType,
    /// The created type that it is over, if that is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<TypeId>,
    /// Whether NULL is a value of it.
    pub nullable: bool,
    /// SQL text of the default of columns that have none of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Conditions on values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<DomainCheck>,
}

/// A condition on the values of a domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainCheck {
    /// The constraint's name.
    pub name: String,
    /// The condition as SQL, of `VALUE`.
    pub condition: String,
    /// Whether values that are there were looked at.
    pub valid: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_written_as_they_were() {
        let label = |name: &str, order, number| Label {
            name: name.to_owned(),
            order,
            number,
        };
        let domain = Domain {
            kind: ColumnType::Integer,
            declared: None,
            nullable: true,
            default: None,
            checks: vec![],
        };
        let field = |name: &str, kind, modifier, declared| Attribute {
            name: name.to_owned(),
            kind,
            modifier,
            declared,
        };
        let fields = vec![
            field("a", ColumnType::Time, Some(Modifier::Seconds(3)), None),
            field("b", ColumnType::Record, None, Some(TypeId(2))),
        ];
        for (kind, written) in [
            (
                UserTypeKind::Enum(vec![label("a", 1.0, 0), label("b", 1.5, 2)]),
                r#"{"id":3,"enum":[{"name":"a","order":1.0,"number":0},{"name":"b","order":1.5,"number":2}]}"#,
            ),
            (
                UserTypeKind::Domain(domain),
                r#"{"id":3,"domain":{"type":"integer","nullable":true}}"#,
            ),
            (
                UserTypeKind::Composite(fields),
                r#"{"id":3,"composite":[{"name":"a","type":"time","modifier":{"seconds":3}},{"name":"b","type":"record","declared":2}]}"#,
            ),
        ] {
            let known = UserType {
                id: TypeId(3),
                kind,
            };
            assert_eq!(serde_json::to_string(&known).unwrap(), written);
            assert_eq!(serde_json::from_str::<UserType>(written).unwrap(), known);
        }
    }
}
