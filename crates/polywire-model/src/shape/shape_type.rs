//! The types of shapes.

use std::fmt;

/// The type of a shape.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum ShapeType {
    /// A decimal number of any precision.
    BigDecimal,
    /// An integer of any size.
    BigInteger,
    /// Bytes.
    Blob,
    /// True or false.
    Boolean,
    /// An integer of 8 bits.
    Byte,
    /// Data without a schema.
    Document,
    /// A float of 64 bits.
    Double,
    /// A string from a set of named values.
    Enum,
    /// A float of 32 bits.
    Float,
    /// An integer from a set of named values.
    IntEnum,
    /// An integer of 32 bits.
    Integer,
    /// A list of values of one shape.
    List,
    /// An integer of 64 bits.
    Long,
    /// A map from strings to values of one shape.
    Map,
    /// An operation of a service.
    Operation,
    /// An entity with identifiers and operations.
    Resource,
    /// A set of operations and resources.
    Service,
    /// An integer of 16 bits.
    Short,
    /// Text.
    String,
    /// A fixed set of named members.
    Structure,
    /// A point in time.
    Timestamp,
    /// Exactly one of a fixed set of named members.
    Union,
}

impl ShapeType {
    /// Every shape type with its name in IDL and AST, sorted by name.
    pub(crate) const ALL: [(&'static str, Self); 22] = [
        ("bigDecimal", Self::BigDecimal),
        ("bigInteger", Self::BigInteger),
        ("blob", Self::Blob),
        ("boolean", Self::Boolean),
        ("byte", Self::Byte),
        ("document", Self::Document),
        ("double", Self::Double),
        ("enum", Self::Enum),
        ("float", Self::Float),
        ("intEnum", Self::IntEnum),
        ("integer", Self::Integer),
        ("list", Self::List),
        ("long", Self::Long),
        ("map", Self::Map),
        ("operation", Self::Operation),
        ("resource", Self::Resource),
        ("service", Self::Service),
        ("short", Self::Short),
        ("string", Self::String),
        ("structure", Self::Structure),
        ("timestamp", Self::Timestamp),
        ("union", Self::Union),
    ];

    /// The name in IDL and AST, such as `intEnum`.
    #[must_use]
    pub fn name(self) -> &'static str {
        // ALL is in the order of the variants, which a test checks.
        Self::ALL[self as usize].0
    }

    /// The type with a name, such as `intEnum`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, shape_type)| *shape_type)
    }

    /// Whether it is a simple type: neither aggregate nor a service type.
    #[must_use]
    pub fn is_simple(self) -> bool {
        !self.is_aggregate() && !self.is_service_type()
    }

    /// Whether it is an aggregate type.
    #[must_use]
    pub fn is_aggregate(self) -> bool {
        matches!(self, Self::List | Self::Map | Self::Structure | Self::Union)
    }

    /// Whether it is an operation, a resource or a service, which members cannot target.
    #[must_use]
    pub fn is_service_type(self) -> bool {
        matches!(self, Self::Operation | Self::Resource | Self::Service)
    }

    /// Whether the members have names of their own.
    #[must_use]
    pub fn has_named_members(self) -> bool {
        matches!(
            self,
            Self::Enum | Self::IntEnum | Self::Structure | Self::Union
        )
    }

    /// "a list", "an operation": for messages.
    pub(crate) fn with_article(self) -> String {
        let name = self.name();
        let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) && self != Self::Union {
            "an"
        } else {
            "a"
        };
        format!("{article} {name}")
    }
}

impl fmt::Display for ShapeType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_the_variants() {
        for (index, (name, shape_type)) in ShapeType::ALL.into_iter().enumerate() {
            assert_eq!(shape_type as usize, index);
            assert_eq!(shape_type.name(), name);
            assert_eq!(ShapeType::from_name(name), Some(shape_type));
        }
        assert_eq!(ShapeType::IntEnum.with_article(), "an intEnum");
        assert_eq!(ShapeType::Union.with_article(), "a union");
    }
}
