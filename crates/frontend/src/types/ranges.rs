//! The ranges that are built in, each with its multirange.

use super::Type;
pub use crate::values::range::RangeOf;

impl RangeOf {
    /// The type of the bounds.
    pub fn element(self) -> Type {
        match self {
            RangeOf::Int4 => Type::Int4,
            RangeOf::Int8 => Type::Int8,
            RangeOf::Numeric => Type::Numeric(None),
            RangeOf::Timestamp => Type::Timestamp(None),
            RangeOf::TimestampTz => Type::TimestampTz(None),
            RangeOf::Date => Type::Date,
        }
    }

    /// The range whose bounds have a type.
    pub fn of_element(ty: &Type) -> Option<RangeOf> {
        let base = ty.base();
        Self::ALL.into_iter().find(|of| of.element() == base)
    }

    /// The name of the range.
    pub fn range_name(self) -> &'static str {
        match self {
            RangeOf::Int4 => "int4range",
            RangeOf::Int8 => "int8range",
            RangeOf::Numeric => "numrange",
            RangeOf::Timestamp => "tsrange",
            RangeOf::TimestampTz => "tstzrange",
            RangeOf::Date => "daterange",
        }
    }

    /// The name of the multirange.
    pub fn multirange_name(self) -> &'static str {
        match self {
            RangeOf::Int4 => "int4multirange",
            RangeOf::Int8 => "int8multirange",
            RangeOf::Numeric => "nummultirange",
            RangeOf::Timestamp => "tsmultirange",
            RangeOf::TimestampTz => "tstzmultirange",
            RangeOf::Date => "datemultirange",
        }
    }
}

/// The range or multirange of a name.
pub(super) fn named(name: &str) -> Option<Type> {
    RangeOf::ALL.into_iter().find_map(|of| match name {
        name if name == of.range_name() => Some(Type::Range(of)),
        name if name == of.multirange_name() => Some(Type::Multirange(of)),
        _ => None,
    })
}

impl Type {
    /// The built-in range that it is, or whose multirange it is.
    pub fn range(&self) -> Option<RangeOf> {
        match self {
            Type::Range(of) | Type::Multirange(of) => Some(*of),
            _ => None,
        }
    }
}
