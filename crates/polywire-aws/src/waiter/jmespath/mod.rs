//! JMESPath expressions over JSON values ([specification](https://jmespath.org/specification.html)), as waiters and
//! the trait `smithy.rules#operationContextParams` use them.
//!
//! The grammar is complete except for expression references (`&name`), which are arguments of functions such as `sort_by`.
//! Published models do not use those. The functions are `contains`, `ends_with`, `join`, `keys`, `length`, `not_null`, `starts_with`, `to_array`,
//! `to_string`, `type` and `values`.
//!
//! ```
//! use polywire_aws::waiter::jmespath::Expression;
//! use serde_json::json;
//!
//! let names = Expression::parse("TransactItems[*].[Put.TableName, Get.TableName][]")?;
//! let input = json!({ "TransactItems": [{ "Put": { "TableName": "a" } }, { "Get": { "TableName": "b" } }] });
//! assert_eq!(*names.search(&input)?, json!(["a", "b"]));
//! assert!(Expression::parse("a[").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Why not the crate `jmespath`
//!
//! The crate is well kept and passes the compliance tests, but its API does not fit this use: a search copies the
//! whole input into values of its own that are not `Send`, and its recursive parser has no limit for nested
//! expressions. Waiters search each response. This module borrows from the input, and bounds expressions and results.
//! It was compared with the compliance tests of the crate, without those of missing functions.

mod evaluate;
mod lexer;
mod parser;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use serde_json::Value;

/// The longest expression, in bytes.
pub const MAX_LENGTH: usize = 4096;
/// The most parts of an expression; it bounds the recursion too.
const MAX_NODES: usize = 400;
/// The most JSON values that a search copies.
const MAX_COPIES: usize = 1 << 20;

/// A parsed expression.
#[derive(Clone, Debug)]
pub struct Expression {
    root: Node,
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    ///
    /// The text does not follow the grammar, has a function that is not supported, or is too long.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        parser::parse(text).map(|root| Self { root })
    }

    /// Evaluates the expression. The result is borrowed from `value` if it is a part of it.
    ///
    /// # Errors
    ///
    /// An argument of a function has the wrong type, a slice has the step 0, or the result would be too large.
    pub fn search<'v>(&'v self, value: &'v Value) -> Result<Cow<'v, Value>, SearchError> {
        evaluate::search(&self.root, value)
    }
}

/// Why a text is not an expression.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ParseError {
    offset: usize,
    message: Cow<'static, str>,
}

impl ParseError {
    /// The position of the error in the text, in bytes.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "JMESPath expression, byte {}: {}",
            self.offset, self.message
        )
    }
}

impl Error for ParseError {}

/// Why a search has no result.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SearchError {
    /// An argument does not have a type that the function accepts.
    ArgumentType {
        /// The name of the function.
        function: &'static str,
    },
    /// A slice has the step 0.
    SliceStep,
    /// The search copies more than about a million values.
    TooLarge,
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ArgumentType { function } => {
                write!(
                    f,
                    "JMESPath: an argument of `{function}` has the wrong type"
                )
            }
            Self::SliceStep => f.write_str("JMESPath: a slice has the step 0"),
            Self::TooLarge => f.write_str("JMESPath: the result is too large"),
        }
    }
}

impl Error for SearchError {}

#[derive(Clone, Debug)]
enum Node {
    And(Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
    Compare(Comparison, Box<Node>, Box<Node>),
    Current,
    Field(String),
    /// Projects the right node over the items of the left that fulfil the condition.
    FilterProjection(Box<[Node; 3]>),
    Flatten(Box<Node>),
    Index(i64),
    /// Projects the right node over the items of the left.
    ListProjection(Box<Node>, Box<Node>),
    Literal(Value),
    MultiHash(Vec<(String, Node)>),
    MultiList(Vec<Node>),
    Not(Box<Node>),
    /// Projects the right node over the values of the left.
    ObjectProjection(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Slice(Option<i64>, Option<i64>, i64),
    /// The right node, applied to the result of the left.
    Sub(Box<Node>, Box<Node>),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Comparison {
    Equal,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    NotEqual,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Function {
    Contains,
    EndsWith,
    Join,
    Keys,
    Length,
    NotNull,
    StartsWith,
    ToArray,
    ToString,
    Type,
    Values,
}

impl Function {
    const ALL: [Self; 11] = [
        Self::Contains,
        Self::EndsWith,
        Self::Join,
        Self::Keys,
        Self::Length,
        Self::NotNull,
        Self::StartsWith,
        Self::ToArray,
        Self::ToString,
        Self::Type,
        Self::Values,
    ];

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Contains => "contains",
            Self::EndsWith => "ends_with",
            Self::Join => "join",
            Self::Keys => "keys",
            Self::Length => "length",
            Self::NotNull => "not_null",
            Self::StartsWith => "starts_with",
            Self::ToArray => "to_array",
            Self::ToString => "to_string",
            Self::Type => "type",
            Self::Values => "values",
        }
    }

    /// Whether the function takes this number of arguments.
    fn accepts(self, count: usize) -> bool {
        match self {
            Self::Contains | Self::EndsWith | Self::Join | Self::StartsWith => count == 2,
            Self::NotNull => count >= 1,
            Self::Keys
            | Self::Length
            | Self::ToArray
            | Self::ToString
            | Self::Type
            | Self::Values => count == 1,
        }
    }
}
