//! Errors of building methods.

use std::fmt;

/// The reason why methods cannot be offered.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum MethodsError {
    /// Two methods, or a method and an operation, have this name.
    Duplicate(String),
    /// There is a help text or signature for an unknown name.
    Unknown(String),
    /// The error of a method's `Result` does not convert into a fault, so the `Result` would be encoded as a struct with
    /// the member `Ok` or `Err`. The name of the method, and its return type.
    NotAFault(String, &'static str),
    /// A path does not begin with a slash.
    Path(String),
    /// A name is empty, or contains control characters or surrounding white space.
    Name(String),
    /// A bytes method would bypass the layers around methods.
    BypassesLayers(String),
}

impl fmt::Display for MethodsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate(name) => write!(
                f,
                "`{name}` is the name of two methods, or of a method and an operation"
            ),
            Self::Unknown(name) => write!(
                f,
                "a help text or signature for `{name}`, which is no method and no operation"
            ),
            Self::NotAFault(name, kind) => write!(
                f,
                "the method `{name}` returns {kind}, whose error is no Fault: turn it into one \
                 (`map_err`, or `impl From<...> for Fault`)"
            ),
            Self::Path(path) => write!(f, "expected a path such as /RPC2, found `{path}`"),
            Self::BypassesLayers(name) => write!(
                f,
                "layers around methods do not see `{name}`, a method of bytes: put it on a server of \
                 its own"
            ),
            Self::Name(name) => write!(f, "no method can be called `{}`", name.escape_debug()),
        }
    }
}

impl std::error::Error for MethodsError {}
