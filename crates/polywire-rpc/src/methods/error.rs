//! What keeps methods from being offered.

use std::fmt;

/// Why methods cannot be offered.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum MethodsError {
    /// A name was given to two methods, or to a method and an operation of the
    /// model.
    Twice(String),
    /// A help text or signature was given for a name that nothing has.
    Unknown(String),
    /// A method returns a `Result` whose error is no fault, which would go out as
    /// a struct with the member `Ok` or `Err`: its name and the type.
    NoFault(String, &'static str),
    /// A path does not begin with a slash.
    Path(String),
    /// A name cannot be sent.
    Name(String),
    /// A method of bytes, which layers around methods do not see, where there are some.
    PastLayers(String),
}

impl fmt::Display for MethodsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Twice(name) => write!(
                f,
                "`{name}` is the name of two methods, or of a method and an operation"
            ),
            Self::Unknown(name) => write!(
                f,
                "a help text or signature for `{name}`, which is no method and no operation"
            ),
            Self::NoFault(name, kind) => write!(
                f,
                "the method `{name}` returns {kind}, whose error is no Fault: turn it into one \
                 (`map_err`, or `impl From<...> for Fault`)"
            ),
            Self::Path(path) => write!(f, "expected a path such as /RPC2, found `{path}`"),
            Self::PastLayers(name) => write!(
                f,
                "layers around methods do not see `{name}`, a method of bytes: put it on a server of \
                 its own"
            ),
            Self::Name(name) => write!(f, "no method can be called `{}`", name.escape_debug()),
        }
    }
}

impl std::error::Error for MethodsError {}
