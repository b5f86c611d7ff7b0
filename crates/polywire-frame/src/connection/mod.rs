//! The state machine of a connection over a byte stream, for both roles.
//!
//! [`Connection`] has one implementation of what both roles do: reading frames, settings, pings, `GOAWAY`, credit,
//! items of streams, and output. A [`Role`] adds the rest: [`client`] makes calls and receives their results,
//! [`server`] receives calls and answers them.

mod calls;
pub mod client;
mod counts;
mod credit;
mod event;
mod outgoing;
mod receive;
mod request;
pub mod server;

use std::fmt;

use crate::wire::{Compressor, Decompressor, Frame, FrameReader, PREFACE, ProtocolError};
use crate::{CallId, Header, Kind, Output, Reason, Settings, Time};
use calls::{Calls, HasDeadline};
use credit::{Credit, Stream};

pub use counts::CallCounts;
pub use event::{Event, Step};
pub use outgoing::OutgoingFrame;
pub use request::{Operation, OperationNumbers, Request, RequestError};

/// One side of a connection.
///
/// - `receive` of [`client`] or [`server`] takes the bytes that were received and not consumed. It reads one frame and
///   returns its [`Event`], or how many bytes it needs. So events do not depend on how the bytes were split.
/// - Frames to send are appended to [`output`](Self::output).
/// - [`next_timeout`](Self::next_timeout) is the time at which `timeout` must be called.
pub struct Connection<R: Role> {
    reader: FrameReader,
    output: Output,
    /// What this side accepts.
    settings: Settings,
    /// What the peer accepts: the initial settings until its `HELLO`.
    peer: Settings,
    /// Credit of all streams together.
    items: Credit,
    compressor: Compressor,
    decompressor: Decompressor,
    calls: Calls<Call<R::Context, R::Start>>,
    /// Bytes of the bodies of open calls.
    bytes: u64,
    phase: Phase,
    role: R,
}

/// Client or server. Implemented by [`client::Client`] and [`server::Server`] only.
pub trait Role: Sized + private::Sealed {
    /// What names of operations stand for at a server.
    type Operation;
    /// What is stored with an open call.
    type Context;
    /// What is known about the start of a call.
    #[doc(hidden)]
    type Start;
    #[doc(hidden)]
    const IS_CLIENT: bool;

    /// Checks that a ping is not too early.
    #[doc(hidden)]
    fn check_ping(
        &mut self,
        own: &Settings,
        now: Time,
        frame: &Frame<'_>,
    ) -> Result<(), ProtocolError>;

    /// This many bytes of output were taken or written.
    #[doc(hidden)]
    fn wrote(&mut self, bytes: usize);

    /// The peer's settings have arrived.
    #[doc(hidden)]
    fn peer_settings(&mut self, peer: &Settings);

    /// A limit of calls (code 1) or bytes (code 2). The expectation that it violates, if any.
    #[doc(hidden)]
    fn limit(&mut self, peer: &Settings, code: u16, value: u32) -> Result<(), &'static str>;

    /// A frame of a kind that only this role receives.
    #[doc(hidden)]
    fn receive<'a>(
        connection: &mut Connection<Self>,
        now: Time,
        frame: &Frame<'a>,
    ) -> receive::FrameResult<'a, Self>;

    /// A frame other than an item was sent.
    #[doc(hidden)]
    fn sent(connection: &mut Connection<Self>, frame: &crate::wire::FrameWriter, id: CallId);

    /// The peer has violated the protocol: writes the `GOAWAY` that reports it, if the peer can read it.
    #[doc(hidden)]
    fn report(connection: &mut Connection<Self>, error: &ProtocolError);
}

mod private {
    pub trait Sealed {}
}

/// How far the connection is from its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    Open,
    /// This side has sent `GOAWAY`.
    Leaving,
    /// The peer has sent `GOAWAY`, or its stream has ended.
    PeerLeaving,
    /// Nothing is received any more: the connection was closed, or one side has violated the protocol.
    Closed,
}

/// An open call, subscription or publication.
#[derive(Debug)]
struct Call<T, S> {
    deadline: Time,
    start: S,
    /// Length of its body.
    bytes: u32,
    /// On a client, `None` once the call is cancelled. On a server, `None` until it is attached.
    context: Option<T>,
    stream: Option<Box<Stream>>,
}

impl<T, S> HasDeadline for Call<T, S> {
    #[inline]
    fn deadline(&self) -> Time {
        self.deadline
    }
}

impl<R: Role> fmt::Debug for Connection<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("phase", &self.phase)
            .field("open", &self.calls.open())
            .finish_non_exhaustive()
    }
}

impl<R: Role> Connection<R> {
    /// A new connection. Its output begins with the preface and the `HELLO` that states `settings`, which are what
    /// this side accepts.
    fn with_role(settings: Settings, reader: FrameReader, role: R) -> Self {
        let mut output = Output::default();
        output.bytes.extend_from_slice(&PREFACE);
        settings.write(&mut output.bytes);
        Self {
            reader,
            output,
            settings,
            peer: Settings::INITIAL,
            items: Credit::new(Settings::INITIAL.items(), settings.items()),
            compressor: Compressor::off(),
            decompressor: Decompressor::default(),
            calls: Calls::new(),
            bytes: 0,
            phase: Phase::Open,
            role,
        }
    }

    /// Compresses payloads of at least `least` bytes if that makes them shorter and the peer offers
    /// [`Features::DEFLATE`](crate::Features::DEFLATE). Below some hundred bytes it rarely does. Reading compressed
    /// payloads is a feature of this side's [`Settings`].
    #[must_use]
    pub fn with_compression(mut self, least: usize) -> Self {
        self.compressor = Compressor::new(least);
        self
    }

    /// The bytes to send. Call [`wrote`](Self::wrote) when all of them are written.
    #[inline]
    #[must_use]
    pub const fn output(&self) -> &Output {
        &self.output
    }

    /// Takes the output, for writing without access to the connection, and puts `empty` in its place.
    #[inline]
    pub fn take_output(&mut self, empty: Output) -> Output {
        self.role.wrote(self.output.len());
        std::mem::replace(&mut self.output, empty)
    }

    /// All of the output has been written.
    pub fn wrote(&mut self) {
        self.role.wrote(self.output.len());
        self.output.clear();
    }

    /// What this side accepts.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What the peer accepts: the initial settings until [`Event::Hello`].
    pub const fn peer_settings(&self) -> &Settings {
        &self.peer
    }

    /// The number of open calls; on a client, with cancelled ones that the server has not answered.
    #[inline]
    #[must_use]
    pub const fn open(&self) -> u32 {
        self.calls.open()
    }

    /// Bytes of the bodies of open calls.
    #[must_use]
    pub const fn open_bytes(&self) -> u64 {
        self.bytes
    }

    /// What is stored with an open call. On a client, `None` if it was cancelled.
    pub fn context(&mut self, id: CallId) -> Option<&mut R::Context> {
        self.calls.get_mut(id)?.context.as_mut()
    }

    /// Sends `PING`. [`Event::Pong`] returns both numbers.
    pub fn ping(&mut self, id: u32, value: u32) {
        let ping = Header {
            value,
            ..Header::new(Kind::PING, id)
        };
        ping.append_to(&mut self.output.bytes);
    }

    /// Sends `GOAWAY`, once.
    fn send_go_away(&mut self, reason: Reason, within: u32, message: &str) {
        if self.phase != Phase::Open {
            return;
        }
        self.phase = Phase::Leaving;
        let header = Header {
            length: message.len() as u32,
            code: reason.0,
            value: within,
            ..Header::new(Kind::GOAWAY, 0)
        };
        header.append_to(&mut self.output.bytes);
        self.output.bytes.extend_from_slice(message.as_bytes());
    }

    /// Whether no new calls can be made: either side has sent `GOAWAY`, or the connection is closed.
    #[must_use]
    pub fn is_ending(&self) -> bool {
        self.phase != Phase::Open
    }

    /// Whether the connection can be closed once its output is written: it is ending, and no call is open.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.phase == Phase::Closed || self.phase != Phase::Open && self.calls.open() == 0
    }

    /// Items of this cost have been consumed. Must be called for each [`Event::Item`], even after the end of its call.
    pub fn consumed(&mut self, id: CallId, cost: u32) {
        let stream = self.calls.get_mut(id).and_then(|call| call.stream.as_mut());
        if let Some(stream) = stream
            && (R::IS_CLIENT || stream.open)
        {
            stream
                .credit
                .consumed(cost, 0, id.into(), &mut self.output.bytes);
        }
        self.consumed_of_connection(cost);
    }

    fn consumed_of_connection(&mut self, cost: u32) {
        self.items
            .consumed(cost, 3, CallId::NONE, &mut self.output.bytes);
    }

    /// The stream of a call. `open`: the client may send items. `topic`: it is a subscription.
    fn new_stream(&self, open: bool, topic: bool) -> Box<Stream> {
        Stream::new(&self.peer, &self.settings, open, topic)
    }

    /// Releases memory that is only needed for bursts.
    pub fn shrink(&mut self) {
        self.calls.shrink();
        self.compressor.shrink();
        self.decompressor.shrink();
        if self.output.is_empty() {
            self.output.shrink_to(0);
        }
    }
}
