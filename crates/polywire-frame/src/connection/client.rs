//! The client's side of a connection.

use std::convert::Infallible;
use std::marker::PhantomData;

use super::receive::{FrameResult, unknown_call};
use super::request::begin_topic;
use super::{OutgoingFrame, Phase, Role};
use crate::wire::{Frame, FrameReader, FrameWriter, ProtocolError};
use crate::{CallId, FaultCode, Flags, Header, Kind, Reason, Settings, Time};

pub use super::outgoing::OutgoingCall;
pub use super::{Operation, OperationNumbers, Request, RequestError};

/// A client's connection. `T` is stored with each call, and returned when the call ends.
///
/// ```
/// use std::time::Duration;
/// use polywire_frame::client::{Connection, Event, Operation, Request, Step};
/// use polywire_frame::{Settings, Time};
///
/// let mut connection = Connection::new(Settings::DEFAULT);
/// let now = Time::ZERO;
/// let request = Request::new(Operation { number: 1, name: "Add" })
///     .with_deadline(now.after(Duration::from_secs(1)));
/// let mut call = connection.call(now, &request)?;
/// call.payload().extend_from_slice(&[0x82, 2, 3]);
/// call.send("my context")?;
/// let sent: Vec<_> = connection.output().parts().flatten().copied().collect();
/// assert!(sent.ends_with(&[0x82, 2, 3]));
///
/// // The server's answer: preface, HELLO, REPLY.
/// let mut answer = vec![0xf7, 0x50, 0x57, 1];
/// answer.extend([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
/// answer.extend([1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 5]);
/// let (mut at, mut buffer) = (0, Vec::new());
/// let mut replies = Vec::new();
/// while let Step::Consumed(bytes, event) = connection.receive(&answer[at..], &mut buffer)? {
///     if let Some(Event::Reply { context, payload, .. }) = event {
///         replies.push((context, payload.to_vec()));
///     }
///     at += bytes;
/// }
/// assert_eq!(replies, [("my context", vec![5])]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Connection<T> = super::Connection<Client<T>>;

/// What a server has sent.
pub type Event<'a, T> = super::Event<'a, Infallible, T>;

/// The result of reading from the front of what a server has sent.
pub type Step<'a, T> = super::Step<'a, Infallible, T>;

/// A call without an answer, or an item, that is being written.
pub type Message<'a, T> = OutgoingFrame<'a, Client<T>>;

/// The client's role, with what only clients know of a connection.
#[derive(Debug)]
pub struct Client<T> {
    /// Bytes of the preface and the `HELLO`, with which the output begins.
    hello: usize,
    /// The `GOAWAY` to a server that has violated the protocol; empty otherwise.
    report: Vec<u8>,
    /// Bytes of earlier outputs, without the current one.
    pub(super) written: u64,
    pub(super) most_calls: u32,
    most_bytes: u32,
    known: OperationNumbers,
    context: PhantomData<T>,
}

/// A call that ended with the connection.
#[derive(Debug, PartialEq)]
pub struct LostCall<T> {
    /// What was stored with it.
    pub context: T,
    /// Whether some of it may have reached the server. If not, it is safe to repeat.
    pub sent: bool,
}

impl<T> super::private::Sealed for Client<T> {}

impl<T> Role for Client<T> {
    type Context = T;
    type Operation = Infallible;
    /// The position of the call's frame in all that was ever sent.
    type Start = u64;

    const IS_CLIENT: bool = true;

    fn check_ping(&mut self, _: &Settings, _: Time, _: &Frame<'_>) -> Result<(), ProtocolError> {
        Ok(())
    }

    fn wrote(&mut self, bytes: usize) {
        self.written += bytes as u64;
    }

    fn peer_settings(&mut self, peer: &Settings) {
        self.most_calls = peer.calls();
        self.most_bytes = peer.bytes();
    }

    fn limit(&mut self, peer: &Settings, code: u16, value: u32) -> Result<(), &'static str> {
        if code == 1 {
            if value == 0 || value > peer.calls() {
                return Err("a limit of calls from 1 to the setting");
            }
            self.most_calls = value;
        } else {
            if value > peer.bytes() {
                return Err("a limit of bytes up to the setting");
            }
            self.most_bytes = value;
        }
        Ok(())
    }

    fn receive<'a>(
        connection: &mut Connection<T>,
        _: Time,
        frame: &Frame<'a>,
    ) -> FrameResult<'a, Self> {
        // `FrameReader` passes no other kind.
        debug_assert_eq!(frame.header.kind, Kind::ACCEPT);
        let id = CallId::from(frame.header.id);
        match connection.calls.get_mut(id) {
            Some(call) => Ok(call.context.as_ref().map(|_| Event::Accepted(id))),
            None => connection.late(frame),
        }
    }

    fn sent(connection: &mut Connection<T>, frame: &FrameWriter, _: CallId) {
        connection.name_sent(frame);
    }

    fn report(connection: &mut Connection<T>, error: &ProtocolError) {
        if connection.reader.has_preface() {
            let before = connection.output.bytes.len();
            error.append_to(&mut connection.output);
            connection.role.report = connection.output.bytes[before..].to_vec();
        }
    }
}

impl<T> Connection<T> {
    /// A new connection, whose output begins with the preface and `HELLO`.
    ///
    /// Of the settings of this side, `frame`, `window`, `items` and `features` matter to a server.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let client = Client {
            hello: 0,
            report: Vec::new(),
            written: 0,
            most_calls: Settings::INITIAL.calls(),
            most_bytes: Settings::INITIAL.bytes(),
            known: OperationNumbers::default(),
            context: PhantomData,
        };
        let mut connection = Self::with_role(settings, FrameReader::of_server(&settings), client);
        connection.role.hello = connection.output.bytes.len();
        connection
    }

    /// The number of calls that may be opened now.
    #[inline]
    #[must_use]
    pub fn room(&self) -> u32 {
        if self.phase != Phase::Open || self.bytes >= u64::from(self.role.most_bytes) {
            return 0;
        }
        self.role.most_calls.saturating_sub(self.calls.open())
    }

    /// Begins a call: append its payload, then send it. If it is dropped before, it has no effect.
    ///
    /// # Errors
    ///
    /// It cannot be made now, or not at all.
    #[inline]
    pub fn call(
        &mut self,
        now: Time,
        request: &Request<'_>,
    ) -> Result<OutgoingCall<'_, T>, RequestError> {
        self.check_room()?;
        let writer = self.begin(now, Kind::CALL, request)?;
        let stream = request.is_open().then_some(true);
        Ok(self.outgoing_call(writer, request.deadline(), stream))
    }

    /// Begins a call without an answer. It takes no slot.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn one_way(
        &mut self,
        now: Time,
        request: &Request<'_>,
    ) -> Result<Message<'_, T>, RequestError> {
        if self.phase != Phase::Open {
            return Err(RequestError::Ending);
        }
        let writer = self.begin(now, Kind::ONEWAY, request)?;
        Ok(self.outgoing(writer, CallId::from(CallId::NONE)))
    }

    /// Subscribes to a topic. A subscription is open like a call until it ends.
    ///
    /// # Errors
    ///
    /// It cannot be made now, or not at all.
    pub fn subscribe(
        &mut self,
        topic: &str,
        metadata: &[(&str, &[u8])],
        context: T,
    ) -> Result<CallId, RequestError> {
        self.check_room()?;
        let header = Header::new(Kind::SUBSCRIBE, 0);
        let writer = begin_topic(&mut self.output.bytes, header, topic, metadata)?;
        self.output.bytes.extend_from_slice(topic.as_bytes());
        self.outgoing_call(writer, Time::NEVER, Some(false))
            .send(context)
    }

    /// Begins a message for a topic. The payload of its reply is the number of subscriptions that it was passed to, as
    /// four bytes (little-endian).
    ///
    /// # Errors
    ///
    /// It cannot be sent now, or not at all.
    pub fn publish(
        &mut self,
        now: Time,
        topic: &str,
        metadata: &[(&str, &[u8])],
        deadline: Time,
    ) -> Result<OutgoingCall<'_, T>, RequestError> {
        self.check_room()?;
        let header = Header {
            value: now.millis_until(deadline),
            ..Header::new(Kind::PUBLISH, 0)
        };
        let writer = begin_topic(&mut self.output.bytes, header, topic, metadata)?;
        Ok(self.outgoing_call(writer, deadline, None))
    }

    /// Begins an item of a call's stream. `None` if the call has ended, its stream is closed, or there is no credit of
    /// the stream or the connection; in the last case [`Event::Writable`](super::Event::Writable) or
    /// [`Event::Hello`](super::Event::Hello) follows.
    pub fn item(&mut self, id: CallId) -> Option<Message<'_, T>> {
        let stream = self.calls.get_mut(id)?.stream.as_ref()?;
        let may = stream.open && stream.credit.may_send() && self.items.may_send();
        if !may || self.phase == Phase::Closed {
            return None;
        }
        Some(self.frame(Header::new(Kind::ITEM, id.into()), id))
    }

    /// Ends the client's stream of a call.
    pub fn end(&mut self, id: CallId) {
        let stream = self.calls.get_mut(id).and_then(|call| call.stream.as_mut());
        if stream.is_some_and(|stream| std::mem::take(&mut stream.open)) {
            self.append(Kind::END, id);
        }
    }

    /// Ends a subscription: the server answers it.
    pub fn unsubscribe(&mut self, id: CallId) {
        if self.calls.get_mut(id).is_some() {
            self.append(Kind::UNSUBSCRIBE, id);
        }
    }

    /// Cancels a call, and returns its context unless it has ended. The call remains open until the server has
    /// answered it, which is [`Event::Freed`](super::Event::Freed).
    pub fn cancel(&mut self, id: CallId) -> Option<T> {
        let call = self.calls.get_mut(id)?;
        let context = call.context.take()?;
        call.deadline = Time::NEVER;
        self.append(Kind::CANCEL, id);
        Some(context)
    }

    /// Announces that no more calls follow. The server ends the connection when it has answered all calls.
    pub fn go_away(&mut self) {
        self.send_go_away(Reason::STOP, 0, "");
    }

    /// The time at which [`timeout`](Self::timeout) must be called: at or before the first deadline.
    #[inline]
    #[must_use]
    pub const fn next_timeout(&self) -> Time {
        self.calls.earliest()
    }

    /// Cancels the calls whose deadline has passed, and returns their contexts.
    pub fn timeout(&mut self, now: Time, mut expired: impl FnMut(CallId, T)) {
        let mut ids = Vec::new();
        self.calls.expired(now, &mut ids);
        for id in ids {
            if let Some(context) = self.cancel(id) {
                expired(id, context);
            }
        }
    }

    /// Reads one frame from the front of the input. A payload that was compressed is put into `buffer`, which must be
    /// empty or used by this method only.
    ///
    /// # Errors
    ///
    /// The server has violated the protocol. Close the connection when the output, which reports it, is written.
    #[inline]
    pub fn receive<'a>(
        &mut self,
        input: &'a [u8],
        buffer: &'a mut Vec<u8>,
    ) -> Result<Step<'a, T>, ProtocolError> {
        self.receive_with(input, buffer, Self::take)
    }

    /// The input has ended, with `rest` bytes that were not consumed. The connection is to be closed by
    /// [`close`](Self::close): a server that sends nothing more cannot answer.
    ///
    /// # Errors
    ///
    /// The input has ended within a frame.
    pub fn end_of_input(&mut self, rest: usize) -> Result<(), ProtocolError> {
        self.phase = Phase::Closed;
        match rest {
            0 => Ok(()),
            _ => Err(ProtocolError::end_of_input(
                self.reader.offset() + rest as u64,
            )),
        }
    }

    /// Closes the connection, and returns all open calls.
    ///
    /// `written`: how many of all bytes ever taken from the output may have left this machine; `None` for all that
    /// [`wrote`](Self::wrote) and [`take_output`](Self::take_output) have reported. The current output must not be
    /// sent as it is: this method leaves only the report to a server that has violated the protocol.
    pub fn close(&mut self, written: Option<u64>) -> impl Iterator<Item = LostCall<T>> {
        self.phase = Phase::Closed;
        self.bytes = 0;
        // Calls that are reported as not sent are repeated, so they must not be sent. A report needs a `HELLO` first.
        let hello = match self.role.written {
            0 => self.role.hello,
            _ => 0,
        };
        self.output.truncate(hello);
        self.output.bytes.append(&mut self.role.report);
        let written = written.unwrap_or(self.role.written);
        self.calls.drain().filter_map(move |call| {
            Some(LostCall {
                sent: call.start < written,
                context: call.context?,
            })
        })
    }

    /// What a frame means.
    #[inline]
    fn take<'a>(&mut self, frame: &Frame<'a>) -> FrameResult<'a, Client<T>> {
        let Header {
            kind,
            flags,
            code,
            id,
            value,
            ..
        } = frame.header;
        if kind != Kind::REPLY && kind != Kind::FAULT {
            return self.receive_other(Time::ZERO, frame);
        }
        let id = CallId::from(id);
        let Some(call) = self.calls.remove(id) else {
            return Err(unknown_call::<Client<T>>(frame));
        };
        self.bytes -= u64::from(call.bytes);
        let Some(context) = call.context else {
            return Ok(Some(Event::Freed(id)));
        };
        let payload = frame.payload;
        Ok(Some(match kind {
            Kind::REPLY => Event::Reply {
                id,
                context,
                took: value,
                payload,
            },
            _ => Event::Fault {
                id,
                context,
                code: FaultCode(code),
                retry_after: value,
                unstarted: flags.contains(Flags::UNSTARTED),
                payload,
            },
        }))
    }

    fn check_room(&self) -> Result<(), RequestError> {
        match self.phase {
            Phase::Open if self.room() > 0 => Ok(()),
            Phase::Open => Err(RequestError::Full),
            _ => Err(RequestError::Ending),
        }
    }

    #[inline]
    fn begin(
        &mut self,
        now: Time,
        kind: Kind,
        request: &Request<'_>,
    ) -> Result<FrameWriter, RequestError> {
        let bytes = &mut self.output.bytes;
        request.begin(now, kind, bytes, &self.peer, &self.role.known)
    }

    const fn outgoing_call(
        &mut self,
        writer: FrameWriter,
        deadline: Time,
        stream: Option<bool>,
    ) -> OutgoingCall<'_, T> {
        OutgoingCall {
            deadline,
            stream,
            frame: self.outgoing(writer, CallId::new(0, 0)),
        }
    }

    /// The server knows the name in this frame from now on.
    #[inline]
    pub(super) fn name_sent(&mut self, frame: &FrameWriter) {
        if frame.code() != 0 && frame.is_extended() {
            self.role.known.insert(frame.code());
        }
    }

    fn append(&mut self, kind: Kind, id: CallId) {
        Header::new(kind, id.into()).append_to(&mut self.output.bytes);
    }
}
