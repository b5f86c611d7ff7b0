//! The names that a server answers, looked up.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::request;
use polywire_codec::xmlrpc::{Style, XmlRpcDecoder, XmlRpcProfile};
use polywire_protocol::{Fault, FaultKind, ProtocolKind, check_coding};
use polywire_schema::{Body, Limits};
use tower::{ServiceExt, service_fn};

use super::call::{Answering, MethodCall, MethodFuture, MethodService};
use super::format::Form;
use super::function::Method;
use super::parameters::{Place, Reader, Source, Whole};
use super::stream::{StreamCall, StreamMethod};
use super::system::{About, System};
use super::wire::method_of;
use crate::Context;
use crate::call::Target;
use crate::server::{App, Pipe, decode_on_pool, is_large};

/// A named method.
pub(crate) struct Entry {
    name: Box<str>,
    work: Work,
    room: Room,
}

/// What is done for a name.
pub(crate) enum Work {
    Bytes(BytesFunction),
    Own(Box<dyn Method>),
    Stream(Box<dyn StreamMethod>),
    System(System),
}

/// A function of the input as it came, what it appends to, and the circumstances.
pub(crate) type BytesFunction =
    Box<dyn Fn(&[u8], &mut Vec<u8>, &Context) -> Result<(), Fault> + Send + Sync>;

/// All names of a server: its methods, and the operations of its model where
/// XML-RPC offers them.
pub(crate) struct Router {
    names: HashMap<Box<str>, Target>,
    /// Methods behind layers, if there are any.
    layered: Option<MethodService>,
    profile: XmlRpcProfile,
    style: Style,
    /// What is known of each name, if callers may ask for it.
    pub(crate) about: Vec<(Box<str>, About)>,
}

/// A call whose name has been looked up.
pub(crate) struct Found<'a> {
    pub(crate) target: Target,
    pub(crate) source: Source<'a>,
    pub(crate) form: Form,
}

impl Entry {
    pub(crate) fn new(name: &str, work: Work) -> Self {
        Self {
            name: name.into(),
            work,
            room: Room::default(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) const fn is_multicall(&self) -> bool {
        matches!(self.work, Work::System(System::Multicall))
    }

    /// Whether its calls have streams, which only frames carry.
    pub(crate) const fn is_stream(&self) -> bool {
        matches!(self.work, Work::Stream(_))
    }

    /// Whether only frames carry its calls.
    pub(crate) const fn is_of_frames(&self) -> bool {
        matches!(self.work, Work::Bytes(_) | Work::Stream(_))
    }

    /// The function of bytes that it is.
    pub(crate) const fn bytes(&self) -> Option<&BytesFunction> {
        match &self.work {
            Work::Bytes(function) => Some(function),
            _ => None,
        }
    }

    /// Records the size of a reply, to reserve it for the next.
    pub(crate) fn record_size(&self, len: usize) {
        self.room.took(len);
    }

    /// Reads the parameters and begins, without layers.
    fn begin(
        &self,
        app: &Arc<App>,
        source: Source<'_>,
        context: Context,
        mut answer: Answering,
    ) -> Result<MethodFuture, Fault> {
        match &self.work {
            Work::Bytes(_) => Err(self.no_bytes()),
            Work::Own(method) => method.call(source, context, answer),
            Work::Stream(method) => {
                let Some(pipe) = answer.pipe.take() else {
                    return Err(self.no_streams());
                };
                let call = StreamCall::new(pipe, *source.limits, context);
                method.call(source, call, answer)
            }
            Work::System(system) => system.call(app, source, context, answer),
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
        about: Vec<(Box<str>, About)>,
    ) -> Self {
        let layered = (!layers.is_empty()).then(|| {
            let base = service_fn(|call: MethodCall| {
                let MethodCall {
                    app,
                    entry,
                    answer,
                    parameters,
                    context,
                } = call;
                let is_large = is_large(parameters.bytes());
                let deadline = context.deadline;
                async move {
                    let begin = move |app: &Arc<App>| {
                        parameters.read(|source| entry.begin(app, source, context, answer))
                    };
                    match is_large {
                        true => decode_on_pool(app, deadline, begin).await?.await,
                        false => begin(&app)?.await,
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
            about,
        }
    }

    /// All names.
    pub(crate) fn targets(&self) -> impl Iterator<Item = (&str, &Target)> {
        self.names.iter().map(|(name, target)| (&**name, target))
    }

    pub(crate) fn find(&self, name: &str) -> Result<&Target, Fault> {
        self.names.get(name).ok_or_else(|| self.no_method(name))
    }

    /// A name that nobody knows. If callers may ask for the names that there are, they
    /// are told one that they may have meant.
    #[cold]
    pub(crate) fn no_method(&self, name: &str) -> Fault {
        const LONGEST: usize = 64;
        let shown: String = name.chars().take(LONGEST).collect();
        let more = if shown.len() < name.len() { "..." } else { "" };
        let mut message = format!("no method `{}{more}`", shown.escape_debug());
        let mut known = self.about.iter().map(|(known, _)| &**known);
        if let Some(known) = known.find(|known| more.is_empty() && is_like(known, name)) {
            message.push_str(&format!(", but `{known}`"));
        }
        Fault::new(FaultKind::UnknownOperation, message)
    }

    /// Looks up what a whole request calls.
    pub(crate) fn route<'a>(
        &self,
        kind: ProtocolKind,
        head: &request::Parts,
        bytes: &'a Bytes,
        body: &'a Body,
        limits: &'a Limits,
    ) -> Result<Found<'a>, Fault> {
        check_coding(&head.headers)?;
        if kind == ProtocolKind::XmlRpc {
            return self.route_xmlrpc(bytes, body, limits);
        }
        let target = self.find(&method_of(head).unwrap_or_default())?.clone();
        Ok(Found {
            target,
            source: Place::Cbor.open(bytes, body, limits)?,
            form: Form::Cbor,
        })
    }

    fn route_xmlrpc<'a>(
        &self,
        bytes: &'a Bytes,
        body: &'a Body,
        limits: &'a Limits,
    ) -> Result<Found<'a>, Fault> {
        let read = XmlRpcDecoder::call(body, self.profile, limits);
        let (name, decoder) = read?;
        let target = self.find(&name)?.clone();
        Ok(Found {
            target,
            source: Source {
                bytes: Whole::Shared(bytes),
                place: Place::XmlRpc(self.profile),
                limits,
                reader: Reader::XmlRpc(decoder),
            },
            form: Form::XmlRpcResponse(self.style),
        })
    }

    /// Starts a call of a method: its parameters are read by it, or by the layers around it. `pipe` carries the items of
    /// a method with streams. The reply is written into `space`.
    pub(crate) fn start(
        &self,
        app: &Arc<App>,
        entry: &Arc<Entry>,
        source: Source<'_>,
        context: Context,
        (form, space, pipe): (Form, Vec<u8>, Option<Arc<Pipe>>),
    ) -> Result<MethodFuture, Fault> {
        let mut answer = Answering::new(form, entry.room.expected());
        answer.space = space;
        answer.pipe = pipe;
        let Some(layered) = &self.layered else {
            return entry.begin(app, source, context, answer);
        };
        let call = MethodCall {
            app: Arc::clone(app),
            entry: Arc::clone(entry),
            answer,
            parameters: source.keep(),
            context,
        };
        Ok(Box::pin(layered.clone().oneshot(call)))
    }
}

/// Whether two names differ in nothing but case and punctuation, or one lacks the
/// group of the other. Cheap, since callers can make a server ask it.
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

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router")
            .field("names", &self.names.len())
            .finish_non_exhaustive()
    }
}

/// How much space replies of a method lately took. A guess and nothing more:
/// threads may write it as they like.
#[derive(Debug, Default)]
struct Room(AtomicUsize);

impl Room {
    /// More than this is not made room for ahead.
    const MOST: usize = 64 * 1024;
    /// Less is not worth telling apart.
    const LEAST: usize = 256;

    fn expected(&self) -> usize {
        self.0.load(Ordering::Relaxed).max(Self::LEAST)
    }

    /// Mostly nothing is written, so that threads do not take the guess from one
    /// another.
    fn took(&self, len: usize) {
        let room = self.0.load(Ordering::Relaxed);
        let wanted = (len + len / 8).min(Self::MOST);
        if len.min(Self::MOST) > room {
            self.0.store(wanted, Ordering::Relaxed);
        } else if wanted < room / 4 && room > Self::LEAST {
            self.0.store(room / 2, Ordering::Relaxed);
        }
    }
}
