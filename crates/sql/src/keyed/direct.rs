//! Statements over one table whose keys, or first columns of them, alone decide which rows they
//! are of: no condition is left to be tested, and values are computed row by row.
//!
//! ```text
//! SELECT tax, next + 1 FROM district WHERE w_id = $1 AND id = $2
//! UPDATE stock SET quantity = $1, ytd = ytd + $2 WHERE (w_id, i_id) IN (($3, $4), ($3, $5))
//! ```
//!
//! Columns that stay as they are go from the look-up to the result, or to the new version of the
//! row, and become no arrays on the way. Expressions are computed value by value where they can be
//! (`cells`), and all others over arrays of the columns that they read.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use freestone_frontend::evaluate::{Input, evaluate, expanded};
use freestone_frontend::functions::kernel::Column as Computed;
use freestone_frontend::plan::{ColumnId, Expr, ExprKind, Plan};
use freestone_frontend::types::Type;
use freestone_storage::delta::arrays;
use freestone_storage::row::cell;
use freestone_storage::{Column, FoundRows, KeyLookUp, Row, RowId, Table, Value};

use super::access::{Access, By, Given, stored};
use super::cells::Cells;
use super::given::Parameters;
use super::{MOST_ROWS, Seen, found, is_held_otherwise, of_ids};
use crate::error::{Error, Result};
use crate::lower::{is_shown_otherwise, shown_field, shown_values};
use crate::values::assign;
use crate::values::convert::loaded;

/// A look-up whose rows are those of the result.
#[derive(Debug)]
pub(super) struct Direct {
    way: Way,
    /// The columns that the look-up reads, as they are stored.
    columns: Vec<Column>,
    items: Vec<Item>,
    /// The columns that expressions read: their number in the plan, their type and their place in
    /// the look-up.
    read: Vec<(ColumnId, Type, usize)>,
    /// The result for clients; `None` if values are not shown by themselves.
    answer: Option<SchemaRef>,
    /// The columns of the result that are shown otherwise than they are held, and their types.
    otherwise: Vec<(usize, Type)>,
    /// The columns of the look-up that the result has, if it has no others and shows them as they
    /// are, or with blanks up to the length of their type.
    plain: Option<Plain>,
}

/// The way to the rows.
#[derive(Debug)]
enum Way {
    /// By all columns of a key.
    Key(KeyLookUp),
    /// By the first columns of a key or of an index, with the columns of the table to be read.
    First(Vec<usize>),
}

/// Adds blanks to a text up to a number of characters.
fn fill(text: &mut Vec<u8>, width: u32) {
    // Bytes within a character begin with the bits 10.
    let characters = text.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
    let missing = (width as usize).saturating_sub(characters);
    text.resize(text.len() + missing, b' ');
}

/// A result of nothing but columns of a look-up.
#[derive(Debug)]
enum Plain {
    /// All of them, in their order.
    All,
    /// The columns at these places of the look-up.
    Some(Vec<usize>),
}

impl Plain {
    fn of(items: &[Item], columns: usize) -> Option<Plain> {
        let places = items.iter().map(|item| match item {
            Item::Stored(place) => Some(*place),
            Item::Id | Item::Computed(_) => None,
        });
        let places = places.collect::<Option<Vec<usize>>>()?;
        let in_order = places.iter().enumerate().all(|(at, place)| at == *place);
        Some(match in_order && places.len() == columns {
            true => Plain::All,
            false => Plain::Some(places),
        })
    }
}

/// A column of the result.
#[derive(Debug)]
enum Item {
    /// The row's id.
    Id,
    /// A column of the look-up.
    Stored(usize),
    Computed(Expr),
}

impl Direct {
    /// The look-up of a plan with the names, types and columns of its result; `None` if more
    /// has to be done.
    pub(super) fn of(
        plan: &Plan,
        accesses: &[Access],
        shown: &[(String, Type, ColumnId)],
    ) -> Option<Direct> {
        let [access] = accesses else {
            return None;
        };
        if !access.is_exact || access.may_overlap() {
            return None;
        }
        let mut parts: Vec<Expr> = shown
            .iter()
            .map(|(_, ty, id)| Expr::new(ExprKind::Column(*id), ty.clone()))
            .collect();
        let mut plan = plan;
        let table = loop {
            match plan {
                Plan::Project { input, items } => {
                    for part in &mut parts {
                        let ExprKind::Column(id) = part.kind else {
                            // An expression over a projection would have to be put together.
                            return None;
                        };
                        let mut items = items.iter();
                        let (_, expr) = items.find(|(column, _)| column.id == id)?;
                        *part = expr.clone();
                    }
                    plan = input;
                }
                Plan::Filter { input, .. } => plan = input,
                Plan::Scan { relation, .. } => break stored(relation)?,
                _ => return None,
            }
        };
        // The columns of the plan in their order, with their places in the table.
        let mut positions = access.columns.iter();
        let mut stored: Vec<(ColumnId, &Type, Option<usize>)> = Vec::new();
        for (column, is_id) in &access.read {
            let place = match is_id {
                true => None,
                false => Some(*positions.next()?),
            };
            stored.push((column.id, &column.ty, place));
        }
        let known = |id: &ColumnId| stored.iter().find(|(known, ..)| known == id);
        let mut needed = HashSet::new();
        let mut places: Vec<usize> = Vec::new();
        let mut place_of = |at: usize| match places.iter().position(|known| *known == at) {
            Some(place) => place,
            None => {
                places.push(at);
                places.len() - 1
            }
        };
        let mut items = Vec::with_capacity(parts.len());
        for part in parts {
            items.push(match relabelled(&part) {
                Some(id) => match known(&id)? {
                    (_, _, None) => Item::Id,
                    (_, _, Some(at)) => Item::Stored(place_of(*at)),
                },
                None => {
                    part.read(&mut needed);
                    Item::Computed(part)
                }
            });
        }
        let mut read = Vec::with_capacity(needed.len());
        for id in needed {
            let (_, ty, at) = known(&id)?;
            read.push((id, (*ty).clone(), place_of((*at)?)));
        }
        let column = |at: &usize| table.schema.columns[*at].clone();
        let columns: Vec<Column> = places.iter().map(column).collect();
        let fields = items.iter().zip(shown).map(|(item, (name, ty, _))| {
            let held = match item {
                Item::Stored(place) => columns[*place].kind.arrow(),
                Item::Id | Item::Computed(_) => ty.arrow(),
            };
            shown_field(name, ty).filter(|_| held == ty.arrow())
        });
        let fields: Option<Vec<_>> = fields.collect();
        let types = shown.iter().map(|(_, ty, _)| ty.clone()).enumerate();
        let otherwise = types.filter(|(_, ty)| is_shown_otherwise(ty));
        let otherwise: Vec<(usize, Type)> = otherwise.collect();
        let plain = Plain::of(&items, columns.len());
        let way = match &access.by {
            By::Key(by) => {
                let look_up = KeyLookUp::prepare(&table.schema, by.key(), &places).ok()?;
                Way::Key(look_up.of_reader())
            }
            By::First { .. } => Way::First(places),
        };
        Some(Direct {
            way,
            plain: plain.filter(|_| {
                let mut types = otherwise.iter().map(|(_, ty)| ty);
                fields.is_some() && types.all(|ty| matches!(ty, Type::Char(Some(_))))
            }),
            answer: fields.map(|fields| Arc::new(Schema::new(fields))),
            otherwise,
            columns,
            items,
            read,
        })
    }

    /// The rows of the keys; `None` if there are many, the table is not there, or a key cannot be
    /// computed.
    ///
    /// # Errors
    /// Errors of reading them.
    pub(super) fn found(
        &self,
        access: &Access,
        seen: &Seen<'_>,
        parameters: &Parameters<'_>,
    ) -> Result<Option<FoundRows>> {
        let Some(table) = access.table_in(seen.snapshot) else {
            return Ok(None);
        };
        let Some(keys) = access.values(&seen.given(parameters), &[]) else {
            return Ok(None);
        };
        let look_up = match &self.way {
            Way::Key(look_up) => look_up,
            Way::First(columns) => {
                let of = (access, keys.as_slice(), columns.as_slice());
                let seen = (seen.snapshot, table, seen.record);
                return found(of, seen, parameters, &mut { MOST_ROWS });
            }
        };
        table.activity().looked_up(keys.len() as u64);
        let view = seen.snapshot.read_view(table.id);
        let mut rows = FoundRows::default();
        for key in &keys {
            rows.extend_rows(table.find(&view, look_up, &key.values)?);
            if keys.len() > 1 && rows.len() > MOST_ROWS {
                return Ok(None);
            }
        }
        Ok(Some(rows))
    }

    /// The rows of the result as they are stored; `None` if it has computed columns, or the
    /// table is not there.
    ///
    /// # Errors
    /// Errors of reading them.
    pub(super) fn stored_rows(
        &self,
        access: &Access,
        seen: &Seen<'_>,
        parameters: &Parameters<'_>,
    ) -> Result<Option<Vec<Row>>> {
        // Rows of many keys come as columns.
        let (Some(plain), Way::Key(_)) = (&self.plain, &self.way) else {
            return Ok(None);
        };
        let Some(found) = self.found(access, seen, parameters)? else {
            return Ok(None);
        };
        let rows = found.into_rows().into_iter().map(|(_, row)| {
            let mut row: Row = match plain {
                Plain::All => row,
                Plain::Some(places) => places.iter().map(|place| row[*place].clone()).collect(),
            };
            for (at, ty) in &self.otherwise {
                if let (Type::Char(Some(width)), Some(Value::Bytes(text))) = (ty, &mut row[*at]) {
                    fill(text, *width);
                }
            }
            row
        });
        Ok(Some(rows.collect()))
    }

    /// Whether the values of its result are shown by themselves.
    pub(super) fn is_shown(&self) -> bool {
        self.answer.is_some()
    }

    /// The result of found rows as clients are shown it; `None` if values are not shown by
    /// themselves.
    ///
    /// # Errors
    /// Errors of functions.
    pub(super) fn answer(
        &self,
        found: FoundRows,
        seen: &Seen<'_>,
        parameters: &Parameters<'_>,
    ) -> Result<Option<RecordBatch>> {
        let Some(schema) = &self.answer else {
            return Ok(None);
        };
        let given = &seen.given(parameters);
        let (ids, stored) = found.into_columns(&self.columns)?;
        let columns = self.items.iter().map(|item| match item {
            Item::Stored(place) => Ok(Arc::clone(&stored[*place])),
            Item::Computed(expr) => {
                let held = |place: usize| Ok(Arc::clone(&stored[place]));
                self.computed(expr, ids.len(), &held, given)
            }
            Item::Id => of_ids(&ids),
        });
        let mut columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        for (at, ty) in &self.otherwise {
            columns[*at] = shown_values(ty, &columns[*at], given.session)?;
        }
        let mut fields = columns.iter().zip(schema.fields());
        if !fields.all(|(array, field)| array.data_type() == field.data_type()) {
            return Ok(None);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(ids.len()));
        let batch = RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?;
        Ok(Some(batch))
    }

    /// The ids of the rows and their new versions, of a result that has the id and all columns of
    /// the table, or the id alone; `None` if a value does not fit, or the table is not there.
    ///
    /// # Errors
    /// As [`Direct::answer`].
    pub(super) fn versions(
        &self,
        access: &Access,
        seen: &Seen<'_>,
        parameters: &Parameters<'_>,
        table: &Table,
    ) -> Result<Option<Vec<(RowId, Row)>>> {
        let Some((Item::Id, items)) = self.items.split_first() else {
            return Ok(None);
        };
        let Some(found) = self.found(access, seen, parameters)? else {
            return Ok(None);
        };
        let (found, given) = (found.into_rows(), &seen.given(parameters));
        if items.is_empty() || found.is_empty() {
            return Ok(Some(found));
        }
        if items.len() != table.schema.columns.len() {
            return Ok(None);
        }
        if let [(id, old)] = found.as_slice()
            && let Some(version) = self.version(items, old, given.parameters, table)
        {
            return Ok(Some(vec![(*id, version)]));
        }
        let mut computed: Vec<(usize, ArrayRef)> = Vec::new();
        for (at, (item, column)) in items.iter().zip(&table.schema.columns).enumerate() {
            let Item::Computed(expr) = item else {
                continue;
            };
            let held = |place: usize| {
                let column = std::slice::from_ref(&self.columns[place]);
                let values = found.iter().map(|(_, row)| vec![row[place].clone()]);
                let mut array = arrays(column, &values.collect::<Vec<Row>>())?;
                array
                    .pop()
                    .ok_or_else(|| Error::internal("a column without values"))
            };
            let array = self.computed(expr, found.len(), &held, given)?;
            let array = assign(&array, column)
                .map_err(|bad| bad.error.with_detail(format!("column \"{}\"", column.name)))?;
            if !column.nullable && array.null_count() > 0 {
                return Ok(None);
            }
            computed.push((at, array));
        }
        let mut rows = Vec::with_capacity(found.len());
        for (number, (id, old)) in found.into_iter().enumerate() {
            let mut version = Row::with_capacity(items.len());
            let mut computed = computed.iter();
            for item in items {
                version.push(match item {
                    Item::Stored(place) => old[*place].clone(),
                    Item::Computed(_) => {
                        let (_, array) = computed
                            .next()
                            .ok_or_else(|| Error::internal("a value was not computed"))?;
                        cell(array, number)
                    }
                    Item::Id => return Ok(None),
                });
            }
            rows.push((id, version));
        }
        Ok(Some(rows))
    }

    /// The new version of a row whose values are computed one by one; `None` if one cannot be.
    fn version(
        &self,
        items: &[Item],
        old: &Row,
        parameters: &Parameters<'_>,
        table: &Table,
    ) -> Option<Row> {
        let column = |id: ColumnId| {
            let (_, ty, place) = self.read.iter().find(|(known, ..)| *known == id)?;
            Some((old.get(*place)?.as_ref(), ty))
        };
        let cells = Cells {
            column: &column,
            parameters,
        };
        let values = items.iter().zip(&table.schema.columns);
        let values = values.map(|(item, column)| match item {
            Item::Stored(place) => old.get(*place).cloned(),
            Item::Computed(expr) => cells.stored(expr, column),
            Item::Id => None,
        });
        values.collect()
    }

    /// The values of an expression for some rows, whose columns `held` gives by their places.
    fn computed(
        &self,
        expr: &Expr,
        rows: usize,
        held: &dyn Fn(usize) -> Result<ArrayRef>,
        given: &Given<'_>,
    ) -> Result<ArrayRef> {
        let mut ids = HashSet::new();
        expr.read(&mut ids);
        let mut columns: Vec<(ColumnId, ArrayRef)> = Vec::with_capacity(ids.len());
        for (id, ty, place) in self.read.iter().filter(|(id, ..)| ids.contains(id)) {
            let array = held(*place)?;
            columns.push(match is_held_otherwise(array.data_type(), ty) {
                true => (*id, loaded(&array, ty)?),
                false => (*id, array),
            });
        }
        let column = |id: ColumnId| {
            let found = columns.iter().find(|(known, _)| *known == id);
            found.map(|(_, array)| Computed::rows(Arc::clone(array)))
        };
        let input = Input {
            parameters: given.parameters.arrays(),
            ..Input::new(rows, &column, given.session)
        };
        Ok(expanded(&evaluate(expr, &input)?, rows))
    }
}

/// The column that an expression is, apart from a cast that takes the length from the type of a
/// text.
fn relabelled(expr: &Expr) -> Option<ColumnId> {
    match &expr.kind {
        ExprKind::Column(id) => Some(*id),
        ExprKind::Call {
            function,
            arguments,
        } if function.name == "cast" => match arguments.as_slice() {
            [only] => {
                let is_text = matches!(only.ty, Type::Varchar(_) | Type::Char(_));
                let same = is_text && only.ty.without_length() == expr.ty;
                relabelled(only).filter(|_| same)
            }
            _ => None,
        },
        _ => None,
    }
}
