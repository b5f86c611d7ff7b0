//! The syntax tree of selectors.

use super::relations::Relations;
use crate::ids;
use crate::shape::ShapeType;

/// Steps from left to right: the results of one are the input of the next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sequence {
    pub(crate) steps: Vec<Step>,
    /// The number of the first step within the selector: a key of the cache.
    pub(crate) base: u32,
    /// Whether the result depends on variables, or sets one.
    pub(crate) uses_variables: bool,
    /// Whether it yields its input or nothing.
    pub(crate) is_filter: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// `[path]`, `[path = value]`
    Attribute {
        path: Path,
        comparison: Option<Comparison>,
    },
    /// `:name(a, b)`
    Function {
        function: Function,
        arguments: Vec<Sequence>,
    },
    /// `>`, `<`, `-[a, b]->`, `<-[a, b]-`
    Neighbor {
        direction: Direction,
        relations: Relations,
    },
    /// `~>`
    Recursive,
    /// `[@path: @{a} = @{b} && ...]`
    Scoped {
        path: Path,
        assertions: Vec<Assertion>,
    },
    /// `structure`, `*`
    Type(TypeTest),
    /// `${name}`
    VariableGet(Variable),
    /// `$name(selector)`
    VariableSet(Variable, Sequence),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Direction {
    Forward,
    Reverse,
}

/// The name of a variable, and its index among the variables of the selector.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) slot: usize,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Function {
    In,
    Is,
    Not,
    Recursive,
    Root,
    Test,
    TopDown,
    /// A function that the specification does not have. It yields nothing.
    Unknown(String),
}

impl Function {
    pub(crate) const ALL: [(&'static str, Self); 7] = [
        ("in", Self::In),
        ("is", Self::Is),
        ("not", Self::Not),
        ("recursive", Self::Recursive),
        ("root", Self::Root),
        ("test", Self::Test),
        ("topdown", Self::TopDown),
    ];

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Unknown(name) => name,
            known => Self::ALL
                .iter()
                .find(|(_, function)| function == known)
                .map_or("", |(name, _)| name),
        }
    }
}

/// The test of a word such as `structure` or `number`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum TypeTest {
    Aggregate,
    Any,
    Data,
    Member,
    Number,
    Service,
    Shape(ShapeType),
    Simple,
}

impl TypeTest {
    pub(crate) const GROUPS: [(&'static str, Self); 10] = [
        ("aggregateType", Self::Aggregate),
        // Names of IDL 1.0 for lists.
        ("collection", Self::Shape(ShapeType::List)),
        ("dataType", Self::Data),
        ("list", Self::Shape(ShapeType::List)),
        ("member", Self::Member),
        ("number", Self::Number),
        ("serviceType", Self::Service),
        ("set", Self::Shape(ShapeType::List)),
        ("simpleType", Self::Simple),
        ("*", Self::Any),
    ];

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let groups = Self::GROUPS.iter();
        let group = groups.filter(|(known, _)| *known == name);
        let group = group.map(|(_, test)| *test).next();
        group.or_else(|| ShapeType::from_name(name).map(Self::Shape))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Aggregate => "aggregateType",
            Self::Any => "*",
            Self::Data => "dataType",
            Self::Member => "member",
            Self::Number => "number",
            Self::Service => "serviceType",
            Self::Shape(shape_type) => shape_type.name(),
            Self::Simple => "simpleType",
        }
    }

    /// Whether a shape of a type matches. `None` is a member. An enum is a string and an intEnum an
    /// integer.
    pub(crate) fn matches(self, shape_type: Option<ShapeType>) -> bool {
        use ShapeType as T;
        let Some(shape_type) = shape_type else {
            return matches!(self, Self::Any | Self::Member);
        };
        match self {
            Self::Aggregate => shape_type.is_aggregate(),
            Self::Any => true,
            Self::Data => !shape_type.is_service_type(),
            Self::Member => false,
            Self::Number => matches!(
                shape_type,
                T::BigDecimal
                    | T::BigInteger
                    | T::Byte
                    | T::Double
                    | T::Float
                    | T::IntEnum
                    | T::Integer
                    | T::Long
                    | T::Short
            ),
            Self::Service => shape_type.is_service_type(),
            Self::Shape(T::String) => matches!(shape_type, T::String | T::Enum),
            Self::Shape(T::Integer) => matches!(shape_type, T::Integer | T::IntEnum),
            Self::Shape(wanted) => shape_type == wanted,
            Self::Simple => shape_type.is_simple(),
        }
    }
}

/// `trait|range|min`. Empty for the shape itself, in `[@: ...]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Path {
    pub(crate) segments: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Segment {
    /// `(keys)`
    Function(String),
    /// `name`, and its id if it is the name of a trait.
    Name { text: String, trait_id: String },
}

impl Segment {
    pub(crate) fn name(text: String) -> Self {
        let trait_id = if text.contains('#') {
            text.clone()
        } else {
            ids::prelude_id(&text)
        };
        Self::Name { text, trait_id }
    }

    /// The name, with or without parentheses.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Function(name) => name,
            Self::Name { text, .. } => text,
        }
    }

    /// The name, if it has no parentheses.
    pub(crate) fn as_name(&self) -> Option<&str> {
        match self {
            Self::Function(_) => None,
            Self::Name { text, .. } => Some(text),
        }
    }

    pub(crate) fn is_name(&self, name: &str) -> bool {
        self.as_name() == Some(name)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Comparison {
    pub(crate) comparator: Comparator,
    pub(crate) values: Vec<String>,
    pub(crate) ignores_case: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Assertion {
    pub(crate) left: Operand,
    pub(crate) comparator: Comparator,
    pub(crate) right: Vec<Operand>,
    pub(crate) ignores_case: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    /// `@{path}`
    Context(Path),
    Literal(String),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Comparator {
    Contains,
    EndsWith,
    Equal,
    Exists,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    NotEqual,
    ProperSubset,
    SetEqual,
    SetNotEqual,
    StartsWith,
    Subset,
}

impl Comparator {
    /// Longer ones first, so that the parser finds the longest match.
    pub(crate) const ALL: [(&'static str, Self); 14] = [
        ("{<<}", Self::ProperSubset),
        ("{!=}", Self::SetNotEqual),
        ("{<}", Self::Subset),
        ("{=}", Self::SetEqual),
        ("^=", Self::StartsWith),
        ("$=", Self::EndsWith),
        ("*=", Self::Contains),
        ("!=", Self::NotEqual),
        ("?=", Self::Exists),
        (">=", Self::GreaterOrEqual),
        ("<=", Self::LessOrEqual),
        ("=", Self::Equal),
        (">", Self::Greater),
        ("<", Self::Less),
    ];

    pub(crate) fn symbol(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, comparator)| *comparator == self)
            .map_or("", |(symbol, _)| symbol)
    }

    /// Whether it compares sets.
    pub(crate) fn is_of_sets(self) -> bool {
        matches!(
            self,
            Self::ProperSubset | Self::SetEqual | Self::SetNotEqual | Self::Subset
        )
    }
}
