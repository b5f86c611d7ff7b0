//! The server's side of a connection.

mod answer;
mod event;
mod receive;
mod streams;

use crate::deflate::{Packer, Unpacker};
use crate::draft::bare;
use crate::frames::{Frames, PREFACE};
use crate::header::header;
use crate::slots::{HasDeadline, Slots};
use crate::stream::{Credit, Stream};
use crate::{CallId, FaultCode, Header, Kind, Output, Reason, Settings, Tally, Time};

pub use answer::{Answer, Fault};
pub use event::{Event, Step};

/// A server's connection. `O` is what a name of an operation stands for, `T` what the server keeps
/// of a call while it is open.
///
/// ```
/// use polywire_frame::server::{Connection, Event, Step};
/// use polywire_frame::{Settings, Time};
///
/// let mut connection = Connection::<u8, ()>::new(Settings::DEFAULT);
/// let mut request = vec![0xf7, 0x50, 0x57, 1];
/// request.extend([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
/// request.extend([11, 0, 0, 0, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
/// request.extend(*b"\x06\0\x01\x03\0Add\x82\x02\x03");
///
/// let operations = |name: &str| (name == "Add").then_some(7);
/// let (mut at, mut room, now) = (0, Vec::new(), Time::ZERO);
/// while let Step::Took(bytes, event) = connection.receive(now, &request[at..], &mut room, operations)? {
///     at += bytes;
///     if let Some(Event::Call { id, operation: 7, payload: [0x82, a, b], .. }) = event {
///         let mut answer = connection.reply(now, id).unwrap();
///         answer.payload().push(a + b);
///         answer.send()?;
///     }
/// }
/// let sent: Vec<_> = connection.output().parts().flatten().copied().collect();
/// assert!(sent.ends_with(&[1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Connection<O, T> {
    frames: Frames,
    output: Output,
    /// What this side takes.
    settings: Settings,
    /// The client's, as far as they are known.
    client: Settings,
    /// For all streams together.
    items: Credit,
    packer: Packer,
    unpacker: Unpacker,
    slots: Slots<Call<T>>,
    /// Bytes of bodies in open calls.
    bytes: u64,
    /// By their numbers, of which the first is 1.
    names: Vec<Option<Name<O>>>,
    pinged: Option<Time>,
    early_pings: u32,
    ends: Ends,
    /// Nothing more will come.
    input_ended: bool,
    /// Calls whose items have no credit since then.
    stuck: Vec<CallId>,
    tally: Tally,
}

/// How far the end of a connection is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Ends {
    Not,
    /// The client makes no more calls.
    Client,
    /// This side takes no more calls.
    Here,
    Broken,
}

#[derive(Debug)]
struct Name<O> {
    name: Box<str>,
    operation: Option<O>,
}

#[derive(Debug)]
struct Call<T> {
    deadline: Time,
    arrived: Time,
    /// Of its body.
    bytes: u32,
    context: Option<T>,
    stream: Option<Box<Stream>>,
}

impl<T> HasDeadline for Call<T> {
    #[inline]
    fn deadline(&self) -> Time {
        self.deadline
    }
}

impl<O: Copy, T> Connection<O, T> {
    /// A new connection, whose first bytes are in the output.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let mut output = Output::default();
        output.bytes.extend_from_slice(&PREFACE);
        settings.write(&mut output);
        Self {
            frames: Frames::of_client(&settings),
            output,
            settings,
            client: Settings::INITIAL,
            items: Credit::new(Settings::INITIAL.items(), settings.items()),
            packer: Packer::off(),
            unpacker: Unpacker::default(),
            slots: Slots::new(),
            bytes: 0,
            names: Vec::new(),
            pinged: None,
            early_pings: 0,
            ends: Ends::Not,
            input_ended: false,
            stuck: Vec::new(),
            tally: Tally::default(),
        }
    }

    /// Compresses the payloads that have at least so many bytes, where that makes them shorter, once the client has said
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
    pub const fn take_output(&mut self, empty: Output) -> Output {
        std::mem::replace(&mut self.output, empty)
    }

    /// The output has been written, all of it.
    pub fn wrote(&mut self) {
        self.output.clear();
    }

    /// What this side takes.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The client's settings, as far as they are known.
    #[must_use]
    pub const fn client_settings(&self) -> &Settings {
        &self.client
    }

    /// What has become of calls, to be cleared when it has been added up.
    pub const fn tally(&mut self) -> &mut Tally {
        &mut self.tally
    }

    /// How many calls are open.
    #[inline]
    #[must_use]
    pub const fn open(&self) -> u32 {
        self.slots.open()
    }

    /// Bytes of bodies in open calls.
    #[must_use]
    pub const fn open_bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether all has been answered and nothing more comes: the connection may be closed, once
    /// its output is written.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.ends == Ends::Broken || self.ends != Ends::Not && self.slots.open() == 0
    }

    /// Keeps something of an open call, which comes back if it is cancelled or its time is over;
    /// comes back at once, if the call has ended.
    ///
    /// # Errors
    ///
    /// The call has ended.
    pub fn attach(&mut self, id: CallId, context: T) -> Result<(), T> {
        match self.slots.get_mut(id) {
            Some(call) => {
                call.context = Some(context);
                Ok(())
            }
            None => Err(context),
        }
    }

    /// What is kept of an open call.
    pub fn context(&mut self, id: CallId) -> Option<&mut T> {
        self.slots.get_mut(id)?.context.as_mut()
    }

    /// Tells the client how many calls it may have open from now on: at least 1, and not more than
    /// the setting.
    pub fn limit_calls(&mut self, calls: u32) {
        let value = calls.clamp(1, self.settings.calls());
        self.limit(1, value);
    }

    /// Tells the client from how many open bytes on it may begin no call; at most the setting.
    pub fn limit_bytes(&mut self, bytes: u32) {
        self.limit(2, bytes.min(self.settings.bytes()));
    }

    fn limit(&mut self, code: u16, value: u32) {
        let credit = Header {
            code,
            value,
            ..header(Kind::CREDIT, CallId::NONE)
        };
        bare(&mut self.output, &credit);
    }

    /// Asks whether anybody is there.
    pub fn ping(&mut self, id: u32, value: u32) {
        let ping = Header {
            value,
            ..header(Kind::PING, id)
        };
        bare(&mut self.output, &ping);
    }

    /// Takes no more calls, and says so: those that still arrive are turned away, those that are
    /// open are answered. `within` is the time in milliseconds after which the connection is
    /// closed all the same.
    pub fn go_away(&mut self, reason: Reason, within: u32, words: &str) {
        if self.ends != Ends::Not {
            return;
        }
        self.ends = Ends::Here;
        let header = Header {
            length: words.len() as u32,
            code: reason.0,
            value: within,
            ..header(Kind::GOAWAY, 0)
        };
        bare(&mut self.output, &header);
        self.output.bytes.extend_from_slice(words.as_bytes());
    }

    /// When [`timeout`](Self::timeout) wants to be called: at or before the first deadline.
    #[inline]
    #[must_use]
    pub const fn next_timeout(&self) -> Time {
        match self.stuck.is_empty() {
            true => self.slots.earliest(),
            false => Time::ZERO,
        }
    }

    /// Ends the calls whose time is over, and hands over what was kept of them. Their callers are
    /// told.
    pub fn timeout(&mut self, now: Time, mut expired: impl FnMut(CallId, Option<T>)) {
        let mut ids = Vec::new();
        self.slots.expired(now, &mut ids);
        self.give_up(now, &ids, FaultCode::DEADLINE, &mut expired);
        let stuck = std::mem::take(&mut self.stuck);
        self.give_up(now, &stuck, FaultCode::CANCELLED, &mut expired);
    }

    fn give_up(
        &mut self,
        now: Time,
        ids: &[CallId],
        code: FaultCode,
        given_up: &mut dyn FnMut(CallId, Option<T>),
    ) {
        for id in ids {
            let Some(call) = self.slots.get_mut(*id) else {
                continue;
            };
            let context = call.context.take();
            self.fault(now, *id, Fault::new(code), b"");
            given_up(*id, context);
        }
    }

    /// The connection has ended, and so have all of its calls: what was kept of them.
    pub fn close(&mut self) -> impl Iterator<Item = T> {
        self.ends = Ends::Broken;
        self.bytes = 0;
        self.slots.drain().filter_map(|call| call.context)
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
