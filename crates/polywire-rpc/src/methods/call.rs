//! A call of a named method, and what it ends in.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response};
use polywire_protocol::Fault;
use polywire_schema::Value;
use serde::Serialize;
use tower::util::BoxCloneSyncService;

use super::format::{self, Form};
use super::parameters::Parameters;
use super::router::Entry;
use crate::Context;
use crate::server::{App, Pipe};

/// A future that ends in the reply of a method.
pub(crate) type MethodFuture = Pin<Box<dyn Future<Output = Result<MethodReply, Fault>> + Send>>;

/// What a layer around named methods gets, and what it may return.
pub type MethodService = BoxCloneSyncService<MethodCall, MethodReply, Fault>;

const TEXT_XML: HeaderValue = HeaderValue::from_static("text/xml");

/// A call of a named method whose parameters have not been read: what layers
/// around methods see.
pub struct MethodCall {
    pub(crate) app: Arc<App>,
    pub(crate) entry: Arc<Entry>,
    pub(crate) answer: Answering,
    /// The parameters.
    pub parameters: Parameters,
    /// The circumstances.
    pub context: Context,
}

impl MethodCall {
    /// The name of the method.
    #[must_use]
    pub fn name(&self) -> &str {
        self.entry.name()
    }

    /// In which form the reply is to be written: replies of one form cannot answer
    /// calls of another.
    #[cfg(feature = "cache")]
    pub(crate) const fn form(&self) -> u8 {
        match self.answer.form {
            Form::XmlRpcResponse(_) => 0,
            Form::XmlRpcValue(_) => 1,
            Form::Cbor => 2,
        }
    }

    /// A reply for this call, of a value: for a layer that answers it itself.
    ///
    /// # Errors
    ///
    /// The format of the call has no form for the value.
    pub fn reply(&self, value: &Value) -> Result<MethodReply, Fault> {
        Answering::new(self.answer.form, 0).value(value)
    }

    /// The same for a value of a type.
    ///
    /// # Errors
    ///
    /// The format of the call has no form for the value.
    pub fn reply_with<T: Serialize>(&self, value: &T) -> Result<MethodReply, Fault> {
        Answering::new(self.answer.form, 0).serialize(value)
    }
}

impl fmt::Debug for MethodCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MethodCall")
            .field("name", &self.name())
            .field("parameters", &self.parameters)
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

/// How a result is to be written, and into what.
#[derive(Debug)]
pub(crate) struct Answering {
    pub(crate) form: Form,
    /// How much space it will take.
    room: usize,
    /// Space that is there already.
    pub(crate) space: Vec<u8>,
    /// Where the items of a call with streams go.
    pub(crate) pipe: Option<Arc<Pipe>>,
}

impl Answering {
    pub(crate) const fn new(form: Form, room: usize) -> Self {
        Self {
            form,
            room,
            space: Vec::new(),
            pipe: None,
        }
    }

    pub(crate) fn out(&mut self) -> Vec<u8> {
        let mut out = std::mem::take(&mut self.space);
        out.clear();
        out.reserve(self.room);
        out
    }

    /// Writes a result of a type.
    pub(crate) fn serialize<T: Serialize>(mut self, result: &T) -> Result<MethodReply, Fault> {
        let out = self.out();
        // What cannot be written is a bug of this side: its reason is for the log.
        let bytes = format::serialize(self.form, out, result).map_err(Fault::internal)?;
        Ok(MethodReply::new(self.form, bytes))
    }

    /// Writes a result that is a value.
    pub(crate) fn value(mut self, result: &Value) -> Result<MethodReply, Fault> {
        let out = self.out();
        let bytes = format::write(self.form, out, result).map_err(Fault::internal)?;
        Ok(MethodReply::new(self.form, bytes))
    }
}

/// The result of a method as its caller will get it. Cloning shares the bytes if
/// the reply is [shared](Self::share).
#[derive(Clone)]
pub struct MethodReply {
    form: Form,
    bytes: Kept,
}

#[derive(Clone)]
enum Kept {
    Own(Vec<u8>),
    Shared(Bytes),
}

impl MethodReply {
    pub(crate) const fn new(form: Form, bytes: Vec<u8>) -> Self {
        Self {
            form,
            bytes: Kept::Own(bytes),
        }
    }

    /// The bytes of the result in the format of the call, without what surrounds
    /// them in a message.
    #[must_use]
    pub fn value(&self) -> &[u8] {
        let bytes = self.bytes();
        match self.form {
            Form::XmlRpcResponse(_) => format::value_of_response(bytes),
            Form::XmlRpcValue(_) | Form::Cbor => bytes,
        }
    }

    /// How many bytes it takes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no reply is empty")]
    pub fn len(&self) -> usize {
        self.bytes().len()
    }

    /// Makes it cheap to clone.
    #[must_use]
    pub fn share(self) -> Self {
        let bytes = match self.bytes {
            Kept::Own(bytes) => Bytes::from(bytes),
            Kept::Shared(bytes) => bytes,
        };
        Self {
            form: self.form,
            bytes: Kept::Shared(bytes),
        }
    }

    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Kept::Own(bytes) => bytes,
            Kept::Shared(bytes) => bytes,
        }
    }

    /// The response that it is.
    pub(crate) fn into_response(self) -> Response<Bytes> {
        match self.form {
            Form::Cbor => super::wire::response(self),
            Form::XmlRpcResponse(_) | Form::XmlRpcValue(_) => {
                let mut response = Response::new(self.into_bytes());
                // Not the copy of a ready map: hyper uses this one for the head of the
                // next request, and one without room would have to grow there.
                response.headers_mut().insert(CONTENT_TYPE, TEXT_XML);
                response
            }
        }
    }

    /// The bytes as they go out.
    pub(crate) fn into_bytes(self) -> Bytes {
        match self.bytes {
            Kept::Own(bytes) => Bytes::from(bytes),
            Kept::Shared(bytes) => bytes,
        }
    }

    /// The space that it took, to be used again.
    pub(crate) fn into_space(self) -> Vec<u8> {
        match self.bytes {
            Kept::Own(bytes) => bytes,
            Kept::Shared(_) => Vec::new(),
        }
    }
}

impl fmt::Debug for MethodReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MethodReply")
            .field("form", &self.form)
            .field("len", &self.len())
            .finish()
    }
}
