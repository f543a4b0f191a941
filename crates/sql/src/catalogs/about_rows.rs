//! PostgreSQL's functions about its catalog that give rows: `aclexplode`, `pg_partition_tree`,
//! `pg_sequence_parameters` and their kin.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::Int64Type;
use freestone_frontend::functions::objects::Objects;
use freestone_frontend::functions::{Returns, TableFunction};
use freestone_frontend::types::arrays::Arrays;
use freestone_frontend::types::{Internal, Reg, Type};
use freestone_storage::{Privileges, TableId};

use super::Numbers;
use super::about::{described_object, identified};
use super::pg_catalog::facts::Facts;
use super::pg_catalog::{self};
use crate::error::Result;
use crate::relations::Relations;
use crate::{oids, partition};

/// Columns of a function.
type Columns = Vec<(&'static str, Type)>;
/// The rows of a call.
type Rows = dyn Fn(&[ArrayRef]) -> Facts + Send + Sync;

/// The overloads of a function that gives rows; none if it is not one of these.
///
/// # Errors
/// Errors of reading the catalog.
pub(super) fn tables(
    relations: &Relations<'_>,
    numbers: &dyn Fn() -> Arc<Numbers>,
    name: &str,
) -> Result<Vec<Arc<TableFunction>>> {
    let class = Type::Reg(Reg::Class);
    Ok(match name {
        "aclexplode" => {
            let known = numbers();
            let columns = vec![
                ("grantor", Type::Oid),
                ("grantee", Type::Oid),
                ("privilege_type", Type::Text),
                ("is_grantable", Type::Bool),
            ];
            let rows = move |arguments: &[ArrayRef]| grants(&known, arguments);
            vec![function(
                "aclexplode",
                vec![Type::Internal(Internal::AclItem).array()],
                columns,
                Box::new(rows),
            )]
        }
        "pg_partition_tree" => {
            let columns = vec![
                ("relid", class.clone()),
                ("parentrelid", class.clone()),
                ("isleaf", Type::Bool),
                ("level", Type::Int4),
            ];
            let parts = parts(relations);
            let rows = move |arguments: &[ArrayRef]| {
                let mut facts = Facts::default();
                if let Some(root) = number(arguments, 0) {
                    tree(&parts, (root, None, 0), &mut facts);
                }
                facts
            };
            vec![function(
                "pg_partition_tree",
                vec![class],
                columns,
                Box::new(rows),
            )]
        }
        "pg_partition_ancestors" => {
            let parts = parts(relations);
            let rows = move |arguments: &[ArrayRef]| {
                let mut facts = Facts::default();
                let mut next = number(arguments, 0).filter(|of| parts.contains_key(of));
                while let Some(of) = next {
                    facts.add([("relid", of.into())]);
                    next = parts.get(&of).and_then(|(parent, _)| *parent);
                }
                facts
            };
            let columns = vec![("relid", class.clone())];
            vec![function(
                "pg_partition_ancestors",
                vec![class],
                columns,
                Box::new(rows),
            )]
        }
        "pg_sequence_parameters" => {
            let sequences = Arc::new(pg_catalog::facts(relations, "pg_sequence")?);
            let columns = vec![
                ("start_value", Type::Int8),
                ("minimum_value", Type::Int8),
                ("maximum_value", Type::Int8),
                ("increment", Type::Int8),
                ("cycle_option", Type::Bool),
                ("cache_size", Type::Int8),
                ("data_type", Type::Oid),
            ];
            let rows = move |arguments: &[ArrayRef]| {
                let mut facts = Facts::default();
                let names = [
                    ("start_value", "seqstart"),
                    ("minimum_value", "seqmin"),
                    ("maximum_value", "seqmax"),
                    ("increment", "seqincrement"),
                    ("cycle_option", "seqcycle"),
                    ("cache_size", "seqcache"),
                    ("data_type", "seqtypid"),
                ];
                if let Some(of) = number(arguments, 0) {
                    facts.add_of(&sequences, ("seqrelid", of), &names);
                }
                facts
            };
            vec![function(
                "pg_sequence_parameters",
                vec![Type::Oid],
                columns,
                Box::new(rows),
            )]
        }
        "pg_show_all_settings" => {
            let settings = Arc::new(pg_catalog::facts(relations, "pg_settings")?);
            let columns = pg_catalog::columns_of("pg_settings");
            let rows = move |_: &[ArrayRef]| Facts::clone(&settings);
            vec![function(
                "pg_show_all_settings",
                Vec::new(),
                columns,
                Box::new(rows),
            )]
        }
        // There are no extensions.
        "pg_available_extensions" => {
            let columns = vec![
                ("name", Type::Name),
                ("default_version", Type::Text),
                ("comment", Type::Text),
            ];
            let rows = |_: &[ArrayRef]| Facts::default();
            vec![function(
                "pg_available_extensions",
                Vec::new(),
                columns,
                Box::new(rows),
            )]
        }
        "pg_available_extension_versions" => {
            let columns = vec![
                ("name", Type::Name),
                ("version", Type::Text),
                ("superuser", Type::Bool),
                ("trusted", Type::Bool),
                ("relocatable", Type::Bool),
                ("schema", Type::Name),
                ("requires", Type::Name.array()),
                ("comment", Type::Text),
            ];
            let rows = |_: &[ArrayRef]| Facts::default();
            vec![function(
                "pg_available_extension_versions",
                Vec::new(),
                columns,
                Box::new(rows),
            )]
        }
        "pg_identify_object" => {
            let all = identified(relations)?;
            let columns = vec![
                ("type", Type::Text),
                ("schema", Type::Text),
                ("name", Type::Text),
                ("identity", Type::Text),
            ];
            let rows = move |arguments: &[ArrayRef]| {
                let mut facts = Facts::default();
                let key = number(arguments, 0).zip(number(arguments, 1));
                let found = key.and_then(|key| all.get(&key));
                if let Some(found) = found {
                    facts.add([
                        ("type", found.kind.into()),
                        ("schema", found.schema.as_str().into()),
                        ("name", found.name.as_str().into()),
                        ("identity", described_object(found).into()),
                    ]);
                }
                facts
            };
            vec![function(
                "pg_identify_object",
                vec![Type::Oid, Type::Oid, Type::Int4],
                columns,
                Box::new(rows),
            )]
        }
        _ => Vec::new(),
    })
}

fn function(
    name: &'static str,
    parameters: Vec<Type>,
    columns: Columns,
    rows: Box<Rows>,
) -> Arc<TableFunction> {
    let types = columns.clone();
    let columns = columns.into_iter();
    Arc::new(TableFunction {
        name,
        parameters,
        variadic: None,
        columns: columns
            .map(|(name, ty)| (name, Returns::Type(ty)))
            .collect(),
        strict: true,
        rows: Arc::new(move |_, arguments| {
            let facts = rows(arguments);
            let arrays = types.iter().map(|(name, ty)| facts.column(name, ty));
            let arrays: Vec<ArrayRef> = arrays.collect();
            Ok(Box::new(std::iter::once(Ok(arrays))))
        }),
    })
}

fn number(arguments: &[ArrayRef], at: usize) -> Option<i64> {
    let numbers = arguments.get(at)?.as_primitive_opt::<Int64Type>()?;
    (!numbers.is_empty() && numbers.is_valid(0)).then(|| numbers.value(0))
}

/// The rights of a list such as `{owner=arwdDxt/owner}`, each by itself.
fn grants(known: &Numbers, arguments: &[ArrayRef]) -> Facts {
    let mut facts = Facts::default();
    let texts = arguments.first().and_then(|list| {
        let arrays = Arrays::of(list).ok()?;
        list.is_valid(0).then(|| arrays.elements(0))
    });
    let role = |name: &str| match name {
        "" => 0,
        name => known.number(Reg::Role, name).unwrap_or_default(),
    };
    let texts = texts.as_ref().and_then(|texts| texts.as_string_view_opt());
    for text in texts.into_iter().flatten().flatten() {
        let Some((who, rest)) = text.rsplit_once('=') else {
            continue;
        };
        let (letters, by) = rest.split_once('/').unwrap_or((rest, ""));
        let mut letters = letters.chars().peekable();
        while let Some(letter) = letters.next() {
            let grantable = letters.next_if_eq(&'*').is_some();
            if let Some(right) = Privileges::name_of_letter(letter) {
                facts.add([
                    ("grantor", role(by).into()),
                    ("grantee", role(who).into()),
                    ("privilege_type", right.into()),
                    ("is_grantable", grantable.into()),
                ]);
            }
        }
    }
    facts
}

/// Tables that are partitioned or partitions: what each is a partition of, and its partitions.
type PartsOf = HashMap<i64, (Option<i64>, Vec<i64>)>;

fn parts(relations: &Relations<'_>) -> PartsOf {
    let snapshot = &relations.snapshot;
    let of = |id: TableId| {
        snapshot
            .table_by_id(id)
            .map(|table| oids::table_number(table))
    };
    let all = snapshot.all_tables();
    let all = all.filter(|(_, table)| table.schema.is_in_partitions());
    let all = all.map(|(_, table)| {
        let parts = partition::partitions(snapshot, table).into_iter();
        let parts = parts.map(|(_, part)| oids::table_number(part)).collect();
        let parent = table.schema.partition.as_ref();
        let parent = parent.and_then(|known| of(known.parent));
        (oids::table_number(table), (parent, parts))
    });
    all.collect()
}

fn tree(all: &PartsOf, (of, parent, level): (i64, Option<i64>, i64), facts: &mut Facts) {
    let Some((_, parts)) = all.get(&of) else {
        return;
    };
    facts.add([
        ("relid", of.into()),
        ("parentrelid", parent.into()),
        ("isleaf", parts.is_empty().into()),
        ("level", level.into()),
    ]);
    for part in parts {
        tree(all, (*part, Some(of), level + 1), facts);
    }
}
