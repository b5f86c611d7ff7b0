//! The client's side of a connection.

mod draught;
mod event;
mod names;
mod receive;
mod request;
mod streams;

use crate::deflate::{Packer, Unpacker};
use crate::draft::bare;
use crate::frames::{Frames, PREFACE};
use crate::header::header;
use crate::slots::{HasDeadline, Slots};
use crate::stream::{Credit, Stream};
use crate::{CallId, Header, Kind, Output, Settings, Time};

pub use draught::{Draught, Message};
pub use event::{Event, Lost, Step};
pub(crate) use names::{Numbers, extend};
pub use request::{Operation, Refused, Request};

/// A client's connection: calls with a context of the caller's each, which comes back with their
/// end.
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
/// // What the server answers: preface, HELLO, REPLY.
/// let mut answer = vec![0xf7, 0x50, 0x57, 1];
/// answer.extend([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
/// answer.extend([1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 5]);
/// let (mut at, mut room) = (0, Vec::new());
/// let mut replies = Vec::new();
/// while let Step::Took(bytes, event) = connection.receive(&answer[at..], &mut room)? {
///     if let Some(Event::Reply { context, payload, .. }) = event {
///         replies.push((context, payload.to_vec()));
///     }
///     at += bytes;
/// }
/// assert_eq!(replies, [("my context", vec![5])]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Connection<T> {
    frames: Frames,
    output: Output,
    /// Bytes that were in the output before those that are there now.
    written: u64,
    /// Bytes of the preface and the hello, with which the output begins.
    hello: usize,
    /// What is said to a server that has broken a rule. Empty, if it has not.
    farewell: Vec<u8>,
    /// The server's, as far as they are known.
    settings: Settings,
    /// The window of this side.
    window: u32,
    /// For all streams together.
    items: Credit,
    packer: Packer,
    unpacker: Unpacker,
    slots: Slots<Call<T>>,
    /// Bytes of bodies in open calls.
    bytes: u64,
    most_calls: u32,
    most_bytes: u32,
    /// The numbers that the server knows the names of.
    named: Numbers,
    ends: Ends,
}

/// How far the end of a connection is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Ends {
    Not,
    /// One side has said that it will.
    Soon,
    Broken,
}

#[derive(Debug)]
struct Call<T> {
    deadline: Time,
    /// Where its frame begins in all that was ever sent.
    position: u64,
    /// Of its body.
    bytes: u32,
    /// Nothing, if nobody waits for its end any more.
    context: Option<T>,
    stream: Option<Box<Stream>>,
}

impl<T> HasDeadline for Call<T> {
    #[inline]
    fn deadline(&self) -> Time {
        self.deadline
    }
}

impl<T> Connection<T> {
    /// A new connection, whose first bytes are in the output.
    ///
    /// `settings` are what this side takes: `frame`, `window` and `features`.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let mut output = Output::default();
        output.bytes.extend_from_slice(&PREFACE);
        settings.write(&mut output);
        let initial = Settings::INITIAL;
        Self {
            frames: Frames::of_server(&settings),
            hello: output.bytes.len(),
            output,
            written: 0,
            farewell: Vec::new(),
            settings: initial,
            window: settings.window(),
            items: Credit::new(initial.items(), settings.items()),
            packer: Packer::off(),
            unpacker: Unpacker::default(),
            slots: Slots::new(),
            bytes: 0,
            most_calls: initial.calls(),
            most_bytes: initial.bytes(),
            named: Numbers::default(),
            ends: Ends::Not,
        }
    }

    /// Compresses the payloads that have at least so many bytes, where that makes them shorter, once the server has said
    /// that it reads them. The least that makes sense is some hundred. That this side reads them is said by its
    /// [`Settings`].
    #[must_use]
    pub fn with_compression(mut self, least: usize) -> Self {
        self.packer = Packer::new(least);
        self
    }

    /// What is to be sent. When all of it is written, [`wrote`](Self::wrote) is told.
    #[inline]
    #[must_use]
    pub const fn output(&self) -> &Output {
        &self.output
    }

    /// Takes the output, for who writes it without holding the connection, and leaves `empty` in its
    /// place.
    #[inline]
    pub fn take_output(&mut self, empty: Output) -> Output {
        self.written += self.output.len() as u64;
        std::mem::replace(&mut self.output, empty)
    }

    /// The output has been written, all of it.
    pub fn wrote(&mut self) {
        self.written += self.output.len() as u64;
        self.output.clear();
    }

    /// The server's settings, as far as they are known.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many calls are open, cancelled ones too.
    #[inline]
    #[must_use]
    pub const fn open(&self) -> u32 {
        self.slots.open()
    }

    /// How many more calls may be open.
    #[inline]
    #[must_use]
    pub fn room(&self) -> u32 {
        if self.ends != Ends::Not || self.bytes >= u64::from(self.most_bytes) {
            return 0;
        }
        self.most_calls.saturating_sub(self.slots.open())
    }

    /// Gives a call up: its context, unless it has ended. The server is told; the call stays open
    /// until it answers, which is [`Event::Freed`].
    pub fn cancel(&mut self, id: CallId) -> Option<T> {
        let call = self.slots.get_mut(id)?;
        let context = call.context.take()?;
        call.deadline = Time::NEVER;
        bare(&mut self.output, &header(Kind::CANCEL, id.into()));
        Some(context)
    }

    /// The context of an open call that nobody has given up.
    pub fn context(&mut self, id: CallId) -> Option<&mut T> {
        self.slots.get_mut(id)?.context.as_mut()
    }

    /// Asks whether anybody is there; [`Event::Pong`] brings both numbers back.
    pub fn ping(&mut self, id: u32, value: u32) {
        let ping = Header {
            value,
            ..header(Kind::PING, id)
        };
        bare(&mut self.output, &ping);
    }

    /// Says that no more calls will come. The server ends the connection when it has answered all.
    pub fn go_away(&mut self) {
        if self.ends == Ends::Not {
            self.ends = Ends::Soon;
            bare(&mut self.output, &header(Kind::GOAWAY, 0));
        }
    }

    /// Whether no more calls can be made.
    #[must_use]
    pub fn is_ending(&self) -> bool {
        self.ends != Ends::Not
    }

    /// When [`timeout`](Self::timeout) wants to be called: at or before the first deadline.
    #[inline]
    #[must_use]
    pub const fn next_timeout(&self) -> Time {
        self.slots.earliest()
    }

    /// Gives up the calls whose time is over, and hands their contexts over. The server is told.
    pub fn timeout(&mut self, now: Time, mut expired: impl FnMut(CallId, T)) {
        let mut ids = Vec::new();
        self.slots.expired(now, &mut ids);
        for id in ids {
            if let Some(context) = self.cancel(id) {
                expired(id, context);
            }
        }
    }

    /// The connection has ended, and so have all of its calls. `written` is how many bytes of all
    /// that was ever taken from the output have certainly not been lost before they left: all that
    /// [`wrote`](Self::wrote) and [`take_output`](Self::take_output) know of, without a better
    /// knowledge. What has not been taken from the output is not to be sent any more: of it only the farewell
    /// to a server that has broken a rule is left.
    pub fn close(&mut self, written: Option<u64>) -> impl Iterator<Item = Lost<T>> {
        self.ends = Ends::Broken;
        self.bytes = 0;
        // Whoever is told that a call was not sent makes it again. A farewell comes behind a hello.
        let hello = match self.written {
            0 => self.hello,
            _ => 0,
        };
        self.output.keep(hello);
        self.output.bytes.append(&mut self.farewell);
        let written = written.unwrap_or(self.written);
        self.slots.drain().filter_map(move |call| {
            Some(Lost {
                sent: call.position < written,
                context: call.context?,
            })
        })
    }

    /// Gives back the room of a burst, where there is nothing to do.
    pub fn shrink(&mut self) {
        self.slots.shrink();
        self.packer.shrink();
        self.unpacker.shrink();
        if self.output.is_empty() {
            self.output.shrink_to(0);
        }
    }
}
