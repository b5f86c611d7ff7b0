//! A call of a named method, and its reply.

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

use super::format::{self, ReplyFormat};
use super::parameters::Parameters;
use super::router::Entry;
use crate::Context;
use crate::call::Engine;
use crate::call::pipe::Pipe;

/// The future of a method's reply.
pub(crate) type MethodFuture = Pin<Box<dyn Future<Output = Result<MethodReply, Fault>> + Send>>;

/// The service of named methods that layers wrap.
pub type MethodService = BoxCloneSyncService<MethodCall, MethodReply, Fault>;

const TEXT_XML: HeaderValue = HeaderValue::from_static("text/xml");

/// A call of a named method before its parameters are decoded. The request type of layers around methods.
pub struct MethodCall {
    pub(crate) engine: Arc<Engine>,
    pub(crate) entry: Arc<Entry>,
    pub(crate) reply: ReplyWriter,
    /// The parameters.
    pub parameters: Parameters,
    /// The context of the call.
    pub context: Context,
}

impl MethodCall {
    /// The name of the method.
    #[must_use]
    pub fn name(&self) -> &str {
        self.entry.name()
    }

    /// A number for the format of the reply. A cached reply is valid only for calls of the same format.
    #[cfg(feature = "cache")]
    pub(crate) const fn reply_format(&self) -> u8 {
        match self.reply.format {
            ReplyFormat::XmlRpcResponse(_) => 0,
            ReplyFormat::XmlRpcValue(_) => 1,
            ReplyFormat::Cbor => 2,
        }
    }

    /// Creates a reply to this call from a value, for a layer that replies without calling the method.
    ///
    /// # Errors
    ///
    /// The format of the call cannot represent the value.
    pub fn reply(&self, value: &Value) -> Result<MethodReply, Fault> {
        ReplyWriter::new(self.reply.format, 0).value(value)
    }
}

impl_debug!(|this| MethodCall {
    name: this.name(),
    parameters: this.parameters,
    context: this.context
});

/// Writes the result of a call.
#[derive(Debug)]
pub(crate) struct ReplyWriter {
    pub(crate) format: ReplyFormat,
    /// The capacity to reserve.
    capacity: usize,
    /// The buffer to reuse.
    pub(crate) buffer: Vec<u8>,
    /// The streams of the call, if it has any.
    pub(crate) pipe: Option<Arc<Pipe>>,
}

impl ReplyWriter {
    pub(crate) const fn new(format: ReplyFormat, capacity: usize) -> Self {
        Self {
            format,
            capacity,
            buffer: Vec::new(),
            pipe: None,
        }
    }

    pub(crate) fn take_buffer(&mut self) -> Vec<u8> {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.reserve(self.capacity);
        buffer
    }

    pub(crate) fn serialize<T: Serialize>(mut self, result: &T) -> Result<MethodReply, Fault> {
        let buffer = self.take_buffer();
        // A result that cannot be written is a bug of the server: the reason is logged and not sent.
        let bytes = format::serialize(self.format, buffer, result).map_err(Fault::internal)?;
        Ok(MethodReply::new(self.format, bytes))
    }

    pub(crate) fn value(mut self, result: &Value) -> Result<MethodReply, Fault> {
        let buffer = self.take_buffer();
        let bytes = format::write(self.format, buffer, result).map_err(Fault::internal)?;
        Ok(MethodReply::new(self.format, bytes))
    }
}

/// The encoded result of a method. Cloning copies the bytes unless the reply is [shared](Self::share).
#[derive(Clone)]
pub struct MethodReply {
    format: ReplyFormat,
    bytes: ReplyBytes,
}

#[derive(Clone)]
enum ReplyBytes {
    Owned(Vec<u8>),
    Shared(Bytes),
}

impl MethodReply {
    pub(crate) const fn new(format: ReplyFormat, bytes: Vec<u8>) -> Self {
        Self {
            format,
            bytes: ReplyBytes::Owned(bytes),
        }
    }

    /// The encoded result without the envelope of the message.
    #[must_use]
    pub fn value(&self) -> &[u8] {
        let bytes = self.bytes();
        match self.format {
            ReplyFormat::XmlRpcResponse(_) => format::value_of_response(bytes),
            ReplyFormat::XmlRpcValue(_) | ReplyFormat::Cbor => bytes,
        }
    }

    /// The number of bytes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no reply is empty")]
    pub fn len(&self) -> usize {
        self.bytes().len()
    }

    /// Makes clones share the bytes.
    #[must_use]
    pub fn share(self) -> Self {
        let bytes = match self.bytes {
            ReplyBytes::Owned(bytes) => Bytes::from(bytes),
            ReplyBytes::Shared(bytes) => bytes,
        };
        Self {
            format: self.format,
            bytes: ReplyBytes::Shared(bytes),
        }
    }

    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            ReplyBytes::Owned(bytes) => bytes,
            ReplyBytes::Shared(bytes) => bytes,
        }
    }

    /// Converts the reply into an HTTP response.
    pub(crate) fn into_response(self) -> Response<Bytes> {
        match self.format {
            ReplyFormat::Cbor => super::wire::response(self),
            ReplyFormat::XmlRpcResponse(_) | ReplyFormat::XmlRpcValue(_) => {
                let mut response = Response::new(self.into_bytes());
                // Not a clone of a prepared map: hyper reuses this map for the next request, and a clone has no spare
                // capacity.
                response.headers_mut().insert(CONTENT_TYPE, TEXT_XML);
                response
            }
        }
    }

    /// The bytes of the message.
    pub(crate) fn into_bytes(self) -> Bytes {
        match self.bytes {
            ReplyBytes::Owned(bytes) => Bytes::from(bytes),
            ReplyBytes::Shared(bytes) => bytes,
        }
    }

    /// The buffer, to be reused. Empty if the bytes are shared.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        match self.bytes {
            ReplyBytes::Owned(bytes) => bytes,
            ReplyBytes::Shared(_) => Vec::new(),
        }
    }
}

impl_debug!(|this| MethodReply {
    format: this.format,
    len: this.len()
});
