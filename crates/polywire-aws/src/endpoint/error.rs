//! Errors of rule sets and of their evaluation.

use std::error::Error;
use std::fmt;

/// A rule set, or a table of partitions, that is not valid.
///
/// It names the place in the JSON document, such as `$.rules[2].conditions[0].argv[1]`, and what was expected there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RuleSetError(Box<(String, String)>);

impl RuleSetError {
    #[cold]
    pub(super) fn new(path: impl fmt::Display, message: impl Into<String>) -> Self {
        Self(Box::new((path.to_string(), message.into())))
    }

    /// The place in the JSON document; `$` is the document itself.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.0
    }

    /// What is wrong there.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.1
    }
}

impl fmt::Display for RuleSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path(), self.message())
    }
}

impl Error for RuleSetError {}

/// An argument that a rule set does not accept.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ArgumentError {
    /// The rule set has no such parameter.
    Unknown {
        /// The name of the argument.
        name: String,
    },
    /// The argument does not have the type of the parameter.
    Type {
        /// The name of the parameter.
        name: String,
        /// The type of the parameter.
        expected: super::ParameterType,
    },
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name } => write!(f, "the rule set has no parameter `{name}`"),
            Self::Type { name, expected } => {
                write!(
                    f,
                    "the parameter `{name}` requires a value of the type {expected}"
                )
            }
        }
    }
}

impl Error for ArgumentError {}

/// Why a rule set gave no endpoint.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ResolveError {
    /// A required parameter has neither an argument nor a default.
    MissingParameter {
        /// The name of the parameter.
        name: String,
    },
    /// An error rule matched: the combination of arguments is not supported. The message is the one of the rule set.
    Rejected {
        /// The message, in which the arguments may occur.
        message: String,
    },
    /// No rule matched.
    NoMatch,
    /// A result uses a value that is not set. Only decision diagrams cause it: the uses of rule trees are checked when
    /// they are read.
    Absent,
    /// A text became longer than [`MAX_TEXT`](super::MAX_TEXT) bytes.
    TooLong,
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingParameter { name } => {
                write!(f, "the required parameter `{name}` is not set")
            }
            Self::Rejected { message } => f.write_str(message),
            Self::NoMatch => f.write_str("no endpoint rule matches"),
            Self::Absent => f.write_str("the endpoint rule uses a value that is not set"),
            Self::TooLong => write!(
                f,
                "a text of the endpoint rules is longer than {} bytes",
                super::MAX_TEXT
            ),
        }
    }
}

impl Error for ResolveError {}
