//! Many calls in one message, and what comes back for each.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use polywire_schema::{Body, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::client::{CallSettings, Client};
use super::message::{self, Part, ReadOptions};
use crate::call::CallTimeout;
use crate::error::{CallError, CallErrorKind};

/// How many calls go into a message.
const CALLS: usize = 100;
/// How many bytes go into a message: rTorrent takes no more than 512 KiB of XML.
const BYTES: usize = 480 * 1024;

/// Calls that are sent together: as few messages of `system.multicall` as hold them, 100
/// calls and 480 KiB in each at most. A server that has no such method gets them one by
/// one, in their order.
///
/// ```no_run
/// # async fn example(client: polywire_rpc::xmlrpc::Client) -> Result<(), polywire_rpc::CallError> {
/// let mut batch = client.batch();
/// let sum = batch.add::<i32>("sample.add", (1, 2))?;
/// let who = batch.add::<String>("who", ())?;
/// let replies = batch.send().await?;
/// println!("{} {}", replies.get(sum)?, replies.get(who)?);
/// # Ok(()) }
/// ```
///
/// What a server puts around results is checked. supervisord puts nothing around them:
/// [`Leniency::with_bare_multicall`](polywire_codec::xmlrpc::Leniency::with_bare_multicall)
/// reads that.
#[derive(Clone)]
#[must_use = "nothing is called before it is sent"]
pub struct Batch<'a> {
    client: &'a Client,
    own: CallSettings,
    most: usize,
    id: u64,
    calls: Vec<Call>,
}

/// The name of a method, and its encoded call.
#[derive(Clone)]
struct Call {
    method: String,
    message: Bytes,
}

/// A call of a batch, for [`Replies::get`].
pub struct BatchCall<T> {
    batch: u64,
    index: usize,
    result: PhantomData<fn() -> T>,
}

impl<T> Clone for BatchCall<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for BatchCall<T> {}

impl<T> fmt::Debug for BatchCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BatchCall({})", self.index)
    }
}

impl<'a> Batch<'a> {
    pub(super) fn new(client: &'a Client) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            client,
            own: CallSettings::default(),
            most: CALLS,
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            calls: Vec::new(),
        }
    }

    /// Adds a call, as [`Client::call`] has it. The place is for
    /// [`Replies::get`].
    ///
    /// # Errors
    ///
    /// A parameter has no form in XML-RPC.
    pub fn add<T: DeserializeOwned>(
        &mut self,
        method: &str,
        parameters: impl Serialize,
    ) -> Result<BatchCall<T>, CallError> {
        let style = self.client.inner.settings.style;
        let message = message::write(method, &parameters, style)?;
        Ok(self.push(method, message))
    }

    /// Adds a call over values.
    ///
    /// # Errors
    ///
    /// A parameter has no form in XML-RPC.
    pub fn add_values(
        &mut self,
        method: &str,
        parameters: &[Value],
    ) -> Result<BatchCall<Value>, CallError> {
        let style = self.client.inner.settings.style;
        let message = message::write_values(method, parameters, style)?;
        Ok(self.push(method, message))
    }

    fn push<T>(&mut self, method: &str, message: Bytes) -> BatchCall<T> {
        let index = self.calls.len();
        let method = method.to_owned();
        self.calls.push(Call { method, message });
        BatchCall {
            batch: self.id,
            index,
            result: PhantomData,
        }
    }

    /// How many calls are in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether no call is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Sets how many calls go into a message, at least one. 100.
    pub fn calls_a_message(mut self, calls: usize) -> Self {
        self.most = calls.max(1);
        self
    }

    /// Says that calling all of it twice is as calling it once: see
    /// [`Method::idempotent`](super::Method::idempotent).
    pub const fn idempotent(mut self) -> Self {
        self.own.idempotent = true;
        self
    }

    /// Sets how long all of it may take.
    pub const fn deadline(mut self, time: Duration) -> Self {
        self.own.deadline = Some(time);
        self
    }

    /// Sends the calls. Each has a result of its own in what comes back.
    ///
    /// # Errors
    ///
    /// There was no answer to the first message. When a later one fails, its calls have
    /// that error, and those behind them [`CallErrorKind::NotSent`]: what has been done is
    /// not lost.
    pub async fn send(self) -> Result<Replies, CallError> {
        let inner = &self.client.inner;
        let total = self.own.deadline.unwrap_or(inner.settings.deadline);
        let timeout = CallTimeout::start(total);
        let mut results = Vec::with_capacity(self.calls.len());
        while results.len() < self.calls.len() {
            let rest = &self.calls[results.len()..];
            // Asked once: another batch may find it out while this one waits.
            let singly = inner.has_no_multicall();
            let count = if singly { 1 } else { self.fitting(rest) };
            let tried = &rest[..count];
            let sent = match singly {
                true => self.send_one(&tried[0], timeout).await,
                false => self.send_many(tried, timeout).await,
            };
            match sent {
                Ok(more) => results.extend(more),
                Err(error)
                    if !singly && self.is_without_multicall(&error, tried, timeout).await =>
                {
                    tracing::debug!("the server has no system.multicall: calls go one by one");
                    inner.set_no_multicall();
                }
                Err(error) if results.is_empty() => return Err(error),
                Err(error) => {
                    let left = rest.len() - count;
                    let behind = CallError::not_sent(error.clone());
                    results.extend((0..count).map(|_| Err(error.clone())));
                    results.extend((0..left).map(|_| Err(behind.clone())));
                }
            }
        }
        Ok(Replies {
            batch: self.id,
            url: self.client.url().into(),
            read_options: inner.settings.read_options,
            results,
        })
    }

    /// How many calls of these go into the next message.
    fn fitting(&self, calls: &[Call]) -> usize {
        let mut bytes = 0;
        let fitting = calls.iter().take(self.most).take_while(|call| {
            bytes += call.message.len() + call.method.len();
            bytes <= BYTES
        });
        // One that is too long by itself goes alone.
        fitting.count().max(1)
    }

    async fn send_one(
        &self,
        call: &Call,
        timeout: CallTimeout,
    ) -> Result<Vec<Result<Part, CallError>>, CallError> {
        let inner = &self.client.inner;
        match inner.send(call.message.clone(), &self.own, timeout).await {
            Ok(answer) => Ok(vec![Ok(Part::Answer(Body::new(answer)))]),
            Err(error) if error.kind() == CallErrorKind::Fault => Ok(vec![Err(error)]),
            Err(error) => Err(error),
        }
    }

    async fn send_many(
        &self,
        calls: &[Call],
        timeout: CallTimeout,
    ) -> Result<Vec<Result<Part, CallError>>, CallError> {
        let inner = &self.client.inner;
        let each = calls.iter();
        let each = each.map(|call| (call.method.as_str(), &call.message[..]));
        let message = message::write_multicall(each, inner.settings.style)?;
        let answer = Body::new(inner.send(message, &self.own, timeout).await?);
        let read_options = &inner.settings.read_options;
        read_options.multicall(self.client.url(), &answer, calls.len())
    }

    /// Whether a fault for all of it says that there is no `system.multicall`. Some
    /// servers have one and end all of it so when one method in it is unknown, with the
    /// calls before that made: to send the calls again then would make them twice. A
    /// fault that does not clearly speak of `system.multicall` is no proof, and an empty
    /// one, which calls nothing, is asked for.
    async fn is_without_multicall(
        &self,
        error: &CallError,
        calls: &[Call],
        timeout: CallTimeout,
    ) -> bool {
        let Some(fault) = error.xmlrpc_fault() else {
            return false;
        };
        let text = fault.message();
        let named = is_named(message::MULTICALL, text);
        // Ruby: "Method system.multicall missing or wrong number of parameters!".
        let missing = named && text.contains("missing");
        if !fault.is_unknown_method() && !missing {
            return false;
        }
        if named && !calls.iter().any(|call| is_named(&call.method, text)) {
            return true;
        }
        match self.send_many(&[], timeout).await {
            Err(error) => error.xmlrpc_fault().is_some_and(|fault| {
                fault.is_unknown_method() || is_named(message::MULTICALL, fault.message())
            }),
            Ok(_) => false,
        }
    }
}

/// Whether a text has this method's name in it, and not as a part of another's.
fn is_named(method: &str, text: &str) -> bool {
    let within = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(method).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let behind = text[at + method.len()..].chars().next();
        !before.is_some_and(|it| within(it) || it == '.') && !behind.is_some_and(within)
    })
}

impl fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("client", &self.client)
            .field("calls", &self.calls.len())
            .finish_non_exhaustive()
    }
}

/// What came back for a batch.
pub struct Replies {
    batch: u64,
    url: Box<str>,
    read_options: ReadOptions,
    results: Vec<Result<Part, CallError>>,
}

impl Replies {
    /// The result of a call, as the type that [`Batch::add`] was told.
    ///
    /// # Errors
    ///
    /// The call ended in a fault, its result is not of the type, or it was not answered;
    /// or the call is one of another batch.
    pub fn get<T: DeserializeOwned>(&self, place: BatchCall<T>) -> Result<T, CallError> {
        match self.results.get(place.index) {
            Some(result) if place.batch == self.batch => match result {
                Ok(part) => self.read_options.part(&self.url, part),
                Err(error) => Err(error.clone()),
            },
            _ => Err(CallError::usage("the call is one of another batch")),
        }
    }

    /// How many calls there were.
    #[must_use]
    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// Whether there were none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }
}

impl_debug!(|this| Replies {
    url: this.url,
    results: this.results.len()
});
