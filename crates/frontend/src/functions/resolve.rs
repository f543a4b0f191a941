//! Overload resolution, by PostgreSQL's rules.
//!
//! Of the overloads that take as many arguments, those stay whose parameters the arguments can
//! be cast to implicitly; a literal in quotes can be cast to anything. Then, until one is left:
//! most parameters that are the arguments' own types; most that are those or preferred types of
//! their category; for literals, the string category if one overload has it, else the category
//! that all have in common, and preferred types in it; at last, the type that all other
//! arguments have, for the literals, too.

use std::sync::Arc;

use super::{Cast, Catalogue, Context, Returns, Scalar, catalogue};
use crate::types::{Category, Fields, RangeOf, Type};

/// The overload that a call means.
#[derive(Clone, Debug)]
pub struct Resolved<F> {
    /// The overload.
    pub function: Arc<F>,
    /// The type that each argument is to be cast to, pseudo types replaced; `None` where it
    /// stays as it is.
    pub parameters: Vec<Type>,
    /// The type of the result.
    pub returns: Type,
}

/// Why no overload was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// None takes such arguments.
    None,
    /// Several do, and none is better than the others.
    Ambiguous,
    /// One does, but literals alone do not tell the type that it is to have.
    Undetermined,
    /// It takes arrays of a type that is one of arrays.
    NoArray,
}

/// What resolution asks of an overload.
pub trait Overload {
    /// Parameter types.
    fn parameters(&self) -> &[Type];
    /// The type of further arguments.
    fn variadic(&self) -> Option<&Type>;
    /// How many of the last parameters may be left out.
    fn optional(&self) -> usize;
    /// The type of the result.
    fn returns(&self) -> &Returns;
}

impl Overload for Scalar {
    fn parameters(&self) -> &[Type] {
        &self.parameters
    }
    fn variadic(&self) -> Option<&Type> {
        self.variadic.as_ref()
    }
    fn optional(&self) -> usize {
        self.defaults.len()
    }
    fn returns(&self) -> &Returns {
        &self.returns
    }
}

impl Overload for super::TableFunction {
    fn parameters(&self) -> &[Type] {
        &self.parameters
    }
    fn variadic(&self) -> Option<&Type> {
        self.variadic.as_ref()
    }
    fn optional(&self) -> usize {
        0
    }
    fn returns(&self) -> &Returns {
        static VOID: Returns = Returns::Type(Type::Void);
        self.columns.first().map_or(&VOID, |(_, returns)| returns)
    }
}

impl Overload for super::windows::WindowFunction {
    fn parameters(&self) -> &[Type] {
        &self.parameters
    }
    fn variadic(&self) -> Option<&Type> {
        None
    }
    fn optional(&self) -> usize {
        self.optional
    }
    fn returns(&self) -> &Returns {
        &self.returns
    }
}

impl Overload for super::aggregates::Aggregate {
    /// Those that each row gives; direct arguments are resolved apart.
    fn parameters(&self) -> &[Type] {
        &self.parameters
    }
    fn variadic(&self) -> Option<&Type> {
        self.variadic.as_ref()
    }
    fn optional(&self) -> usize {
        0
    }
    fn returns(&self) -> &Returns {
        &self.returns
    }
}

/// The overload of a function that a call with arguments of some types means.
///
/// # Errors
/// Why there is none.
pub fn resolve_function<F: Overload>(
    overloads: &[Arc<F>],
    arguments: &[Type],
) -> Result<Resolved<F>, Unresolved> {
    resolve(overloads, arguments, false)
}

/// The overload of an operator that its operands mean.
///
/// # Errors
/// Why there is none.
pub fn resolve_operator(symbol: &str, operands: &[Type]) -> Result<Resolved<Scalar>, Unresolved> {
    resolve(catalogue().operators(symbol), operands, true)
}

fn resolve<F: Overload>(
    overloads: &[Arc<F>],
    arguments: &[Type],
    operator: bool,
) -> Result<Resolved<F>, Unresolved> {
    let bases: Vec<Type> = arguments.iter().map(Type::base).collect();
    let taking: Vec<Candidate<'_, F>> = overloads
        .iter()
        .filter_map(|function| Candidate::of(function, bases.len()))
        .collect();
    // A literal beside one operand is first taken to be of that operand's type.
    if operator && let [left, right] = bases.as_slice() {
        let one = match (left, right) {
            (Type::Unknown, known) | (known, Type::Unknown) if *known != Type::Unknown => {
                Some([known.clone(), known.clone()])
            }
            _ => None,
        };
        if let Some(same) = one
            && let Some(found) = taking.iter().find(|c| c.is_exactly(&same))
        {
            return found.resolved(arguments);
        }
    }
    if let Some(found) = taking.iter().find(|c| c.is_exactly(&bases)) {
        return found.resolved(arguments);
    }
    let mut left: Vec<&Candidate<'_, F>> = taking.iter().filter(|c| c.takes(&bases)).collect();
    drop_hidden(&mut left);
    keep_best(&mut left, |c| c.exact(&bases));
    if left.len() > 1 {
        keep_best(&mut left, |c| c.preferred(&bases));
    }
    if left.len() > 1 && bases.contains(&Type::Unknown) {
        by_literals(&mut left, &bases);
    }
    match left.as_slice() {
        [] => Err(Unresolved::None),
        [one] => one.resolved(arguments),
        [first, ..] => {
            // Overloads that differ in pseudo types only, in the catalogue's order.
            let concrete = |c: &&Candidate<'_, F>| !c.types.iter().any(Type::is_pseudo);
            let mut real = left.iter().copied().filter(concrete);
            match (real.next(), real.next()) {
                (Some(one), None) => one.resolved(arguments),
                (None, _) => first.resolved(arguments).map_err(|why| match why {
                    Unresolved::Undetermined => Unresolved::Ambiguous,
                    other => other,
                }),
                _ => Err(Unresolved::Ambiguous),
            }
        }
    }
}

/// Drops overloads that take further arguments where another has parameters of the same types.
fn drop_hidden<F: Overload>(left: &mut Vec<&Candidate<'_, F>>) {
    let plain = left.iter().filter(|c| c.function.variadic().is_none());
    let plain: Vec<Vec<Type>> = plain.map(|c| c.types.clone()).collect();
    left.retain(|c| c.function.variadic().is_none() || !plain.contains(&c.types));
}

fn keep_best<F>(left: &mut Vec<&Candidate<'_, F>>, score: impl Fn(&Candidate<'_, F>) -> usize) {
    let best = left.iter().map(|candidate| score(candidate)).max();
    left.retain(|candidate| Some(score(candidate)) == best);
}

fn by_literals<F: Overload>(left: &mut Vec<&Candidate<'_, F>>, bases: &[Type]) {
    let literals = (0..bases.len()).filter(|at| bases[*at] == Type::Unknown);
    for at in literals.collect::<Vec<_>>() {
        let categories: Vec<Category> = left.iter().map(|c| c.types[at].category()).collect();
        let category = match categories.contains(&Category::String) {
            true => Category::String,
            false => match categories.windows(2).all(|pair| pair[0] == pair[1]) {
                true => categories[0],
                false => continue,
            },
        };
        left.retain(|c| c.types[at].category() == category);
        if left.iter().any(|c| c.types[at].is_preferred()) {
            left.retain(|c| c.types[at].is_preferred());
        }
    }
    if left.len() > 1 {
        let mut known = bases.iter().filter(|base| **base != Type::Unknown);
        if let Some(first) = known.next()
            && known.all(|other| other == first)
        {
            let same: Vec<_> = left
                .iter()
                .copied()
                .filter(|c| c.types.iter().all(|ty| ty == first))
                .collect();
            if same.len() == 1 {
                *left = same;
                return;
            }
            // The one that takes literals of the other arguments' type.
            let all = vec![first.clone(); bases.len()];
            let mut taking = left.iter().copied().filter(|c| c.takes(&all));
            if let (Some(one), None) = (taking.next(), taking.next()) {
                *left = vec![one];
            }
        }
    }
}

/// An overload with one parameter type for each argument.
struct Candidate<'a, F> {
    function: &'a Arc<F>,
    types: Vec<Type>,
}

impl<'a, F: Overload> Candidate<'a, F> {
    fn of(function: &'a Arc<F>, arguments: usize) -> Option<Self> {
        let parameters = function.parameters();
        let least = parameters.len() - function.optional().min(parameters.len());
        let mut types = parameters.to_vec();
        match function.variadic() {
            Some(more) if arguments >= least => types.resize(arguments.max(least), more.clone()),
            None if (least..=parameters.len()).contains(&arguments) => types.truncate(arguments),
            _ => return None,
        }
        Some(Self { function, types })
    }

    fn is_exactly(&self, bases: &[Type]) -> bool {
        self.types == bases
    }

    fn takes(&self, bases: &[Type]) -> bool {
        let pairs = self.types.iter().zip(bases);
        pairs.clone().all(|(to, from)| is_implicit(from, to))
            && bind_pseudo(&self.types, bases).is_some()
    }

    fn exact(&self, bases: &[Type]) -> usize {
        let pairs = self.types.iter().zip(bases);
        pairs.filter(|(to, from)| to == from).count()
    }

    fn preferred(&self, bases: &[Type]) -> usize {
        let pairs = self.types.iter().zip(bases);
        pairs
            .filter(|(to, from)| {
                to == from || to.is_preferred() && to.category() == from.category()
            })
            .count()
    }

    /// Whether the result is an array of a polymorphic argument's type.
    fn gives_array(&self) -> bool {
        matches!(self.function.returns(), Returns::Type(Type::AnyArray))
    }

    fn resolved(&self, arguments: &[Type]) -> Result<Resolved<F>, Unresolved> {
        let pseudo = bind_pseudo(&self.types, arguments).ok_or(Unresolved::None)?;
        let mut types = self.types.iter();
        if pseudo.element.is_none() && types.any(is_polymorphic) {
            return Err(Unresolved::Undetermined);
        }
        // An array's elements are no arrays.
        let is_array = |ty: &Option<Type>| matches!(ty, Some(Type::Array(_)));
        let has = |wanted: &Type| self.types.contains(wanted);
        if is_array(&pseudo.compatible) && has(&Type::AnyCompatibleArray)
            || is_array(&pseudo.element) && (has(&Type::AnyArray) || self.gives_array())
        {
            return Err(Unresolved::NoArray);
        }
        let mut parameters = Vec::with_capacity(arguments.len());
        for (to, from) in self.types.iter().zip(arguments) {
            parameters.push(match pseudo.replaced(to, from) {
                // NUMERIC and strings stay as they are, with their modifiers.
                to if to == from.base() => from.clone(),
                Type::Numeric(None) if from.is_number() => as_numeric(from),
                to => to,
            });
        }
        let returns = match self.function.returns() {
            Returns::Type(ty) => pseudo.replaced(ty, &Type::Unknown),
            Returns::Of(of) => of(&parameters),
        };
        Ok(Resolved {
            function: Arc::clone(self.function),
            parameters,
            returns,
        })
    }
}

/// Whether a parameter's type follows from an argument's alone.
fn is_polymorphic(ty: &Type) -> bool {
    use Type::{AnyArray, AnyElement, AnyEnum, AnyMultirange, AnyNonArray, AnyRange};
    matches!(
        ty,
        AnyElement | AnyArray | AnyNonArray | AnyEnum | AnyRange | AnyMultirange
    )
}

/// The NUMERIC that an integer becomes.
fn as_numeric(from: &Type) -> Type {
    match from {
        Type::Int2 => Type::numeric(5, 0),
        Type::Int4 => Type::numeric(10, 0),
        Type::Int8 => Type::numeric(19, 0),
        Type::Numeric(_) => from.clone(),
        _ => Type::Numeric(None),
    }
}

/// Types in the place of pseudo types.
#[derive(Default)]
struct Pseudo {
    element: Option<Type>,
    compatible: Option<Type>,
}

impl Pseudo {
    /// The range whose bounds have the element's type.
    fn range(&self) -> Option<RangeOf> {
        self.element.as_ref().and_then(RangeOf::of_element)
    }

    fn replaced(&self, to: &Type, from: &Type) -> Type {
        let text = || Type::Text;
        match to {
            Type::AnyElement | Type::AnyNonArray | Type::AnyEnum => {
                self.element.clone().unwrap_or_else(text)
            }
            Type::AnyArray => self.element.clone().unwrap_or_else(text).array(),
            Type::AnyRange => self.range().map_or(Type::Text, Type::Range),
            Type::AnyMultirange => self.range().map_or(Type::Text, Type::Multirange),
            Type::AnyCompatible => self.compatible.clone().unwrap_or_else(text),
            Type::AnyCompatibleArray => self.compatible.clone().unwrap_or_else(text).array(),
            Type::AnyRecord => match from {
                Type::Record(_) => from.clone(),
                _ => Type::Record(Fields::from_iter([])),
            },
            Type::Any => match from {
                Type::Unknown => Type::Text,
                other => other.clone(),
            },
            other => other.clone(),
        }
    }
}

/// The types that pseudo types stand for; `None` if arguments do not agree.
fn bind_pseudo(types: &[Type], arguments: &[Type]) -> Option<Pseudo> {
    let mut pseudo = Pseudo::default();
    // A literal in quotes may have more digits, or characters, than the other values.
    let (mut as_element, mut as_compatible) = (false, false);
    // The types of the bounds of ranges.
    let elements: Vec<Option<Type>> = types.iter().zip(arguments).map(bound_type).collect();
    for ((to, from), of_range) in types.iter().zip(arguments).zip(&elements) {
        if *from == Type::Unknown {
            as_element |= is_polymorphic(to);
            as_compatible |= matches!(to, Type::AnyCompatible | Type::AnyCompatibleArray);
        }
        let (element, compatible) = match (to, from) {
            (_, Type::Unknown) => continue,
            (Type::AnyArray, Type::Int2Vector) => (Some(&Type::Int2), None),
            (Type::AnyArray, Type::OidVector) => (Some(&Type::Oid), None),
            (Type::AnyCompatibleArray, Type::Int2Vector) => (None, Some(&Type::Int2)),
            (Type::AnyCompatibleArray, Type::OidVector) => (None, Some(&Type::Oid)),
            (Type::AnyArray, Type::Array(element)) => (Some(element.as_ref()), None),
            (Type::AnyArray, _) => return None,
            (Type::AnyNonArray, Type::Array(_)) => return None,
            (Type::AnyEnum, Type::Enum(_)) => (Some(from), None),
            (Type::AnyEnum, _) => return None,
            (Type::AnyRange | Type::AnyMultirange, _) => (Some(of_range.as_ref()?), None),
            (Type::AnyElement | Type::AnyNonArray, from) => (Some(from), None),
            (Type::AnyCompatibleArray, Type::Array(element)) => (None, Some(element.as_ref())),
            (Type::AnyCompatibleArray, _) => return None,
            (Type::AnyCompatible, from) => (None, Some(from)),
            _ => continue,
        };
        if let Some(found) = element {
            match &pseudo.element {
                None => pseudo.element = Some(found.clone()),
                Some(known) if known.base() == found.base() => {
                    if known != found {
                        pseudo.element = Some(wider(known, found));
                    }
                }
                Some(_) => return None,
            }
        }
        if let Some(found) = compatible {
            pseudo.compatible = Some(match &pseudo.compatible {
                None => found.clone(),
                Some(known) => common_type(&[known.clone(), found.clone()])?,
            });
        }
    }
    if as_element {
        pseudo.element = pseudo.element.map(|ty| ty.base());
    }
    if as_compatible {
        pseudo.compatible = pseudo.compatible.map(|ty| ty.base());
    }
    Some(pseudo)
}

/// The type of the bounds of a range or a multirange that is given where one is asked for.
fn bound_type((to, from): (&Type, &Type)) -> Option<Type> {
    match (to, from) {
        (Type::AnyRange, Type::Range(of)) | (Type::AnyMultirange, Type::Multirange(of)) => {
            Some(of.element())
        }
        _ => None,
    }
}

/// A type with the modifiers that hold the values of two that differ in them only.
pub fn wider(a: &Type, b: &Type) -> Type {
    match (a, b) {
        _ if a == b => a.clone(),
        (Type::Numeric(Some(a)), Type::Numeric(Some(b))) => {
            // Values of other scales are not to be changed.
            if a.scale != b.scale {
                return Type::Numeric(None);
            }
            Type::numeric(a.precision.max(b.precision).into(), a.scale.into())
        }
        (Type::Array(a), Type::Array(b)) => wider(a, b).array(),
        (Type::Record(a), Type::Record(b)) if a.len() == b.len() => {
            let mut types = b.iter().map(|(_, ty)| ty);
            Type::Record(a.map(|a| types.next().map_or_else(|| a.base(), |b| wider(a, b))))
        }
        _ => a.base(),
    }
}

/// Whether values of a type can be used where another is asked for.
fn is_implicit(from: &Type, to: &Type) -> bool {
    if from == to || *from == Type::Unknown {
        return true;
    }
    match to {
        Type::Any | Type::AnyElement | Type::AnyCompatible => true,
        Type::AnyNonArray => !matches!(from, Type::Array(_)),
        Type::AnyEnum => matches!(from, Type::Enum(_)),
        Type::AnyRecord => matches!(from, Type::Record(_)),
        Type::AnyRange => matches!(from, Type::Range(_)),
        Type::AnyMultirange => matches!(from, Type::Multirange(_)),
        Type::AnyArray | Type::AnyCompatibleArray => {
            matches!(from, Type::Array(_)) || from.vector_item().is_some()
        }
        _ => cast_between(from, to).is_some_and(|cast| cast.context == Context::Implicit),
    }
}

/// The cast between two types: one of the catalogue, one of arrays by their elements, or by
/// way of text.
pub fn cast_between(from: &Type, to: &Type) -> Option<Cast> {
    cast_in(catalogue(), from, to)
}

pub(super) fn cast_in(all: &Catalogue, from: &Type, to: &Type) -> Option<Cast> {
    if from == to {
        return Some(Cast {
            context: Context::Implicit,
            function: None,
        });
    }
    if let Some(known) = all.cast_of(from, to) {
        return Some(known.clone());
    }
    let enumeration = super::casts::enumeration_cast(from, to);
    enumeration.or_else(|| super::arrays::casts::nested_cast(all, from, to))
}

/// The type of UNION, CASE, ARRAY and VALUES for operands of some types.
pub fn common_type(types: &[Type]) -> Option<Type> {
    let mut known = types.iter().filter(|ty| **ty != Type::Unknown);
    let Some(first) = known.next() else {
        return Some(Type::Text);
    };
    let mut common = first.clone();
    for ty in known {
        if common.base() == ty.base() {
            common = wider(&common, ty);
            continue;
        }
        if let (Type::Array(a), Type::Array(b)) = (&common, ty) {
            common = common_type(&[(**a).clone(), (**b).clone()])?.array();
            continue;
        }
        // The fields of rows that are written out have types of their own.
        if let (Type::Record(a), Type::Record(b)) = (&common, ty)
            && a.name().is_none()
            && b.name().is_none()
        {
            let pairs = a.iter().zip(b.iter());
            let fields = pairs.map(|((name, a), (_, b))| {
                Some((name.clone(), common_type(&[a.clone(), b.clone()])?))
            });
            common = match a.len() == b.len() {
                true => Type::Record(fields.collect::<Option<_>>()?),
                false => return None,
            };
            continue;
        }
        if common.category() != ty.category() {
            return None;
        }
        // The first type is kept unless it can be cast to the other, and not the other to it.
        if !common.is_preferred() && is_implicit(&common, ty) && !is_implicit(ty, &common) {
            common = match ty {
                Type::Numeric(_) => wider_number(&common, ty),
                other => other.base(),
            };
        } else if let (Type::Numeric(_), true) = (&common, ty.is_number()) {
            common = wider_number(ty, &common);
        } else if !is_implicit(ty, &common) {
            return None;
        }
    }
    // A length that not all have is none.
    if common.is_string() && types.iter().any(|ty| *ty != common) {
        common = common.base();
    }
    Some(common)
}

/// The NUMERIC that holds integers of a type, too; their scale is 0, so that it must be, too.
fn wider_number(integer: &Type, numeric: &Type) -> Type {
    match (as_numeric(integer), numeric) {
        (Type::Numeric(Some(a)), Type::Numeric(Some(b))) if b.scale == 0 => {
            Type::numeric(a.precision.max(b.precision).into(), 0)
        }
        _ => Type::Numeric(None),
    }
}
