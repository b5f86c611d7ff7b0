//! Looks up methods by name.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::request;
use polywire_codec::xmlrpc::{Style, XmlRpcDecoder, XmlRpcProfile};
use polywire_protocol::{Fault, FaultKind, ProtocolKind, check_coding};
use polywire_schema::{Body, Limits};
use tower::{ServiceExt, service_fn};

use super::call::{MethodCall, MethodFuture, MethodService, ReplyWriter};
use super::format::ReplyFormat;
use super::function::Method;
use super::parameters::{BodyBytes, Location, Reader, Source};
use super::stream::{StreamCall, StreamMethod};
use super::system::{MethodInfo, SystemMethod};
use super::wire::method_of;
use crate::Context;
use crate::call::decoding::{decode_on_pool, is_large};
use crate::call::pipe::Pipe;
use crate::call::{Engine, Target};

/// A named method.
pub(crate) struct Entry {
    name: Box<str>,
    implementation: Implementation,
    reply_size: SizeEstimate,
}

/// The implementation of a method.
pub(crate) enum Implementation {
    Bytes(BytesFunction),
    Function(Box<dyn Method>),
    Stream(Box<dyn StreamMethod>),
    System(SystemMethod),
}

/// A function of the raw input, the output that it appends to, and the context.
pub(crate) type BytesFunction =
    Box<dyn Fn(&[u8], &mut Vec<u8>, &Context) -> Result<(), Fault> + Send + Sync>;

/// The methods of a server by name, and the operations that XML-RPC offers.
pub(crate) struct Router {
    names: HashMap<Box<str>, Target>,
    /// The methods behind the layers around methods. `None` without layers.
    layered: Option<MethodService>,
    profile: XmlRpcProfile,
    style: Style,
    /// Sorted by name. Empty without introspection.
    pub(crate) info: Vec<(Box<str>, MethodInfo)>,
}

/// The target of a call, and its undecoded parameters.
pub(crate) struct RouteMatch<'a> {
    pub(crate) target: Target,
    pub(crate) source: Source<'a>,
    pub(crate) format: ReplyFormat,
}

impl Entry {
    pub(crate) fn new(name: &str, implementation: Implementation) -> Self {
        Self {
            name: name.into(),
            implementation,
            reply_size: SizeEstimate::default(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) const fn is_multicall(&self) -> bool {
        matches!(
            self.implementation,
            Implementation::System(SystemMethod::Multicall)
        )
    }

    /// Whether it is a method with streams.
    pub(crate) const fn is_stream(&self) -> bool {
        matches!(self.implementation, Implementation::Stream(_))
    }

    /// Whether only frames carry its calls.
    pub(crate) const fn is_frames_only(&self) -> bool {
        matches!(
            self.implementation,
            Implementation::Bytes(_) | Implementation::Stream(_)
        )
    }

    /// The function of a bytes method.
    pub(crate) const fn bytes(&self) -> Option<&BytesFunction> {
        match &self.implementation {
            Implementation::Bytes(function) => Some(function),
            _ => None,
        }
    }

    /// Records the size of a reply. The next reply reserves as much.
    pub(crate) fn record_size(&self, len: usize) {
        self.reply_size.record(len);
    }

    /// Decodes the parameters and starts the call, without layers.
    fn start(
        &self,
        engine: &Arc<Engine>,
        source: Source<'_>,
        context: Context,
        mut reply: ReplyWriter,
    ) -> Result<MethodFuture, Fault> {
        match &self.implementation {
            Implementation::Bytes(_) => Err(self.no_bytes()),
            Implementation::Function(method) => method.call(source, context, reply),
            Implementation::Stream(method) => {
                let Some(pipe) = reply.pipe.take() else {
                    return Err(self.no_streams());
                };
                let call = StreamCall::new(pipe, *source.limits, context);
                method.call(source, call, reply)
            }
            Implementation::System(method) => method.call(engine, source, context, reply),
        }
    }
}

impl Entry {
    #[cold]
    fn no_bytes(&self) -> Fault {
        let message = format!(
            "`{}` is a method of bytes, which only frames carry",
            self.name
        );
        Fault::new(FaultKind::UnknownOperation, message)
    }

    #[cold]
    fn no_streams(&self) -> Fault {
        let message = format!("`{}` has streams, which only frames carry", self.name);
        Fault::new(FaultKind::UnknownOperation, message)
    }
}

impl Router {
    pub(crate) fn new(
        names: HashMap<Box<str>, Target>,
        layers: Vec<Box<dyn FnOnce(MethodService) -> MethodService>>,
        (profile, style): (XmlRpcProfile, Style),
        info: Vec<(Box<str>, MethodInfo)>,
    ) -> Self {
        let layered = (!layers.is_empty()).then(|| {
            let base = service_fn(|call: MethodCall| {
                let MethodCall {
                    engine,
                    entry,
                    reply,
                    parameters,
                    context,
                } = call;
                let is_large = is_large(parameters.bytes());
                let deadline = context.deadline;
                async move {
                    let start = move |engine: &Arc<Engine>| {
                        parameters.read(|source| entry.start(engine, source, context, reply))
                    };
                    match is_large {
                        true => decode_on_pool(engine, deadline, start).await?.await,
                        false => start(&engine)?.await,
                    }
                }
            });
            let base = MethodService::new(base);
            layers.into_iter().fold(base, |inner, layer| layer(inner))
        });
        Self {
            names,
            layered,
            profile,
            style,
            info,
        }
    }

    /// All names and their targets.
    pub(crate) fn targets(&self) -> impl Iterator<Item = (&str, &Target)> {
        self.names.iter().map(|(name, target)| (&**name, target))
    }

    pub(crate) fn find(&self, name: &str) -> Result<&Target, Fault> {
        self.names.get(name).ok_or_else(|| self.no_method(name))
    }

    /// The fault for an unknown name. With introspection it suggests a similar name.
    #[cold]
    pub(crate) fn no_method(&self, name: &str) -> Fault {
        const MAX_SHOWN_CHARS: usize = 64;
        let shown: String = name.chars().take(MAX_SHOWN_CHARS).collect();
        let more = if shown.len() < name.len() { "..." } else { "" };
        let mut message = format!("no method `{}{more}`", shown.escape_debug());
        let mut known = self.info.iter().map(|(known, _)| &**known);
        if let Some(known) = known.find(|known| more.is_empty() && is_like(known, name)) {
            message.push_str(&format!(", but `{known}`"));
        }
        Fault::new(FaultKind::UnknownOperation, message)
    }

    /// Finds the target of a request.
    pub(crate) fn route<'a>(
        &self,
        kind: ProtocolKind,
        head: &request::Parts,
        bytes: &'a Bytes,
        body: &'a Body,
        limits: &'a Limits,
    ) -> Result<RouteMatch<'a>, Fault> {
        check_coding(&head.headers)?;
        if kind == ProtocolKind::XmlRpc {
            return self.route_xmlrpc(bytes, body, limits);
        }
        let target = self.find(&method_of(head).unwrap_or_default())?.clone();
        Ok(RouteMatch {
            target,
            source: Location::Cbor.open(bytes, body, limits)?,
            format: ReplyFormat::Cbor,
        })
    }

    fn route_xmlrpc<'a>(
        &self,
        bytes: &'a Bytes,
        body: &'a Body,
        limits: &'a Limits,
    ) -> Result<RouteMatch<'a>, Fault> {
        let read = XmlRpcDecoder::call(body, self.profile, limits);
        let (name, decoder) = read?;
        let target = self.find(&name)?.clone();
        Ok(RouteMatch {
            target,
            source: Source {
                bytes: BodyBytes::Shared(bytes),
                location: Location::XmlRpc(self.profile),
                limits,
                reader: Reader::XmlRpc(decoder),
            },
            format: ReplyFormat::XmlRpcResponse(self.style),
        })
    }

    /// Starts a call of a method, behind the layers if there are any. The reply is written into `buffer`. `pipe` carries
    /// the items of a method with streams.
    pub(crate) fn start(
        &self,
        engine: &Arc<Engine>,
        entry: &Arc<Entry>,
        source: Source<'_>,
        context: Context,
        (format, buffer, pipe): (ReplyFormat, Vec<u8>, Option<Arc<Pipe>>),
    ) -> Result<MethodFuture, Fault> {
        let mut reply = ReplyWriter::new(format, entry.reply_size.get());
        reply.buffer = buffer;
        reply.pipe = pipe;
        let Some(layered) = &self.layered else {
            return entry.start(engine, source, context, reply);
        };
        let call = MethodCall {
            engine: Arc::clone(engine),
            entry: Arc::clone(entry),
            reply,
            parameters: source.to_parameters(),
            context,
        };
        Ok(Box::pin(layered.clone().oneshot(call)))
    }
}

/// Whether two names are equal except for case and punctuation, or `asked` is the end of `known`, such as its part after
/// the dot. Runs for each known name, so it must be cheap.
fn is_like(known: &str, asked: &str) -> bool {
    let letters = |name: &str| {
        let letters = name.bytes().filter(u8::is_ascii_alphanumeric);
        letters
            .map(|byte| byte.to_ascii_lowercase())
            .collect::<Vec<_>>()
    };
    let (known, asked) = (letters(known), letters(asked));
    !asked.is_empty() && known.ends_with(&asked) && (known.len() == asked.len() || asked.len() > 2)
}

impl_debug!(|this| Router {
    names: this.names.len()
});

/// An estimate of the size of replies in bytes, from the last ones. Lost updates of concurrent threads do not matter.
#[derive(Debug, Default)]
struct SizeEstimate(AtomicUsize);

impl SizeEstimate {
    const MAX: usize = 64 * 1024;
    const MIN: usize = 256;

    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed).max(Self::MIN)
    }

    /// Usually writes nothing, so that threads do not contend for the cache line.
    fn record(&self, len: usize) {
        let estimate = self.0.load(Ordering::Relaxed);
        let wanted = (len + len / 8).min(Self::MAX);
        if len.min(Self::MAX) > estimate {
            self.0.store(wanted, Ordering::Relaxed);
        } else if wanted < estimate / 4 && estimate > Self::MIN {
            self.0.store(estimate / 2, Ordering::Relaxed);
        }
    }
}
