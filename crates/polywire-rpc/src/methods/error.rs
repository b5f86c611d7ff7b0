//! Errors of building methods.

/// The reason why methods cannot be offered.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MethodsError {
    /// Two methods, or a method and an operation, have this name.
    #[error("`{0}` is the name of two methods, or of a method and an operation")]
    Duplicate(String),
    /// There is a help text or signature for an unknown name.
    #[error("a help text or signature for `{0}`, which is no method and no operation")]
    Unknown(String),
    /// The error of a method's `Result` does not convert into a fault, so the `Result` would be encoded as a struct with
    /// the member `Ok` or `Err`. The name of the method, and its return type.
    #[error(
        "the method `{0}` returns {1}, whose error is no Fault: turn it into one (`map_err`, or `impl From<...> for \
         Fault`)"
    )]
    NotAFault(String, &'static str),
    /// A path does not begin with a slash.
    #[error("expected a path such as /RPC2, found `{0}`")]
    Path(String),
    /// A name is empty, or contains control characters or surrounding white space.
    #[error("no method can be called `{}`", .0.escape_debug())]
    Name(String),
    /// A bytes method would bypass the layers around methods.
    #[error(
        "layers around methods do not see `{0}`, a method of bytes: put it on a server of its own"
    )]
    BypassesLayers(String),
}
