//! The path of a protocol that has one path for all operations: JSON-RPC and XML-RPC.

use http::{Method, Uri, request};
use polywire_schema::{Error, ErrorKind};

use crate::{Fault, FaultKind, intern};

/// A path at which clients call all operations.
#[derive(Debug)]
pub(crate) struct EndpointPath {
    path: String,
    /// The target of requests. `None` if the path is not valid as one.
    target: Option<Uri>,
    /// The name of the protocol, for messages.
    protocol: &'static str,
}

impl EndpointPath {
    pub(crate) fn new(path: impl Into<String>, protocol: &'static str) -> Self {
        let path = path.into();
        let is_path = path.starts_with('/');
        Self {
            target: is_path.then(|| intern::target(&path)).flatten(),
            path,
            protocol,
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.path
    }

    /// Returns the target of requests.
    pub(crate) fn target(&self) -> Result<Uri, Error> {
        self.target.clone().ok_or_else(|| {
            Error::new(ErrorKind::Internal)
                .in_format(self.protocol)
                .expected(format!("a path, not {}", self.path))
        })
    }

    /// Checks that a request is a `POST` to this path.
    pub(crate) fn check(&self, head: &request::Parts) -> Result<(), Fault> {
        let path = head.uri.path();
        if path != self.path {
            let message = format!("the path of {} is {}, not {path}", self.protocol, self.path);
            return Err(Fault::new(FaultKind::UnknownOperation, message));
        }
        if head.method != Method::POST {
            return Err(Fault::method_not_allowed(vec![Method::POST]));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets() {
        for path in ["/", "/RPC2", "/a/b?c=d"] {
            let target = EndpointPath::new(path, "XML-RPC").target().unwrap();
            assert_eq!(target.to_string(), path);
        }
        for path in ["", "RPC2", "http://host/RPC2", "/a b"] {
            let error = EndpointPath::new(path, "XML-RPC").target().unwrap_err();
            let expected = format!("a path, not {path}");
            assert!(error.to_string().contains(&expected), "{error}");
        }
    }
}
