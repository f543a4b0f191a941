//! PostgreSQL's functions about its catalog, over one snapshot: `pg_get_indexdef`,
//! `format_type`, `pg_table_is_visible` and their kin.
//!
//! Each is a look into what is known of the snapshot when a statement is bound.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::array::{AsArray, Int32Builder, ListBuilder, StringViewArray, StringViewBuilder};
use arrow::datatypes::Int64Type;
use freestone_frontend::Error as Unbound;
use freestone_frontend::functions::kernel::{
    Bool, I16, I32, I64, Kernel, Opt, Str, f0, f1, f2, f3,
};
use freestone_frontend::functions::objects::{Objects, found};
use freestone_frontend::functions::{Scalar, scalar};
use freestone_frontend::types::arrays::from_lists;
use freestone_frontend::types::{Internal, Reg, Type};

use super::Numbers;
use super::about_privileges;
use super::pg_catalog::facts::Fact;
use super::pg_catalog::{self, objects, procedures, routines, system};
use crate::deparse::{deparsed, pretty, view_texts};
use crate::dialect::with_schema;
use crate::error::Result;
use crate::front::type_of_stored;
use crate::names::{
    DEFAULT_SCHEMA, PG_TEMP, has_function, has_rows, meant_schema, quoted, shown_schema,
};
use crate::relations::{Relations, updatable};
use crate::statement::{names_of_with, parse_one};
use crate::transaction_number::TransactionNumber;
use crate::{oids, partition};

/// Functions that say of any object of a kind that it is found by its name alone.
const VISIBLE: [&str; 10] = [
    "pg_collation_is_visible",
    "pg_conversion_is_visible",
    "pg_opclass_is_visible",
    "pg_operator_is_visible",
    "pg_opfamily_is_visible",
    "pg_statistics_obj_is_visible",
    "pg_ts_config_is_visible",
    "pg_ts_dict_is_visible",
    "pg_ts_parser_is_visible",
    "pg_ts_template_is_visible",
];

/// Functions of any arguments about objects of which there are none: NULL.
const NOTHING: [&str; 15] = [
    "pg_advisory_unlock_all",
    "pg_event_trigger_ddl_commands",
    "pg_get_object_address",
    "pg_get_replica_identity_index",
    "pg_get_statisticsobjdef",
    "pg_get_statisticsobjdef_columns",
    "pg_get_statisticsobjdef_expressions",
    "pg_get_triggerdef",
    "pg_last_wal_receive_lsn",
    "pg_last_wal_replay_lsn",
    "pg_last_xact_replay_timestamp",
    "pg_relation_filenode",
    "pg_relation_filepath",
    "shobj_description",
    "pg_stat_get_activity",
];

/// Counts of what nobody counts.
const COUNTS: [&str; 10] = [
    "pg_stat_get_blocks_fetched",
    "pg_stat_get_blocks_hit",
    "pg_stat_get_dead_tuples",
    "pg_stat_get_live_tuples",
    "pg_stat_get_numscans",
    "pg_stat_get_tuples_deleted",
    "pg_stat_get_tuples_fetched",
    "pg_stat_get_tuples_inserted",
    "pg_stat_get_tuples_returned",
    "pg_stat_get_tuples_updated",
];

/// Functions that say no.
const NO: [&str; 4] = [
    "pg_is_in_recovery",
    "pg_is_other_temp_schema",
    "pg_is_wal_replay_paused",
    "pg_relation_is_publishable",
];

/// The overloads of a function about the catalog; none if it is not one.
///
/// # Errors
/// Errors of reading the catalog.
pub(super) fn functions(
    relations: &Relations<'_>,
    numbers: &dyn Fn() -> Arc<Numbers>,
    name: &str,
) -> Result<Vec<Scalar>> {
    use Type::{Bool as Truth, Int4, Int8, Name, Oid, Text};
    if let Some(name) = one_of(&VISIBLE, name) {
        return Ok(vec![scalar(name, &[Oid], Truth, truth(true)).stable()]);
    }
    if let Some(kind) = about_privileges::kind_of(name) {
        return about_privileges::functions(relations, numbers, kind);
    }
    if let Some(name) = one_of(&NO, name) {
        return Ok(vec![any(name, Truth, truth(false))]);
    }
    if let Some(name) = one_of(&NOTHING, name) {
        let none: Kernel = f0::<Opt<Str>>(|_| Ok(None));
        return Ok(vec![any(name, Text, none).with_nulls()]);
    }
    if let Some(name) = one_of(&COUNTS, name) {
        return Ok(vec![any(name, Int8, f0::<I64>(|_| Ok(0)))]);
    }
    // A text that a table of the catalog has for a number.
    let texts = |table: &str, key: &str, text: &str| -> Result<Arc<HashMap<i64, String>>> {
        Ok(Arc::new(
            pg_catalog::facts(relations, table)?.texts_by(key, text),
        ))
    };
    let of_number = |name, more: &[&[Type]], texts: Arc<HashMap<i64, String>>| -> Vec<Scalar> {
        let all = more.iter().map(|more| {
            let mut parameters = vec![Oid];
            parameters.extend_from_slice(more);
            scalar(name, &parameters, Text, looked_up(Arc::clone(&texts))).stable()
        });
        all.collect()
    };
    Ok(match name {
        "pg_get_userbyid" => {
            let known = numbers();
            let kernel = f1::<I64, Str>(move |number| {
                let unknown = || format!("unknown (OID={number})");
                Ok(known.role(number).map_or_else(unknown, str::to_owned))
            });
            vec![scalar("pg_get_userbyid", &[Oid], Name, kernel).stable()]
        }
        "pg_table_is_visible" => {
            let known = numbers();
            let kernel = f1::<I64, Opt<Bool>>(move |number| Ok(known.is_visible(number)));
            vec![scalar("pg_table_is_visible", &[Oid], Truth, kernel).stable()]
        }
        "pg_get_constraintdef" => {
            let definitions = texts("pg_constraint", "oid", "definition")?;
            let mut all = of_number("pg_get_constraintdef", &[&[]], Arc::clone(&definitions));
            let kernel = f2::<I64, Bool, Opt<Str>>(move |number, pretty| {
                let text = definitions.get(&number);
                Ok(text.map(|text| shown_condition(text, pretty)))
            });
            all.push(scalar("pg_get_constraintdef", &[Oid, Truth], Text, kernel).stable());
            all
        }
        "pg_get_partkeydef" => of_number(
            "pg_get_partkeydef",
            &[&[]],
            texts("pg_partitioned_table", "partrelid", "definition")?,
        ),
        "pg_get_partition_constraintdef" => {
            let tables = relations.snapshot.all_tables();
            let conditions = tables.filter_map(|(_, table)| {
                let condition = partition::condition(&relations.snapshot, table)?;
                let columns = table.schema.declared().iter().map(|column| {
                    let ty = type_of_stored(&relations.snapshot, column);
                    (column.name.clone(), ty)
                });
                let columns: Vec<(String, Type)> = columns.collect();
                let shown = deparsed(relations, &condition, &columns, None);
                Some((oids::table_number(table), shown))
            });
            let conditions = Arc::new(conditions.collect());
            of_number("pg_get_partition_constraintdef", &[&[]], conditions)
        }
        "pg_partition_root" => {
            let class = Type::Reg(Reg::Class);
            let all = relations.snapshot.all_tables();
            let parts = all.filter(|(_, table)| table.schema.is_in_partitions());
            let roots: HashMap<i64, i64> = parts
                .map(|(_, table)| {
                    let above = partition::ancestors(&relations.snapshot, table);
                    let root = above.last().map_or(table, |(_, root)| root);
                    (oids::table_number(table), oids::table_number(root))
                })
                .collect();
            let kernel = f1::<I64, Opt<I64>>(move |number| Ok(roots.get(&number).copied()));
            let parameter = std::slice::from_ref(&class);
            vec![scalar("pg_partition_root", parameter, class.clone(), kernel).stable()]
        }
        "pg_get_viewdef" => {
            let definitions = texts("pg_class", "oid", "reldefinition")?;
            let (mut plain, mut pretty) = (HashMap::new(), HashMap::new());
            for (number, schema, name) in oids::relation_numbers(&relations.snapshot) {
                if let Some(text) = definitions.get(&number) {
                    let [all, few] = view_definitions(relations, schema, &name, text);
                    plain.insert(number, all);
                    pretty.insert(number, few);
                }
            }
            let (plain, pretty) = (Arc::new(plain), Arc::new(pretty));
            let choose = |few: bool| Arc::clone(if few { &pretty } else { &plain });
            let mut all = of_number("pg_get_viewdef", &[&[]], choose(false));
            all.extend(of_number("pg_get_viewdef", &[&[Int4]], choose(true)));
            let both = (choose(false), choose(true));
            let kernel = f2::<I64, Bool, Opt<Str>>(move |number, few| {
                let texts = if few { &both.1 } else { &both.0 };
                Ok(texts.get(&number).cloned())
            });
            all.push(scalar("pg_get_viewdef", &[Oid, Truth], Text, kernel).stable());
            let known = numbers();
            let (named, texts) = (Arc::clone(&known), choose(false));
            let kernel: Kernel = f1::<Str, Opt<Str>>(move |name| {
                let number = named.number(Reg::Class, name)?;
                Ok(texts.get(&number).cloned())
            });
            all.push(scalar("pg_get_viewdef", &[Text], Text, kernel).stable());
            let both = (choose(false), choose(true));
            let kernel = f2::<Str, Bool, Opt<Str>>(move |name, few| {
                let number = known.number(Reg::Class, name)?;
                let texts = if few { &both.1 } else { &both.0 };
                Ok(texts.get(&number).cloned())
            });
            all.push(scalar("pg_get_viewdef", &[Text, Truth], Text, kernel).stable());
            all
        }
        "pg_get_ruledef" => {
            let definitions = texts("pg_class", "oid", "reldefinition")?;
            let rules = pg_catalog::facts(relations, "pg_rewrite")?;
            let pairs = rules.told("ev_class").zip(rules.told("oid"));
            let rules = pairs.filter_map(|pair| match pair {
                (Some(Fact::Number(view)), Some(Fact::Number(rule))) => Some((*view, *rule)),
                _ => None,
            });
            let rules: HashMap<i64, i64> = rules.collect();
            let known = numbers();
            let (mut plain, mut pretty) = (HashMap::new(), HashMap::new());
            for (number, schema, name) in oids::relation_numbers(&relations.snapshot) {
                let (Some(rule), Some(text)) = (rules.get(&number), definitions.get(&number))
                else {
                    continue;
                };
                let [all, few] = view_definitions(relations, schema, &name, text);
                let full = format!("{}.{}", quoted(shown_schema(schema)), quoted(&name));
                let short = match known.is_visible(number) {
                    Some(true) => quoted(&name),
                    _ => full.clone(),
                };
                let told = |name: &str, query: &str| {
                    format!(
                        "CREATE RULE \"_RETURN\" AS\n    ON SELECT TO {name} DO INSTEAD {query}"
                    )
                };
                plain.insert(*rule, told(&full, &all));
                pretty.insert(*rule, told(&short, &few));
            }
            let plain = Arc::new(plain);
            let mut all = of_number("pg_get_ruledef", &[&[]], Arc::clone(&plain));
            let kernel = f2::<I64, Bool, Opt<Str>>(move |number, few| {
                let texts = if few { &pretty } else { plain.as_ref() };
                Ok(texts.get(&number).cloned())
            });
            all.push(scalar("pg_get_ruledef", &[Oid, Truth], Text, kernel).stable());
            all
        }
        "pg_get_indexdef" => indexes(relations)?,
        "pg_get_expr" => {
            let tree = Type::Internal(Internal::NodeTree);
            let kernel = f2::<Str, Opt<I64>, Str>(|text, _| Ok(text.to_owned()));
            let pretty = f3::<Str, Opt<I64>, Opt<Bool>, Str>(|text, _, few| {
                Ok(match few {
                    Some(true) => pretty(text),
                    _ => text.to_owned(),
                })
            });
            vec![
                scalar("pg_get_expr", &[tree.clone(), Oid], Text, kernel).stable(),
                scalar("pg_get_expr", &[tree, Oid, Truth], Text, pretty).stable(),
            ]
        }
        "pg_type_is_visible" => {
            let known = numbers();
            let kernel = f1::<I64, Opt<Bool>>(move |number| Ok(known.is_visible_type(number)));
            vec![scalar("pg_type_is_visible", &[Oid], Truth, kernel).stable()]
        }
        "oidvectortypes" => {
            let known = numbers();
            let kernel: Kernel = Arc::new(move |call, columns| {
                let [vectors] = columns else {
                    return Err(Unbound::internal("oidvectortypes without its argument"));
                };
                let lists = vectors.array.as_list_opt::<i32>();
                let lists = lists.ok_or_else(|| Unbound::internal("a vector that is no list"))?;
                let texts = (0..call.rows).map(|row| {
                    if vectors.is_null(row) {
                        return None;
                    }
                    let numbers = lists.value(vectors.at(row));
                    let numbers = numbers.as_primitive_opt::<Int64Type>()?;
                    let names = numbers.values().iter();
                    let names = names.map(|number| known.type_name(*number, None));
                    Some(names.collect::<Vec<_>>().join(", "))
                });
                Ok(Arc::new(texts.collect::<StringViewArray>()))
            });
            vec![scalar("oidvectortypes", &[Type::OidVector], Text, kernel).stable()]
        }
        "pg_sequence_last_value" => {
            let all = relations.snapshot.all_sequences().zip(oids::SEQUENCES..);
            let given = all.filter_map(|((_, sequence), number)| {
                let position = sequence.position();
                position.given.then_some((number, position.value))
            });
            let given: HashMap<i64, i64> = given.collect();
            let kernel = f1::<I64, Opt<I64>>(move |number| Ok(given.get(&number).copied()));
            let parameter = [Type::Reg(Reg::Class)];
            vec![scalar("pg_sequence_last_value", &parameter, Int8, kernel).stable()]
        }
        "pg_tablespace_location" => {
            let kernel = f1::<I64, Str>(|_| Ok(String::new()));
            vec![scalar("pg_tablespace_location", &[Oid], Text, kernel).stable()]
        }
        "pg_describe_object" => {
            let all = super::told_objects::ToldObjects::of(relations, numbers())?;
            let kernel = f3::<I64, I64, I32, Opt<Str>>(move |class, object, part| {
                Ok(all.told(class, object, part.into()))
            });
            let parameters = [Oid, Oid, Int4];
            vec![scalar("pg_describe_object", &parameters, Text, kernel).stable()]
        }
        "pg_relation_is_updatable" => {
            let snapshot = &relations.snapshot;
            let named = oids::relation_numbers(snapshot).into_iter();
            let all = named.map(|(number, schema, name)| {
                (number, updatable::events_of(snapshot, schema, &name))
            });
            let all: HashMap<i64, i32> = all.collect();
            let kernel = f2::<I64, Bool, I32>(move |number, _| {
                Ok(all.get(&number).copied().unwrap_or_default())
            });
            let class = Type::Reg(Reg::Class);
            vec![
                scalar(
                    "pg_relation_is_updatable",
                    &[class, Truth],
                    Int4,
                    kernel.clone(),
                )
                .stable(),
                scalar("pg_relation_is_updatable", &[Oid, Truth], Int4, kernel).stable(),
            ]
        }
        "pg_column_is_updatable" => {
            let snapshot = &relations.snapshot;
            let tables: HashSet<i64> = snapshot
                .all_tables()
                .filter(|(_, table)| table.schema.materialized.is_none())
                .map(|(_, table)| oids::table_number(table))
                .collect();
            let views = oids::relation_numbers(snapshot).into_iter();
            let views = views.filter(|(_, schema, name)| snapshot.view(schema, name).is_some());
            let views = views.map(|(number, schema, name)| {
                let columns = updatable::columns(snapshot, schema, &name);
                (number, columns)
            });
            let views: HashMap<i64, Vec<bool>> = views.collect();
            let kernel = f3::<I64, I16, Bool, Bool>(move |number, column, _| {
                let place = usize::try_from(i32::from(column) - 1).ok();
                let of_view = views.get(&number).zip(place);
                let of_view = of_view.and_then(|(view, place)| view.get(place).copied());
                Ok(of_view.unwrap_or(column > 0 && tables.contains(&number)))
            });
            let parameters = [Type::Reg(Reg::Class), Type::Int2, Truth];
            vec![scalar("pg_column_is_updatable", &parameters, Truth, kernel).stable()]
        }
        "pg_blocking_pids" => {
            let kernel: Kernel = Arc::new(|call, _| {
                let mut lists = ListBuilder::new(Int32Builder::new());
                for _ in 0..call.rows {
                    lists.append(true);
                }
                from_lists(&lists.finish())
            });
            vec![scalar("pg_blocking_pids", &[Int4], Int4.array(), kernel).stable()]
        }
        "pg_indexam_has_property" => {
            let kernel = f2::<I64, Str, Opt<Bool>>(|method, property| {
                Ok(pg_catalog::method_has(method, &property.to_lowercase()))
            });
            let parameters = [Oid, Text];
            vec![scalar("pg_indexam_has_property", &parameters, Truth, kernel).stable()]
        }
        "pg_index_column_has_property" => {
            let indexes = pg_catalog::facts(relations, "pg_index")?;
            let columns = indexes.lists_by("indexrelid", "elements");
            let kernel = f3::<I64, I32, Str, Opt<Bool>>(move |index, column, property| {
                let of = columns.get(&index);
                let known = of.is_some_and(|all| {
                    usize::try_from(column).is_ok_and(|column| (1..=all.len()).contains(&column))
                });
                Ok(match property.to_lowercase().as_str() {
                    _ if !known => None,
                    "asc" | "nulls_last" | "orderable" | "search_array" | "search_nulls"
                    | "returnable" => Some(true),
                    "desc" | "nulls_first" | "distance_orderable" => Some(false),
                    _ => None,
                })
            });
            let parameters = [Type::Reg(Reg::Class), Int4, Text];
            vec![scalar("pg_index_column_has_property", &parameters, Truth, kernel).stable()]
        }
        "age" => {
            // The number of a transaction is that of the version of the catalog.
            let now = pg_catalog::version_of(relations);
            let kernel = f1::<I64, I32>(move |number| {
                Ok(match number {
                    0..3 => i32::MAX,
                    number => i32::try_from(now - number).unwrap_or(i32::MAX),
                })
            });
            vec![scalar("age", &[Type::Internal(Internal::Xid)], Int4, kernel).stable()]
        }
        "format_type" => {
            let known = numbers();
            let kernel = f2::<Opt<I64>, Opt<I32>, Opt<Str>>(move |number, modifier| {
                Ok(number.map(|number| known.type_name(number, modifier.map(i64::from))))
            });
            let function = scalar("format_type", &[Oid, Int4], Text, kernel);
            vec![function.with_nulls().stable()]
        }
        "obj_description" | "col_description" => comments(relations, name)?,
        "pg_get_serial_sequence" => serials(relations)?,
        "pg_relation_size" | "pg_table_size" | "pg_total_relation_size" | "pg_indexes_size" => {
            sizes(relations, name)?
        }
        "pg_database_size" | "pg_tablespace_size" => {
            let all = pg_catalog::facts(relations, "pg_class")?;
            let bytes = all.told("relbytes").map(|fact| match fact {
                Some(Fact::Number(bytes)) => *bytes,
                _ => 0,
            });
            let bytes: i64 = bytes.fold(0, i64::saturating_add);
            let kernel = f0::<I64>(move |_| Ok(bytes));
            let name = one_of(&["pg_database_size", "pg_tablespace_size"], name);
            vec![any(name.unwrap_or_default(), Int8, kernel)]
        }
        "pg_encoding_to_char" => {
            let kernel = f1::<I32, Str>(|number| {
                Ok(match number {
                    0 => "SQL_ASCII",
                    6 => "UTF8",
                    8 => "LATIN1",
                    _ => "",
                }
                .to_owned())
            });
            vec![scalar("pg_encoding_to_char", &[Int4], Name, kernel).stable()]
        }
        "pg_char_to_encoding" => {
            let kernel = f1::<Str, I32>(|name| {
                Ok(match name.to_uppercase().replace('-', "").as_str() {
                    "SQL_ASCII" => 0,
                    "UTF8" | "UNICODE" => 6,
                    "LATIN1" | "ISO88591" => 8,
                    _ => -1,
                })
            });
            vec![scalar("pg_char_to_encoding", &[Name], Int4, kernel).stable()]
        }
        "getdatabaseencoding" => {
            let kernel = f0::<Str>(|_| Ok("UTF8".to_owned()));
            vec![scalar("getdatabaseencoding", &[], Name, kernel).stable()]
        }
        "pg_my_temp_schema" => {
            let own = relations.own_schema();
            let own = own.filter(|own| relations.snapshot.schemas().any(|known| known == own));
            let number = own.map_or(0, |own| objects::schema_number(relations, &own));
            let kernel = f0::<I64>(move |_| Ok(number));
            vec![scalar("pg_my_temp_schema", &[], Oid, kernel).stable()]
        }
        "to_regclass" => by_name("to_regclass", Reg::Class, numbers),
        "to_regtype" => by_name("to_regtype", Reg::Type, numbers),
        "to_regproc" => by_name("to_regproc", Reg::Proc, numbers),
        "to_regprocedure" => by_name("to_regprocedure", Reg::Procedure, numbers),
        "to_regnamespace" => by_name("to_regnamespace", Reg::Namespace, numbers),
        "to_regcollation" => by_name("to_regcollation", Reg::Collation, numbers),
        "to_regrole" => by_name("to_regrole", Reg::Role, numbers),
        "pg_get_function_arguments"
        | "pg_get_function_identity_arguments"
        | "pg_get_function_result" => {
            let known = [
                "pg_get_function_arguments",
                "pg_get_function_identity_arguments",
                "pg_get_function_result",
            ];
            let name = one_of(&known, name).unwrap_or_default();
            let result = name == "pg_get_function_result";
            let own: HashMap<i64, String> = routines::all(relations)
                .map(|(schema, one)| {
                    let text = match name {
                        "pg_get_function_result" => routines::result(&one),
                        "pg_get_function_arguments" => routines::arguments(&one, Some(relations)),
                        _ => routines::arguments(&one, None),
                    };
                    (routines::number(schema, &one), text)
                })
                .collect();
            let kernel = f1::<I64, Opt<Str>>(move |number| {
                let one = procedures::by_number(number);
                let known = one.map(|one| match result {
                    true => one.result(),
                    false => one.arguments(),
                });
                Ok(known.or_else(|| own.get(&number).cloned()))
            });
            vec![scalar(name, &[Oid], Text, kernel).stable()]
        }
        "pg_get_functiondef" | "pg_get_function_sqlbody" => {
            let name = one_of(&["pg_get_functiondef", "pg_get_function_sqlbody"], name);
            let name = name.unwrap_or_default();
            let whole = name == "pg_get_functiondef";
            let own: HashMap<i64, String> = routines::all(relations)
                .filter(|(_, one)| one.aggregation.is_none())
                .filter_map(|(schema, one)| {
                    let text = match whole {
                        true => Some(routines::definition(relations, schema, &one)),
                        false => routines::sql_body(relations, &one),
                    };
                    Some((routines::number(schema, &one), text?))
                })
                .collect();
            vec![scalar(name, &[Oid], Text, looked_up(Arc::new(own))).stable()]
        }
        "pg_get_function_arg_default" => {
            let own: HashMap<i64, Vec<Option<String>>> = routines::all(relations)
                .map(|(schema, one)| {
                    let defaults = one.arguments().into_iter();
                    let defaults = defaults.map(|one| routines::default_of(relations, &one));
                    (routines::number(schema, &one), defaults.collect())
                })
                .collect();
            let kernel = f2::<I64, I32, Opt<Str>>(move |number, place| {
                let place = usize::try_from(place)
                    .ok()
                    .and_then(|place| place.checked_sub(1));
                let all = own.get(&number).zip(place);
                Ok(all.and_then(|(all, place)| all.get(place).cloned().flatten()))
            });
            vec![scalar("pg_get_function_arg_default", &[Oid, Int4], Text, kernel).stable()]
        }
        "pg_function_is_visible" => {
            let known = numbers();
            let kernel = f1::<I64, Opt<Bool>>(move |number| Ok(known.is_visible_routine(number)));
            vec![scalar("pg_function_is_visible", &[Oid], Truth, kernel).stable()]
        }
        "acldefault" => {
            let known = numbers();
            let kernel: Kernel = Arc::new(move |call, columns| {
                let [kinds, owners] = columns else {
                    return Err(Unbound::internal("acldefault without its arguments"));
                };
                let kinds_of = kinds.array.as_string_view();
                let owners_of = owners.array.as_primitive::<Int64Type>();
                let mut lists = ListBuilder::new(StringViewBuilder::new());
                for row in 0..call.rows {
                    if kinds.is_null(row) || owners.is_null(row) {
                        lists.append_null();
                        continue;
                    }
                    let owner = known.role(owners_of.value(owners.at(row)));
                    let kind = kinds_of.value(kinds.at(row));
                    for right in default_rights(kind, owner.unwrap_or_default()) {
                        lists.values().append_value(right);
                    }
                    lists.append(true);
                }
                from_lists(&lists.finish())
            });
            vec![
                scalar(
                    "acldefault",
                    &[Type::CatalogChar, Oid],
                    Type::Internal(Internal::AclItem).array(),
                    kernel,
                )
                .stable(),
            ]
        }
        "pg_postmaster_start_time" | "pg_conf_load_time" => {
            use freestone_frontend::functions::kernel::Stamp;
            let name = one_of(&["pg_postmaster_start_time", "pg_conf_load_time"], name);
            let kernel = f0::<Stamp>(|call| Ok(call.session.transaction_time));
            vec![any(
                name.unwrap_or_default(),
                Type::TimestampTz(None),
                kernel,
            )]
        }
        _ => return Ok(transactions(relations, name)),
    })
}

/// Functions about the transaction in which a statement runs, and about others by their numbers.
fn transactions(relations: &Relations<'_>, name: &str) -> Vec<Scalar> {
    let wide = Type::Internal(Internal::Xid8);
    let number = relations.state.get::<TransactionNumber>();
    let current = |name, returns: Type| {
        let number = number.clone();
        let kernel = f0::<Opt<I64>>(move |_| Ok(number.as_ref().map(|one| one.get() as i64)));
        vec![scalar(name, &[], returns, kernel).stable()]
    };
    let assigned = |name, returns: Type| {
        let number = number.clone();
        let kernel = f0::<Opt<I64>>(move |_| {
            let assigned = number.as_ref().and_then(|one| one.assigned());
            Ok(assigned.map(|number| number as i64))
        });
        vec![scalar(name, &[], returns, kernel).stable()]
    };
    let status = |name, parameter: Type| {
        let number = number.clone();
        let kernel = f1::<I64, Opt<Str>>(move |wanted| {
            let wanted = wanted.cast_unsigned();
            if number.as_ref().is_some_and(|one| one.is_to_come(wanted)) {
                let message = format!("transaction ID {wanted} is in the future");
                return Err(Unbound::new("22023", message));
            }
            let own = number.as_ref().and_then(|one| one.assigned());
            Ok(match wanted {
                // The numbers of what has always been there.
                1 | 2 => Some("committed".to_owned()),
                // It is not kept how transactions have ended.
                wanted => (Some(wanted) == own).then(|| "in progress".to_owned()),
            })
        });
        vec![scalar(name, &[parameter], Type::Text, kernel).volatile()]
    };
    match name {
        "txid_current" => current("txid_current", Type::Int8),
        "pg_current_xact_id" => current("pg_current_xact_id", wide),
        "txid_current_if_assigned" => assigned("txid_current_if_assigned", Type::Int8),
        "pg_current_xact_id_if_assigned" => assigned("pg_current_xact_id_if_assigned", wide),
        "txid_status" => status("txid_status", Type::Int8),
        "pg_xact_status" => status("pg_xact_status", wide),
        _ => Vec::new(),
    }
}

/// The name that is known, with its lifetime.
fn one_of(names: &[&'static str], name: &str) -> Option<&'static str> {
    names.iter().copied().find(|known| *known == name)
}

/// A function of any arguments.
fn any(name: &'static str, returns: Type, kernel: Kernel) -> Scalar {
    scalar(name, &[], returns, kernel)
        .variadic(Type::Any)
        .stable()
}

fn truth(value: bool) -> Kernel {
    f0::<Bool>(move |_| Ok(value))
}

fn looked_up(texts: Arc<HashMap<i64, String>>) -> Kernel {
    let kernel = f1::<I64, Opt<Str>>(move |number| Ok(texts.get(&number).cloned()));
    first_of(kernel)
}

/// A kernel of the first argument as one of several.
fn first_of(kernel: Kernel) -> Kernel {
    Arc::new(move |call, columns| {
        let one = columns.get(..1).unwrap_or_default();
        kernel(call, one)
    })
}

fn by_name(name: &'static str, kind: Reg, numbers: &dyn Fn() -> Arc<Numbers>) -> Vec<Scalar> {
    let objects: Arc<dyn Objects> = numbers();
    vec![found(name, kind, &objects)]
}

fn number(fact: Option<&Fact>) -> i64 {
    match fact {
        Some(Fact::Number(number)) => *number,
        _ => 0,
    }
}

fn text(fact: Option<&Fact>) -> Option<String> {
    match fact {
        Some(Fact::Text(text)) => Some(text.clone()),
        _ => None,
    }
}

/// The definition of a constraint, with brackets everywhere or only where they are needed.
fn shown_condition(text: &str, few: bool) -> String {
    let inner = text.strip_prefix("CHECK (").filter(|_| few);
    let parts = inner.and_then(|inner| inner.rsplit_once(')'));
    match parts {
        Some((condition, behind)) => format!("CHECK ({}){behind}", pretty(condition)),
        None => text.to_owned(),
    }
}

/// An object as it is described to people.
pub(super) struct Identified {
    pub(super) kind: &'static str,
    pub(super) schema: String,
    pub(super) name: String,
}

/// The full name of an object.
pub(super) fn described_object(one: &Identified) -> String {
    format!("{}.{}", quoted(&one.schema), quoted(&one.name))
}

/// Relations by the number of `pg_class` and their own.
///
/// # Errors
/// Errors of reading the catalog.
pub(super) fn identified(relations: &Relations<'_>) -> Result<HashMap<(i64, i64), Identified>> {
    const CLASSES: i64 = 1259;
    let classes = pg_catalog::facts(relations, "pg_class")?;
    let kinds = classes.texts_by("oid", "relkind");
    let all = oids::relation_numbers(&relations.snapshot).into_iter();
    let all = all.filter_map(|(number, schema, name)| {
        let kind = match kinds.get(&number)?.as_str() {
            "r" | "p" => "table",
            "v" => "view",
            "m" => "materialized view",
            "i" | "I" => "index",
            "S" => "sequence",
            _ => return None,
        };
        let schema = shown_schema(schema).to_owned();
        Some(((CLASSES, number), Identified { kind, schema, name }))
    });
    Ok(all.collect())
}

/// How an index would be made, or one of its columns.
fn indexes(relations: &Relations<'_>) -> Result<Vec<Scalar>> {
    let indexes = pg_catalog::facts(relations, "pg_index")?;
    let whole = Arc::new(indexes.texts_by("indexrelid", "definition"));
    let pretty = indexes.texts_by("indexrelid", "pretty");
    let elements = indexes.lists_by("indexrelid", "elements");
    let pretty_elements = indexes.lists_by("indexrelid", "prettyelements");
    let all = Arc::clone(&whole);
    let kernel = f3::<I64, I32, Opt<Bool>, Opt<Str>>(move |index, column, few| {
        let (texts, elements) = match few {
            Some(true) => (&pretty, &pretty_elements),
            _ => (all.as_ref(), &elements),
        };
        Ok(match column {
            0 => texts.get(&index).cloned(),
            column => elements.get(&index).map(|elements| {
                let place = usize::try_from(column).ok();
                let place = place.and_then(|place| place.checked_sub(1));
                let element = place.and_then(|place| elements.get(place));
                element.cloned().unwrap_or_default()
            }),
        })
    });
    let parameters = [Type::Oid, Type::Int4, Type::Bool];
    Ok(vec![
        scalar(
            "pg_get_indexdef",
            &[Type::Oid],
            Type::Text,
            looked_up(whole),
        )
        .stable(),
        scalar("pg_get_indexdef", &parameters, Type::Text, kernel).stable(),
    ])
}

/// Comments on objects or columns.
fn comments(relations: &Relations<'_>, name: &str) -> Result<Vec<Scalar>> {
    let all = pg_catalog::facts(relations, "pg_description")?;
    let (of, class) = (all.told("objoid"), all.told("classoid"));
    let (column, said) = (all.told("objsubid"), all.told("description"));
    let comments = of.zip(class).zip(column.zip(said));
    let comments = comments.filter_map(|((of, class), (column, said))| {
        Some(((number(of), number(column)), (number(class), text(said)?)))
    });
    let comments: HashMap<(i64, i64), (i64, String)> = comments.collect();
    if name == "col_description" {
        let kernel = f2::<I64, I32, Opt<Str>>(move |of, column| {
            let found = comments.get(&(of, column.into()));
            Ok(found.filter(|_| column != 0).map(|(_, text)| text.clone()))
        });
        let parameters = [Type::Oid, Type::Int4];
        return Ok(vec![
            scalar("col_description", &parameters, Type::Text, kernel).stable(),
        ]);
    }
    let comments = Arc::new(comments);
    let of_any = Arc::clone(&comments);
    let classes: HashMap<&str, i64> = pg_catalog::numbers()
        .map(|(number, name)| (name, number))
        .collect();
    let kernel =
        f1::<I64, Opt<Str>>(move |of| Ok(of_any.get(&(of, 0)).map(|(_, text)| text.clone())));
    let of_class = f2::<I64, Str, Opt<Str>>(move |of, class| {
        let class = classes.get(class).copied();
        let found = comments.get(&(of, 0));
        let found = found.filter(|(known, _)| Some(*known) == class);
        Ok(found.map(|(_, text)| text.clone()))
    });
    let parameters = [Type::Oid, Type::Name];
    Ok(vec![
        scalar("obj_description", &[Type::Oid], Type::Text, kernel).stable(),
        scalar("obj_description", &parameters, Type::Text, of_class).stable(),
    ])
}

/// The sequence that numbers a column of a table.
fn serials(relations: &Relations<'_>) -> Result<Vec<Scalar>> {
    let numbers = Numbers::of(relations);
    let attributes = pg_catalog::facts(relations, "pg_attribute")?;
    let (of, name) = (attributes.told("attrelid"), attributes.told("attname"));
    let serial = attributes.told("attserial");
    let all = of
        .zip(name)
        .zip(serial)
        .filter_map(|((of, name), serial)| Some(((number(of), text(name)?), number(serial))));
    let all: HashMap<(i64, String), i64> = all.collect();
    let own = relations.own_schema();
    let sequences = oids::relation_numbers(&relations.snapshot).into_iter();
    let sequences = sequences.map(|(number, schema, name)| {
        let schema = match own.as_deref() == Some(schema) {
            true => PG_TEMP,
            false => shown_schema(schema),
        };
        (number, format!("{}.{}", quoted(schema), quoted(&name)))
    });
    let sequences: HashMap<i64, String> = sequences.collect();
    let kernel = f2::<Str, Str, Opt<Str>>(move |table, column| {
        let of = numbers.number(Reg::Class, table)?;
        let serial = all.get(&(of, column.to_owned())).copied();
        let serial = serial.ok_or_else(|| {
            let message = format!("column \"{column}\" of relation \"{table}\" does not exist");
            freestone_frontend::Error::new("42703", message)
        })?;
        Ok(sequences.get(&serial).cloned())
    });
    let parameters = [Type::Text, Type::Text];
    Ok(vec![
        scalar("pg_get_serial_sequence", &parameters, Type::Text, kernel).stable(),
    ])
}

/// Bytes of relations.
fn sizes(relations: &Relations<'_>, name: &str) -> Result<Vec<Scalar>> {
    let known = [
        "pg_relation_size",
        "pg_table_size",
        "pg_total_relation_size",
        "pg_indexes_size",
    ];
    let name = one_of(&known, name).unwrap_or_default();
    let all = pg_catalog::facts(relations, "pg_class")?;
    let pairs = all.told("oid").zip(all.told("relbytes"));
    // Indexes are parts of their tables' blocks.
    let none = name == "pg_indexes_size";
    let bytes = pairs.map(|(of, bytes)| (number(of), if none { 0 } else { number(bytes) }));
    let bytes: HashMap<i64, i64> = bytes.collect();
    // The catalog's own relations have no rows on disk.
    let size = Arc::new(move |of: i64| {
        let known = bytes.get(&of).copied();
        known.or_else(|| system::numbered(of).map(|_| 0))
    });
    let of_whole = Arc::clone(&size);
    let kernel: Kernel = f1::<I64, Opt<I64>>(move |of| Ok(of_whole(of)));
    let class = Type::Reg(Reg::Class);
    let one = scalar(name, std::slice::from_ref(&class), Type::Int8, kernel).stable();
    let mut all = vec![one];
    if name == "pg_relation_size" {
        // A relation is all in what PostgreSQL calls its main fork.
        let kernel = f2::<I64, Str, Opt<I64>>(move |of, fork| match (size(of), fork) {
            (None, _) => Ok(None),
            (known, "main") => Ok(known),
            (_, "fsm" | "vm" | "init") => Ok(Some(0)),
            _ => Err(Unbound::new("22023", "invalid fork name")
                .with_hint("Valid fork names are \"main\", \"fsm\", \"vm\", and \"init\".")),
        });
        let fork = scalar(name, &[class, Type::Text], Type::Int8, kernel);
        all.push(fork.stable());
    }
    Ok(all)
}

/// The rights that an object of a kind has where nobody gave any, as PostgreSQL shows them: those
/// of everybody, if there are some, and those of its owner.
fn default_rights(kind: &str, owner: &str) -> Vec<String> {
    let (everybody, own) = match kind {
        "r" => ("", "arwdDxt"),
        "s" => ("", "rwU"),
        "d" => ("Tc", "CTc"),
        "f" => ("X", "X"),
        "l" | "T" => ("U", "U"),
        "L" => ("", "rw"),
        "n" => ("", "UC"),
        "p" => ("", "sA"),
        "t" => ("", "C"),
        "F" | "S" => ("", "U"),
        _ => return Vec::new(),
    };
    let mut rights = Vec::new();
    if !everybody.is_empty() {
        rights.push(format!("={everybody}/{owner}"));
    }
    rights.push(format!("{owner}={own}/{owner}"));
    rights
}

/// The texts of the query of a view as PostgreSQL prints it, and with few brackets; both are as it
/// was written if it has a form that is not known.
pub(crate) fn view_definitions(
    relations: &Relations<'_>,
    schema: &str,
    name: &str,
    sql: &str,
) -> [String; 2] {
    // pg_dump takes the last character away.
    let ended = |text: String| format!("{text};");
    match view_texts(relations, (schema, name, sql)) {
        Some(texts) => texts.map(ended),
        None => {
            let text = ended(shown_query(relations, sql));
            [text.clone(), text]
        }
    }
}

/// The text of a view's query, in which names without a schema are of the default one, as the
/// path of the session finds it.
fn shown_query(relations: &Relations<'_>, text: &str) -> String {
    let path = relations.path();
    if path.is_none_or(|path| path.iter().any(|name| meant_schema(name) == DEFAULT_SCHEMA)) {
        return text.to_owned();
    }
    let Ok(ast) = parse_one(text) else {
        return text.to_owned();
    };
    let (catalog, given) = (relations.snapshot.catalog(), names_of_with(&ast));
    let relation = |name: &str| !given.contains(name) && has_rows(catalog, DEFAULT_SCHEMA, name);
    let function = |name: &str| has_function(catalog, DEFAULT_SCHEMA, name);
    with_schema(
        (text, &ast),
        shown_schema(DEFAULT_SCHEMA),
        relation,
        function,
    )
}
