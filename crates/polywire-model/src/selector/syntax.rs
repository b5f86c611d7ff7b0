//! What a selector says, as a tree. `Display` writes it in one canonical form,
//! which reads back as the same tree.

use std::fmt;

use polywire_schema::{is_identifier, is_namespace};

use super::relations::Relations;
use crate::node::Number;
use crate::shape::ShapeType;

/// Steps from left to right: what one yields is sent to the next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sequence {
    pub(crate) steps: Vec<Step>,
    /// The number of the first step within the selector: for notes about what
    /// was found from a step on.
    pub(crate) base: u32,
    /// Whether what it yields depends on variables, or sets one.
    pub(crate) uses_variables: bool,
    /// Whether each shape it yields is the one that it was given.
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

/// A variable's name, and its place among the variables of the selector.
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
    /// One that the specification doesn't know: it yields nothing.
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

/// What a word such as `structure` or `number` matches.
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

    /// Whether a shape of a type matches; `None` is a member. An enum is a string
    /// and an intEnum an integer.
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

/// `trait|range|min`; empty for the shape itself, in `[@: ...]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Path {
    pub(crate) segments: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Segment {
    /// `(keys)`
    Function(String),
    /// `name`, and the id that it is when it names a trait.
    Name { text: String, trait_id: String },
}

impl Segment {
    pub(crate) fn name(text: String) -> Self {
        let trait_id = if text.contains('#') {
            text.clone()
        } else {
            format!("smithy.api#{text}")
        };
        Self::Name { text, trait_id }
    }

    /// As it is written, parentheses of a function included.
    pub(crate) fn is_name(&self, name: &str) -> bool {
        matches!(self, Self::Name { text, .. } if text == name)
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
    /// Longer ones first, so that a reader finds the longest that fits.
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

    /// Whether it compares sets: only where both sides may be some.
    pub(crate) fn is_of_sets(self) -> bool {
        matches!(
            self,
            Self::ProperSubset | Self::SetEqual | Self::SetNotEqual | Self::Subset
        )
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            // `string[trait|x]` is one thought; all else stands apart.
            let joined = matches!(step, Step::Attribute { .. } | Step::Scoped { .. })
                && matches!(
                    self.steps.get(index.wrapping_sub(1)),
                    Some(Step::Type(_) | Step::Attribute { .. } | Step::Scoped { .. })
                );
            if index > 0 && !joined {
                formatter.write_str(" ")?;
            }
            step.fmt(formatter)?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attribute { path, comparison } => {
                write!(formatter, "[{path}")?;
                if let Some(comparison) = comparison {
                    write!(formatter, " {} ", comparison.comparator.symbol())?;
                    list(formatter, comparison.values.iter().map(|v| Text(v)))?;
                    formatter.write_str(if comparison.ignores_case { " i" } else { "" })?;
                }
                formatter.write_str("]")
            }
            Self::Function {
                function,
                arguments,
            } => {
                write!(formatter, ":{}(", function.name())?;
                list(formatter, arguments.iter())?;
                formatter.write_str(")")
            }
            Self::Neighbor {
                direction,
                relations,
            } => match (direction, relations.names().is_empty()) {
                (Direction::Forward, true) => formatter.write_str(">"),
                (Direction::Reverse, true) => formatter.write_str("<"),
                (Direction::Forward, false) => {
                    write!(formatter, "-[{}]->", relations.names().join(", "))
                }
                (Direction::Reverse, false) => {
                    write!(formatter, "<-[{}]-", relations.names().join(", "))
                }
            },
            Self::Recursive => formatter.write_str("~>"),
            Self::Scoped { path, assertions } => {
                write!(formatter, "[@{path}: ")?;
                for (index, assertion) in assertions.iter().enumerate() {
                    formatter.write_str(if index > 0 { " && " } else { "" })?;
                    assertion.fmt(formatter)?;
                }
                formatter.write_str("]")
            }
            Self::Type(test) => formatter.write_str(test.name()),
            Self::VariableGet(variable) => write!(formatter, "${{{}}}", variable.name),
            Self::VariableSet(variable, selector) => {
                write!(formatter, "${}({selector})", variable.name)
            }
        }
    }
}

impl fmt::Display for Assertion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} ", self.left, self.comparator.symbol())?;
        list(formatter, self.right.iter())?;
        formatter.write_str(if self.ignores_case { " i" } else { "" })
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Context(path) => write!(formatter, "@{{{path}}}"),
            Self::Literal(text) => Text(text).fmt(formatter),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.segments.iter().enumerate() {
            formatter.write_str(if index > 0 { "|" } else { "" })?;
            match segment {
                Segment::Function(name) => write!(formatter, "({name})")?,
                Segment::Name { text, .. } => Text(text).fmt(formatter)?,
            }
        }
        Ok(())
    }
}

/// A value: bare when it is a name, a shape id or a number, else in quotes. None
/// holds both kinds of quotes, since there are no escapes.
struct Text<'a>(&'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0;
        let is_bare = match text.split_once('#') {
            Some((namespace, name)) => is_namespace(namespace) && is_identifier(name),
            None => is_namespace(text) || Number::parse(text).is_some(),
        };
        match (is_bare, text.contains('\'')) {
            (true, _) => formatter.write_str(text),
            (false, true) => write!(formatter, "\"{text}\""),
            (false, false) => write!(formatter, "'{text}'"),
        }
    }
}

fn list(
    formatter: &mut fmt::Formatter<'_>,
    items: impl Iterator<Item = impl fmt::Display>,
) -> fmt::Result {
    for (index, item) in items.enumerate() {
        formatter.write_str(if index > 0 { ", " } else { "" })?;
        item.fmt(formatter)?;
    }
    Ok(())
}
