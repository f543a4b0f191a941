//! Expressions as text.

use std::collections::HashMap;

use super::naming::Naming;
use super::tree::{Bounds, Call, Frame, Key, Node, Over, Piece, Range, SubKind, Window};
use freestone_frontend::functions::is_unreserved;

/// A name in double quotes where PostgreSQL writes them: it has other letters than small ones, or
/// is a word of the grammar that is no name everywhere.
pub(super) fn quoted(name: &str) -> String {
    let plain = name
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && is_unreserved(name);
    match plain {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// The text of a literal.
pub(super) fn in_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The names of relations and functions as they are found.
pub(super) trait Shown {
    fn relation(&self, schema: &str, name: &str, hidden: bool) -> String;
    fn function(&self, schema: &str, name: &str) -> String;
}

/// Those of an expression over no relation.
pub(super) struct NoNames;

impl Shown for NoNames {
    fn relation(&self, _: &str, name: &str, _: bool) -> String {
        quoted(name)
    }
    fn function(&self, schema: &str, name: &str) -> String {
        format!("{}.{}", quoted(crate::names::shown_schema(schema)), name)
    }
}

/// Columns by which a level is indented, those of a join and those of a list.
pub(super) const LEVEL: isize = 8;
pub(super) const JOIN: usize = 4;
pub(super) const LIST: usize = 4;
/// The level from which on less is indented.
const DEEP: isize = 40;

/// Writes queries and expressions.
pub(super) struct Printer<'p> {
    pub(super) text: String,
    /// Whether brackets are written only where they are needed.
    pub(super) pretty: bool,
    /// Whether all is written in one line.
    pub(super) inline: bool,
    pub(super) level: isize,
    pub(super) ranges: &'p [Range],
    pub(super) names: HashMap<usize, Naming>,
    /// Names of relations of the queries around.
    pub(super) around: Vec<String>,
    /// Names of WITH of the queries around and of this one.
    pub(super) ctes: Vec<String>,
    pub(super) shown: &'p dyn Shown,
}

impl Call {
    /// Whether it is one of the words of the grammar that are no functions.
    fn is_word(&self) -> bool {
        let words = ["COALESCE", "GREATEST", "LEAST", "NULLIF", "GROUPING"];
        words.contains(&self.name.as_str())
    }
}

impl Node {
    pub(super) fn shown(&self, pretty: bool) -> String {
        let mut printer = Printer::new(pretty, &[], &NoNames);
        printer.node(self, false);
        printer.text
    }

    /// Whether it needs no brackets in another part, of which it may be the left operand.
    fn is_simple(&self, parent: &Node, left: bool) -> bool {
        let listed = matches!(
            parent,
            Node::Call(_) | Node::Array(_) | Node::Row(_) | Node::Case { .. } | Node::Subscript(..)
        );
        let of_logic = matches!(parent, Node::Logic(..) | Node::Not(_));
        match self {
            Node::Name(_)
            | Node::Parameter { .. }
            | Node::Column { .. }
            | Node::Untyped(_)
            | Node::Literal(..)
            | Node::Call(..)
            | Node::Syntax(_)
            | Node::Array(_)
            | Node::Row(_)
            | Node::Subscript(..)
            | Node::Case { .. } => true,
            Node::Cast {
                inner,
                relabels: true,
                ..
            } => inner.is_simple(self, false),
            Node::Cast { .. } => true,
            Node::Field(..) => !matches!(parent, Node::Field(..)),
            Node::Operator(symbol, operand, _) => match parent {
                Node::Operator(of, of_operand, _) => {
                    let both = operand.is_some() && of_operand.is_some();
                    let product = |symbol: &str| matches!(symbol, "*" | "/" | "%");
                    let sum = |symbol: &str| matches!(symbol, "+" | "-");
                    match (symbol.as_str(), of.as_str()) {
                        _ if !both => false,
                        (symbol, of) if product(symbol) && sum(of) => true,
                        (symbol, of) if product(symbol) && product(of) => left,
                        (symbol, of) if sum(symbol) && sum(of) => left,
                        _ => false,
                    }
                }
                _ => listed || of_logic,
            },
            Node::Test(..) | Node::Distinct(..) | Node::Query(_) => listed || of_logic,
            Node::Logic("OR", _) => listed || matches!(parent, Node::Logic("OR", _)),
            Node::Logic(..) | Node::Not(_) => listed || matches!(parent, Node::Logic(..)),
            Node::Any { .. } | Node::Rows(..) | Node::Collate(..) => false,
        }
    }
}

impl<'p> Printer<'p> {
    pub(super) fn new(pretty: bool, ranges: &'p [Range], shown: &'p dyn Shown) -> Self {
        Printer {
            text: String::new(),
            pretty,
            inline: false,
            level: 0,
            ranges,
            names: HashMap::new(),
            around: Vec::new(),
            ctes: Vec::new(),
            shown,
        }
    }

    pub(super) fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// A text behind a blank, which one line has not.
    pub(super) fn begin(&mut self, text: &str) {
        if !self.inline {
            self.text.push(' ');
        }
        self.text.push_str(text);
    }

    pub(super) fn open(&mut self) {
        if !self.pretty {
            self.text.push('(');
        }
    }

    pub(super) fn close(&mut self) {
        if !self.pretty {
            self.text.push(')');
        }
    }

    /// A word at the beginning of a line: the level changes before it and behind it.
    pub(super) fn line(&mut self, word: &str, before: isize, behind: isize, more: usize) {
        if self.inline {
            let apart = !word.is_empty() && !word.starts_with([' ', ')']);
            if apart && !self.text.is_empty() && !self.text.ends_with([' ', '(', '[']) {
                self.text.push(' ');
            }
            self.text.push_str(word);
            return;
        }
        self.level += before;
        while self.text.ends_with(' ') {
            self.text.pop();
        }
        self.text.push('\n');
        let level = match self.level < DEEP {
            true => self.level.max(0),
            false => (DEEP + (self.level - DEEP) / (LEVEL / 2)) % DEEP,
        };
        let indent = usize::try_from(level).unwrap_or(0) + more;
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.text.push_str(word);
        self.level = (self.level + behind).max(0);
    }

    /// What a part writes, taken out of the text.
    pub(super) fn aside(&mut self, part: impl FnOnce(&mut Self)) -> String {
        let before = std::mem::take(&mut self.text);
        part(self);
        std::mem::replace(&mut self.text, before)
    }

    /// A part of another, in brackets if it needs them.
    fn inner(&mut self, node: &Node, parent: &Node, left: bool, implicit: bool) {
        let bare = !self.pretty || node.is_simple(parent, left);
        if !bare {
            self.text.push('(');
        }
        self.node(node, implicit);
        if !bare {
            self.text.push(')');
        }
    }

    pub(super) fn list(&mut self, all: &[Node]) {
        for (at, one) in all.iter().enumerate() {
            if at > 0 {
                self.put(", ");
            }
            self.node(one, true);
        }
    }

    /// An item of a list, in which a whole row has its type.
    pub(super) fn item(&mut self, node: &Node, implicit: bool) {
        self.node(node, implicit);
        if let Node::Column {
            column: None, row, ..
        } = node
        {
            self.put(&format!("::{row}"));
        }
    }

    /// The name of a column, without that of its relation.
    pub(super) fn column_name(&self, node: &Node) -> Option<String> {
        let Node::Column { range, column, .. } = node else {
            return None;
        };
        let naming = self.names.get(range)?;
        naming.columns.get((*column)?).cloned()
    }

    /// A parameter; beside relations it has the name of its function before it.
    fn parameter(&mut self, function: &str, name: &str) {
        if name.starts_with('$') {
            self.put(name);
            return;
        }
        if !self.names.is_empty() {
            self.put(&quoted(function));
            self.put(".");
        }
        self.put(&quoted(name));
    }

    fn column(&mut self, range: usize, column: Option<usize>) {
        let Some(naming) = self.names.get(&range) else {
            return;
        };
        let mut text = String::new();
        if let Some(name) = &naming.name {
            text.push_str(&quoted(name));
            text.push('.');
        }
        match column {
            Some(column) => {
                let name = naming.columns.get(column).map_or("", String::as_str);
                text.push_str(&quoted(name));
            }
            None => text.push('*'),
        }
        self.put(&text);
    }

    /// A part; casts that its context asks for are written only if that is not seen.
    pub(super) fn node(&mut self, node: &Node, implicit: bool) {
        match node {
            Node::Name(name) => self.put(name),
            Node::Parameter { function, name } => self.parameter(function, name),
            Node::Column { range, column, .. } => self.column(*range, *column),
            Node::Untyped(text) => self.put(&in_quotes(text)),
            Node::Literal(text, label) => {
                self.put(text);
                if let Some(label) = label {
                    self.put("::");
                    self.put(label);
                }
            }
            Node::Cast {
                inner,
                implicit: true,
                ..
            } if !implicit => self.inner(inner, node, false, false),
            Node::Cast {
                inner,
                ty,
                bare: true,
                ..
            } if let Node::Literal(text, _) = inner.as_ref() => {
                self.put(text);
                self.put("::");
                self.put(ty);
            }
            Node::Cast { inner, ty, .. } => {
                if matches!(inner.as_ref(), Node::Array(elements) if elements.is_empty()) {
                    self.put(&format!("ARRAY[]::{ty}"));
                    return;
                }
                self.open();
                self.inner(inner, node, false, false);
                self.close();
                self.put("::");
                self.put(ty);
            }
            Node::Call(call) => self.call(call),
            Node::Syntax(pieces) => {
                for piece in pieces {
                    match piece {
                        Piece::Words(words) => self.put(words),
                        Piece::Alone(part) => self.node(part, false),
                        Piece::Operand(part) => self.inner(part, node, false, false),
                    }
                }
            }
            Node::Operator(symbol, left, right) => {
                self.open();
                if let Some(left) = left {
                    self.inner(left, node, true, true);
                    self.put(" ");
                }
                self.put(symbol);
                self.put(" ");
                self.inner(right, node, false, true);
                self.close();
            }
            Node::Logic(word, parts) => {
                self.open();
                for (at, part) in parts.iter().enumerate() {
                    if at > 0 {
                        self.put(&format!(" {word} "));
                    }
                    self.inner(part, node, at == 0, false);
                }
                self.close();
            }
            Node::Not(inner) => {
                self.open();
                self.put("NOT ");
                self.inner(inner, node, false, false);
                self.close();
            }
            Node::Test(inner, what, shows) => {
                self.open();
                self.inner(inner, node, false, *shows);
                self.put(" ");
                self.put(what);
                self.close();
            }
            Node::Distinct(left, right) => {
                self.open();
                self.inner(left, node, true, true);
                self.put(" IS DISTINCT FROM ");
                self.inner(right, node, false, true);
                self.close();
            }
            Node::Any {
                symbol,
                value,
                array,
                word,
                ty,
            } => {
                self.open();
                self.inner(value, node, true, true);
                self.put(&format!(" {symbol} {word} ("));
                self.inner(array, node, false, true);
                let is_value = |sub: &super::tree::Sub| matches!(sub.kind, SubKind::Value);
                if matches!(array.as_ref(), Node::Query(sub) if is_value(sub)) {
                    self.put(&format!("::{ty}"));
                }
                self.put(")");
                self.close();
            }
            Node::Array(elements) => {
                self.put("ARRAY[");
                self.list(elements);
                self.put("]");
            }
            Node::Row(values) => {
                self.put("ROW(");
                for (at, value) in values.iter().enumerate() {
                    if at > 0 {
                        self.put(", ");
                    }
                    self.item(value, true);
                }
                self.put(")");
            }
            Node::Rows(left, symbol, right) => {
                self.put("(ROW(");
                self.list(left);
                self.put(&format!(") {symbol} ROW("));
                self.list(right);
                self.put("))");
            }
            Node::Case {
                operand,
                branches,
                otherwise,
            } => {
                self.line("CASE", 0, LIST as isize, 0);
                if let Some(operand) = operand {
                    self.put(" ");
                    self.node(operand, true);
                }
                for (condition, value) in branches {
                    self.line("WHEN ", 0, 0, 0);
                    self.node(condition, false);
                    self.put(" THEN ");
                    self.node(value, true);
                }
                if let Some(otherwise) = otherwise {
                    self.line("ELSE ", 0, 0, 0);
                    self.node(otherwise, true);
                }
                self.line("END", -(LIST as isize), 0, 0);
            }
            Node::Collate(inner, collation) => {
                self.open();
                self.inner(inner, node, false, implicit);
                self.put(&format!(" COLLATE {collation}"));
                self.close();
            }
            Node::Subscript(base, subscripts) => {
                let bare = matches!(
                    base.as_ref(),
                    Node::Column { .. } | Node::Name(_) | Node::Field(..)
                );
                self.bracketed(base, bare, implicit);
                for one in subscripts {
                    self.put("[");
                    match one {
                        Bounds::Element(index) => self.node(index, false),
                        Bounds::Slice(low, high) => {
                            for (at, bound) in [low, high].into_iter().enumerate() {
                                if at > 0 {
                                    self.put(":");
                                }
                                if let Some(bound) = bound {
                                    self.node(bound, false);
                                }
                            }
                        }
                    }
                    self.put("]");
                }
            }
            Node::Field(record, field) => {
                let bare = matches!(record.as_ref(), Node::Subscript(..) | Node::Field(..));
                self.bracketed(record, bare, true);
                self.put(&format!(".{}", quoted(field)));
            }
            Node::Query(sub) => self.subquery(sub),
        }
    }

    fn bracketed(&mut self, node: &Node, bare: bool, implicit: bool) {
        if !bare {
            self.put("(");
        }
        self.node(node, implicit);
        if !bare {
            self.put(")");
        }
    }

    fn subquery(&mut self, sub: &super::tree::Sub) {
        self.put(if matches!(sub.kind, SubKind::Array) {
            "ARRAY("
        } else {
            "("
        });
        let mut brackets = false;
        match &sub.kind {
            SubKind::Value | SubKind::Array => {}
            SubKind::Exists => {
                self.put("EXISTS ");
                brackets = true;
            }
            SubKind::Compared { left, symbol, word } => {
                brackets = true;
                match left.as_slice() {
                    [only] => self.node(only, true),
                    several => {
                        self.put("(");
                        self.list(several);
                        self.put(")");
                    }
                }
                match (symbol.as_str(), *word) {
                    ("=", "ANY") => self.put(" IN "),
                    (symbol, "") => self.put(&format!(" {symbol} ")),
                    (symbol, word) => self.put(&format!(" {symbol} {word} ")),
                }
            }
        }
        if brackets {
            self.put("(");
        }
        self.query(&sub.query, &[], false);
        self.put(if brackets { "))" } else { ")" });
    }

    fn call(&mut self, call: &Call) {
        let name = match (&call.schema, call.created) {
            (Some(schema), true) => self.shown.function(schema, &call.name),
            (Some(schema), false) => format!("{}.{}", quoted(schema), call.name),
            (None, _) => call.name.clone(),
        };
        self.put(&name);
        self.put("(");
        if call.distinct {
            self.put("DISTINCT ");
        }
        if call.star {
            self.put("*");
        }
        for (at, argument) in call.arguments.iter().enumerate() {
            if at > 0 {
                self.put(", ");
            }
            if call.variadic && at + 1 == call.arguments.len() && call.named.is_empty() {
                self.put("VARIADIC ");
            }
            self.node(argument, true);
        }
        for (at, (name, argument)) in call.named.iter().enumerate() {
            if at > 0 || !call.arguments.is_empty() {
                self.put(", ");
            }
            self.put(&format!("{} => ", quoted(name)));
            self.node(argument, true);
        }
        if !call.order.is_empty() {
            self.put(match call.within {
                true => ") WITHIN GROUP (ORDER BY ",
                false => " ORDER BY ",
            });
            self.keys(&call.order, false);
        }
        if let Some(filter) = &call.filter {
            self.put(") FILTER (WHERE ");
            self.node(filter, false);
        }
        self.put(")");
        match &call.over {
            None => {}
            Some(Over::Named(name)) => {
                self.put(" OVER ");
                self.put(&quoted(name));
            }
            Some(Over::Window(window)) => {
                self.put(" OVER ");
                self.window(window);
            }
        }
    }

    pub(super) fn window(&mut self, window: &Window) {
        let mut space = "";
        self.put("(");
        if let Some(base) = &window.base {
            self.put(&quoted(base));
            space = " ";
        }
        if !window.partition.is_empty() {
            self.put(&format!("{space}PARTITION BY "));
            for (at, key) in window.partition.iter().enumerate() {
                if at > 0 {
                    self.put(", ");
                }
                self.key(key);
            }
            space = " ";
        }
        if !window.order.is_empty() {
            self.put(&format!("{space}ORDER BY "));
            self.keys(&window.order, false);
            space = " ";
        }
        if let Some(frame) = &window.frame {
            self.put(space);
            self.frame(frame);
        }
        self.put(")");
    }

    fn frame(&mut self, frame: &Frame) {
        self.put(frame.units);
        if frame.end.is_some() {
            self.put(" BETWEEN");
        }
        let bounds = std::iter::once(&frame.start).chain(&frame.end);
        for (at, bound) in bounds.enumerate() {
            self.put(if at > 0 { " AND " } else { " " });
            if let Some(distance) = &bound.distance {
                self.node(distance, false);
                self.put(" ");
            }
            self.put(bound.words);
        }
        if let Some(exclude) = frame.exclude {
            self.put(&format!(" EXCLUDE {exclude}"));
        }
    }

    /// Keys of an order, by their places in the list if that is asked for.
    pub(super) fn keys(&mut self, keys: &[Key], by_place: bool) {
        for (at, key) in keys.iter().enumerate() {
            if at > 0 {
                self.put(", ");
            }
            match key.place.filter(|_| by_place) {
                Some(place) => self.put(&place.to_string()),
                None => self.key(&key.node),
            }
            self.put(&key.direction);
        }
    }

    /// A key of an order or a group. A constant has its type, so that it is no place in a list.
    pub(super) fn key(&mut self, node: &Node) {
        match node {
            Node::Column { .. } => self.node(node, true),
            Node::Literal(text, None) => {
                let ty = match text.as_str() {
                    "true" | "false" => "boolean",
                    text if text.contains(['.', 'e', 'E']) => "numeric",
                    _ => "integer",
                };
                self.put(&format!("{text}::{ty}"));
            }
            Node::Literal(..) => self.node(node, true),
            _ => {
                let is_call = match node {
                    Node::Call(call) => !call.is_word(),
                    Node::Syntax(_) => true,
                    Node::Cast { relabels, .. } => !relabels,
                    _ => false,
                };
                let brackets = self.pretty || is_call;
                self.bracketed(node, !brackets, true);
            }
        }
    }
}
