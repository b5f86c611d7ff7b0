//! The client's side of a connection.

use bytes::Bytes;

use crate::broken::Broken;
use crate::datagram::TooLong;
use crate::draft::{Draft, TooLarge, bare};
use crate::extension::{MAX_EXTENSION, Trace, is_key, name};
use crate::frames::{Frame, Frames, Next, PREFACE};
use crate::header::header;
use crate::slots::{HasDeadline, Slots};
use crate::stream::{Added, Credit, Stream};
use crate::{CallId, FaultCode, Flags, HEADER, Header, Kind, Output, Reason, Settings, Time};

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
/// let mut at = 0;
/// let mut replies = Vec::new();
/// while let Step::Took(bytes, event) = connection.receive(&answer[at..])? {
///     if let Some(Event::Reply { context, payload, .. }) = event {
///         replies.push((context, payload));
///     }
///     at += bytes;
/// }
/// assert_eq!(replies, [("my context", &[5][..])]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Connection<T> {
    frames: Frames,
    output: Output,
    /// Bytes that were in the output before those that are there now.
    written: u64,
    /// The server's, as far as they are known.
    settings: Settings,
    /// The window of this side.
    window: u32,
    /// For all streams together.
    items: Credit,
    checked: bool,
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

/// An operation: its name, and the number that this client has for it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Operation<'a> {
    /// From 1 on, the same for each call and another for each name; 0 for names that are used
    /// once. Where the server takes fewer numbers the name travels.
    pub number: u16,
    /// The name, 1 to 255 bytes without control characters.
    pub name: &'a str,
}

/// What is asked, but for the payload.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub(crate) operation: Operation<'a>,
    pub(crate) deadline: Time,
    pub(crate) open: bool,
    pub(crate) metadata: &'a [(&'a str, &'a [u8])],
    pub(crate) trace: Option<Trace>,
}

impl<'a> Request<'a> {
    /// A call of an operation, without a deadline.
    #[inline]
    #[must_use]
    pub const fn new(operation: Operation<'a>) -> Self {
        Self {
            operation,
            deadline: Time::NEVER,
            open: false,
            metadata: &[],
            trace: None,
        }
    }

    /// When the caller waits no more.
    #[inline]
    #[must_use]
    pub const fn with_deadline(mut self, deadline: Time) -> Self {
        self.deadline = deadline;
        self
    }

    /// Items follow: the operation has a stream as its input.
    #[must_use]
    pub const fn with_items(mut self) -> Self {
        self.open = true;
        self
    }

    /// Pairs of metadata. Keys are lower-case letters, digits and `-_.`.
    #[must_use]
    pub const fn with_metadata(mut self, metadata: &'a [(&'a str, &'a [u8])]) -> Self {
        self.metadata = metadata;
        self
    }

    /// What the call is part of.
    #[must_use]
    pub const fn with_trace(mut self, trace: Trace) -> Self {
        self.trace = Some(trace);
        self
    }
}

/// Why a call could not be made.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Refused {
    /// The connection ends or has ended: another one is needed.
    Ending,
    /// As much is open as may be: some of it has to end first.
    Full,
    /// The name, metadata or topic is none: what is wrong with it.
    Invalid(&'static str),
    /// The server takes no such frame.
    TooLarge(TooLarge),
    /// No such datagram is sent. Over a stream there is more room.
    TooLong(TooLong),
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ending => f.write_str("the connection is ending"),
            Self::Full => f.write_str("as many calls or bytes are open as may be"),
            Self::Invalid(expected) => write!(f, "expected {expected}"),
            Self::TooLarge(too_large) => too_large.fmt(f),
            Self::TooLong(too_long) => too_long.fmt(f),
        }
    }
}

impl std::error::Error for Refused {}

/// What one look at what has come brought.
#[derive(Debug, PartialEq)]
pub enum Step<'a, T> {
    /// So many bytes were consumed, and meant this, if anything.
    Took(usize, Option<Event<'a, T>>),
    /// Nothing: this many bytes, from the same beginning, are wanted at least.
    Wants(usize),
}

/// What a server has said.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<'a, T> {
    /// What is published to the topic comes from now on.
    Accepted(CallId),
    /// A call failed.
    Fault {
        /// The call.
        id: CallId,
        /// What its caller gave.
        context: T,
        /// Why.
        code: FaultCode,
        /// Milliseconds to wait before another try; 0 if nothing is known.
        retry_after: u32,
        /// Whether nothing of it was carried out.
        unstarted: bool,
        /// The details.
        payload: &'a [u8],
    },
    /// The server will end the connection.
    GoAway {
        /// Why.
        reason: Reason,
        /// In how many milliseconds at the latest.
        within: u32,
        /// The same for people.
        words: &'a str,
    },
    /// The server's settings are known.
    Hello,
    /// An item of a stream, or a message of a topic.
    Item {
        /// The call or subscription.
        id: CallId,
        /// Messages that were left out before this one.
        missed: u32,
        /// What it is to be told as when it is [consumed](Connection::consumed).
        cost: u32,
        /// The item.
        payload: &'a [u8],
    },
    /// Other limits hold: calls may be possible that were not, or the other way round.
    Limits,
    /// An answer to a ping.
    Pong {
        /// As in the ping.
        id: u32,
        /// As in the ping.
        value: u32,
    },
    /// The answer to a call.
    Reply {
        /// The call.
        id: CallId,
        /// What its caller gave.
        context: T,
        /// Microseconds that the server took.
        took: u32,
        /// The answer.
        payload: &'a [u8],
    },
    /// More items may be sent: on this stream, or on all that have credit of their own.
    Writable(Option<CallId>),
}

/// A call that the connection's end has ended.
#[derive(Debug, PartialEq)]
pub struct Lost<T> {
    /// What its caller gave.
    pub context: T,
    /// Whether some of it may have reached the server. If not, to repeat it is safe.
    pub sent: bool,
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
            output,
            written: 0,
            settings: initial,
            window: settings.window(),
            items: Credit::new(initial.items(), settings.items()),
            checked: false,
            slots: Slots::new(),
            bytes: 0,
            most_calls: initial.calls(),
            most_bytes: initial.bytes(),
            named: Numbers::default(),
            ends: Ends::Not,
        }
    }

    /// Sends a checksum with each frame, once the server has said that it reads them.
    #[must_use]
    pub const fn with_checksums(mut self) -> Self {
        self.checked = true;
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

    /// Begins a call: its payload is to be written, then it is to be sent. One that is dropped
    /// before is never made.
    ///
    /// # Errors
    ///
    /// It cannot be made, now or at all.
    #[inline]
    pub fn call(&mut self, now: Time, request: &Request<'_>) -> Result<Draught<'_, T>, Refused> {
        self.may_open()?;
        let flags = match request.open {
            true => Flags::OPEN,
            false => Flags::NONE,
        };
        let draft = self.begin(now, Kind::CALL, flags, request)?;
        let open = request.open;
        Ok(self.draught(draft, request.deadline, open.then_some(true)))
    }

    /// Begins a call without an answer; it is to be written and sent like others, and is open
    /// for no time at all.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn one_way(&mut self, now: Time, request: &Request<'_>) -> Result<Message<'_, T>, Refused> {
        if self.ends != Ends::Not {
            return Err(Refused::Ending);
        }
        let draft = self.begin(now, Kind::ONEWAY, Flags::NONE, request)?;
        Ok(Message {
            connection: self,
            draft,
            stream: None,
            sent: false,
        })
    }

    fn may_open(&self) -> Result<(), Refused> {
        match self.ends {
            Ends::Not if self.room() > 0 => Ok(()),
            Ends::Not => Err(Refused::Full),
            _ => Err(Refused::Ending),
        }
    }

    fn draught(&mut self, draft: Draft, deadline: Time, stream: Option<bool>) -> Draught<'_, T> {
        Draught {
            deadline,
            stream,
            draft,
            connection: self,
            sent: false,
        }
    }

    /// The header of a call, and its extension.
    #[inline]
    fn begin(
        &mut self,
        now: Time,
        kind: Kind,
        flags: Flags,
        request: &Request<'_>,
    ) -> Result<Draft, Refused> {
        let number = u32::from(request.operation.number);
        let number = if number > self.settings.names() {
            0
        } else {
            number
        };
        let header = Header {
            length: 0,
            kind,
            flags,
            code: number as u16,
            id: 0,
            value: now.millis_until(request.deadline),
        };
        let mut draft = Draft::new(&mut self.output, header);
        let named = number != 0 && self.named.has(number as u16);
        if !named || !request.metadata.is_empty() || request.trace.is_some() {
            let extended = extend(&mut self.output, &mut draft, request, named);
            if let Err(refused) = extended {
                draft.undo(&mut self.output);
                return Err(refused);
            }
        }
        Ok(draft)
    }

    /// Subscribes to a topic: as open as a call until it ends.
    ///
    /// # Errors
    ///
    /// It cannot be made, now or at all.
    pub fn subscribe(&mut self, topic: &str, context: T) -> Result<CallId, Refused> {
        self.may_open()?;
        if name(topic.as_bytes()).is_none() {
            return Err(Refused::Invalid("the name of a topic"));
        }
        let draft = Draft::new(&mut self.output, header(Kind::SUBSCRIBE, 0));
        self.output.bytes.extend_from_slice(topic.as_bytes());
        self.draught(draft, Time::NEVER, Some(false)).send(context)
    }

    /// Begins a message for a topic; its answer says how many subscribers it was handed to.
    ///
    /// # Errors
    ///
    /// It cannot be made, now or at all.
    pub fn publish(
        &mut self,
        now: Time,
        topic: &str,
        deadline: Time,
    ) -> Result<Draught<'_, T>, Refused> {
        self.may_open()?;
        if name(topic.as_bytes()).is_none() {
            return Err(Refused::Invalid("the name of a topic"));
        }
        let header = Header {
            value: now.millis_until(deadline),
            ..header(Kind::PUBLISH, 0)
        };
        let mut draft = Draft::new(&mut self.output, header);
        // One name is never too long.
        let _ = draft.extend(&mut self.output, |writer| writer.topic(topic));
        Ok(self.draught(draft, deadline, None))
    }

    /// Begins an item of a call's stream. Nothing, if the call has ended, its stream is closed, or
    /// there is no credit, of the stream or of the connection: then [`Event::Writable`] will come,
    /// or [`Event::Hello`].
    pub fn item(&mut self, id: CallId) -> Option<Message<'_, T>> {
        let stream = self.slots.get_mut(id)?.stream.as_ref()?;
        let may = stream.open && stream.credit.may_send() && self.items.may_send();
        if !may || self.ends == Ends::Broken {
            return None;
        }
        let draft = Draft::new(&mut self.output, header(Kind::ITEM, id.into()));
        Some(Message {
            connection: self,
            draft,
            stream: Some(id),
            sent: false,
        })
    }

    /// Ends the stream of a call.
    pub fn end(&mut self, id: CallId) {
        let stream = self.slots.get_mut(id).and_then(|call| call.stream.as_mut());
        if stream.is_some_and(|stream| std::mem::take(&mut stream.open)) {
            bare(&mut self.output, &header(Kind::END, id.into()));
        }
    }

    /// Ends a subscription in order: the server answers it.
    pub fn unsubscribe(&mut self, id: CallId) {
        if self.slots.get_mut(id).is_some() {
            bare(&mut self.output, &header(Kind::UNSUBSCRIBE, id.into()));
        }
    }

    /// Items of that cost have been consumed. To be told of each that came as an [`Event::Item`], even
    /// when its call has ended.
    pub fn consumed(&mut self, id: CallId, cost: u32) {
        let stream = self.slots.get_mut(id).and_then(|call| call.stream.as_mut());
        if let Some(stream) = stream {
            stream.credit.consumed(cost, 0, id.into(), &mut self.output);
        }
        self.items.consumed(cost, 3, CallId::NONE, &mut self.output);
    }

    /// Gives a call up: its context, unless it has ended. The server is told; the call stays open
    /// until it answers.
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

    /// Looks at the front of what has come: at one frame, if it is whole.
    ///
    /// # Errors
    ///
    /// The server has broken a rule. The farewell is in the output; when it is written the
    /// connection is to be closed.
    #[inline]
    pub fn receive<'a>(&mut self, input: &'a [u8]) -> Result<Step<'a, T>, Broken> {
        let step = match self.frames.next(input) {
            Ok(Next::Frame(frame, consumed)) => match self.take(&frame) {
                Ok(event) => return Ok(Step::Took(consumed, event)),
                Err(broken) => Err(broken),
            },
            Ok(Next::Passed(consumed)) => Ok(Step::Took(consumed, None)),
            Ok(Next::Wants(bytes)) => Ok(Step::Wants(bytes)),
            Err(broken) => Err(broken),
        };
        if let Err(broken) = &step {
            self.ends = Ends::Broken;
            // Who speaks something else would not understand it.
            if self.frames.speaks() {
                farewell(&mut self.output, broken);
            }
        }
        step
    }

    /// What a frame means.
    #[inline]
    fn take<'a>(&mut self, frame: &Frame<'a>) -> Result<Option<Event<'a, T>>, Broken> {
        let Header {
            kind, id, value, ..
        } = frame.header;
        if kind == Kind::REPLY || kind == Kind::FAULT {
            let id = CallId::from(id);
            let Some(call) = self.slots.remove(id) else {
                return Err(nobody(frame));
            };
            self.bytes -= u64::from(call.bytes);
            let Some(context) = call.context else {
                return Ok(None);
            };
            let payload = frame.payload;
            return Ok(Some(match kind {
                Kind::REPLY => Event::Reply {
                    id,
                    context,
                    took: value,
                    payload,
                },
                _ => Event::Fault {
                    id,
                    context,
                    code: FaultCode(frame.header.code),
                    retry_after: value,
                    unstarted: frame.header.flags.has(Flags::UNSTARTED),
                    payload,
                },
            }));
        }
        self.take_other(frame)
    }

    #[inline(never)]
    fn take_other<'a>(&mut self, frame: &Frame<'a>) -> Result<Option<Event<'a, T>>, Broken> {
        let Header {
            kind,
            code,
            id,
            value,
            ..
        } = frame.header;
        let call = CallId::from(id);
        Ok(match kind {
            Kind::HELLO => {
                let at = frame.payload_offset();
                self.settings = Settings::read(frame.payload, at)?;
                // Streams have begun with less.
                let initial = Settings::INITIAL;
                let more = self.settings.window() - initial.window();
                self.slots.each(|call| {
                    if let Some(stream) = &mut call.stream {
                        // Less than the setting may be.
                        let _ = stream.credit.add(more);
                    }
                });
                let _ = self.items.add(self.settings.items() - initial.items());
                self.most_calls = self.settings.calls();
                self.most_bytes = self.settings.bytes();
                Some(Event::Hello)
            }
            Kind::ITEM => {
                let Some(open) = self.slots.get_mut(call) else {
                    return Err(nobody(frame));
                };
                let stream = open.stream.get_or_insert_with(|| {
                    Box::new(Stream {
                        open: false,
                        credit: Credit::new(0, self.window),
                    })
                });
                let cost = frame.cost();
                if !stream.credit.received(cost) || !self.items.received(cost) {
                    return Err(
                        Broken::new(frame.offset, "no ITEM without credit").because(Reason::LIMIT)
                    );
                }
                if open.context.is_none() {
                    // Nobody will read it.
                    self.items.consumed(cost, 3, CallId::NONE, &mut self.output);
                    return Ok(None);
                }
                Some(Event::Item {
                    id: call,
                    missed: value,
                    cost: frame.cost(),
                    payload: frame.payload,
                })
            }
            Kind::ACCEPT => match self.slots.get_mut(call) {
                Some(open) => open.context.as_ref().map(|_| Event::Accepted(call)),
                None => return Err(nobody(frame)),
            },
            Kind::CREDIT => self.credit(frame, code, id, value)?,
            Kind::PING => {
                let pong = Header {
                    value,
                    ..header(Kind::PONG, id)
                };
                bare(&mut self.output, &pong);
                None
            }
            Kind::PONG => Some(Event::Pong { id, value }),
            Kind::GOAWAY => {
                let words = std::str::from_utf8(frame.payload)
                    .map_err(|_| Broken::new(frame.payload_offset(), "words in UTF-8"))?;
                if self.ends == Ends::Not {
                    self.ends = Ends::Soon;
                }
                Some(Event::GoAway {
                    reason: Reason(code),
                    within: value,
                    words,
                })
            }
            // `Frames` lets nothing else pass.
            _ => None,
        })
    }

    fn credit<'a>(
        &mut self,
        frame: &Frame<'a>,
        code: u16,
        id: u32,
        value: u32,
    ) -> Result<Option<Event<'a, T>>, Broken> {
        let limit = |what: &'static str| {
            let found = format!("{value} for id 0x{id:08x}");
            Broken::new(frame.offset, what).found(found)
        };
        match (code, id) {
            (0, _) => {
                let id = CallId::from(id);
                let Some(call) = self.slots.get_mut(id) else {
                    return match self.slots.has_ended(id) {
                        true => Ok(None),
                        false => Err(nobody(frame)),
                    };
                };
                let Some(stream) = &mut call.stream else {
                    return Err(limit("credit for a stream"));
                };
                let added = stream.credit.add(value);
                if added == Added::TooMuch {
                    return Err(limit("credit of at most 2^31 - 1 bytes"));
                }
                let wakes = added == Added::Wakes && stream.open && call.context.is_some();
                Ok(wakes.then_some(Event::Writable(Some(id))))
            }
            (1, CallId::NONE) => {
                if value == 0 || value > self.settings.calls() {
                    return Err(limit("a limit of calls from 1 to the setting"));
                }
                self.most_calls = value;
                Ok(Some(Event::Limits))
            }
            (2, CallId::NONE) => {
                if value > self.settings.bytes() {
                    return Err(limit("a limit of bytes up to the setting"));
                }
                self.most_bytes = value;
                Ok(Some(Event::Limits))
            }
            (3, CallId::NONE) => match self.items.add(value) {
                Added::TooMuch => Err(limit("credit of at most 2^31 - 1 bytes")),
                Added::Wakes => Ok(Some(Event::Writable(None))),
                Added::Nothing => Ok(None),
            },
            _ => Err(limit("CREDIT of code 0 for a call, or of 1 to 3 for none")),
        }
    }

    /// The connection has ended, and so have all of its calls. `written` is how many bytes of all
    /// that was ever taken from the output have certainly not been lost before they left: all that
    /// [`wrote`](Self::wrote) and [`take_output`](Self::take_output) know of, without a better
    /// knowledge.
    pub fn close(&mut self, written: Option<u64>) -> impl Iterator<Item = Lost<T>> {
        self.ends = Ends::Broken;
        self.bytes = 0;
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
        if self.output.is_empty() {
            self.output.shrink_to(0);
        }
    }
}

/// Writes the extension of a call: its name, where the server does not know its number, and what
/// else it has.
#[cold]
pub(crate) fn extend(
    output: &mut Output,
    draft: &mut Draft,
    request: &Request<'_>,
    named: bool,
) -> Result<(), Refused> {
    if name(request.operation.name.as_bytes()).is_none() {
        return Err(Refused::Invalid("the name of an operation"));
    }
    let wrong =
        |(key, value): &(&str, &[u8])| !is_key(key.as_bytes()) || value.len() > MAX_EXTENSION;
    if request.metadata.iter().any(wrong) {
        return Err(Refused::Invalid("a key of metadata"));
    }
    let extended = draft.extend(output, |writer| {
        if !named {
            writer.operation(request.operation.name);
        }
        if let Some(trace) = &request.trace {
            writer.trace(trace);
        }
        for (key, value) in request.metadata {
            writer.metadata(key, value);
        }
    });
    extended.map_err(|_| Refused::Invalid("an extension of at most 16384 bytes"))
}

/// A set of numbers of operations.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// A bit each.
    words: Vec<u64>,
}

impl Numbers {
    #[inline]
    pub(crate) fn has(&self, number: u16) -> bool {
        let word = self.words.get(usize::from(number) / 64);
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    #[cold]
    pub(crate) fn insert(&mut self, number: u16) {
        let word = usize::from(number) / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (number % 64);
    }
}

/// An answer that nobody has asked for.
#[cold]
fn nobody(frame: &Frame<'_>) -> Broken {
    let kind = frame.header.kind;
    let id = CallId::from(frame.header.id);
    Broken::new(frame.offset, format!("{kind} for a call that is open")).found(format!(
        "slot {}, count {}",
        id.slot(),
        id.count()
    ))
}

/// Appends the frame that tells the other side what it did wrong.
#[cold]
pub(crate) fn farewell(output: &mut Output, broken: &Broken) {
    let words = broken.to_string();
    let header = Header {
        length: words.len() as u32,
        code: broken.reason().0,
        ..header(Kind::GOAWAY, 0)
    };
    bare(output, &header);
    output.bytes.extend_from_slice(words.as_bytes());
}

/// A call that is being written.
#[derive(Debug)]
pub struct Draught<'a, T> {
    connection: &'a mut Connection<T>,
    draft: Draft,
    deadline: Time,
    /// Whether there is a stream, and if so whether this side sends on it.
    stream: Option<bool>,
    sent: bool,
}

impl<T> Draught<'_, T> {
    /// Where the payload is appended; nothing that is there may be changed.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.connection.output.bytes
    }

    /// A payload that is there already; if it is large it is not copied. Nothing may follow it.
    pub fn share(&mut self, payload: Bytes) {
        self.draft.share(&mut self.connection.output, payload);
    }

    /// Sends the call, with what comes back at its end.
    ///
    /// # Errors
    ///
    /// It is larger than the server takes.
    #[inline]
    pub fn send(mut self, context: T) -> Result<CallId, Refused> {
        let connection = &mut *self.connection;
        let checked =
            self.draft
                .check(&connection.output, &connection.settings, connection.checked);
        let bytes = checked.map_err(Refused::TooLarge)?;
        let stream = self.stream.map(|open| {
            Box::new(Stream {
                open,
                credit: Credit::new(connection.settings.window(), connection.window),
            })
        });
        let call = Call {
            deadline: self.deadline,
            position: connection.written + connection.output.position(self.draft.start()),
            bytes,
            context: Some(context),
            stream,
        };
        let Ok(id) = connection.slots.insert(connection.most_calls, call) else {
            return Err(Refused::Full);
        };
        connection.bytes += u64::from(bytes);
        self.draft.set_id(id.into());
        let number = self.draft.number();
        if number != 0 && self.draft.is_extended() {
            connection.named.insert(number);
        }
        self.draft.finish(&mut connection.output);
        self.sent = true;
        Ok(id)
    }
}

impl<T> Drop for Draught<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if !self.sent {
            self.draft.undo(&mut self.connection.output);
        }
    }
}

/// A call without an answer, or an item, that is being written.
#[derive(Debug)]
pub struct Message<'a, T> {
    connection: &'a mut Connection<T>,
    draft: Draft,
    stream: Option<CallId>,
    sent: bool,
}

impl<T> Message<'_, T> {
    /// Where the payload is appended; nothing that is there may be changed.
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.connection.output.bytes
    }

    /// A payload that is there already; if it is large it is not copied. Nothing may follow it.
    pub fn share(&mut self, payload: Bytes) {
        self.draft.share(&mut self.connection.output, payload);
    }

    /// Sends it.
    ///
    /// # Errors
    ///
    /// It is larger than the server takes.
    pub fn send(mut self) -> Result<(), Refused> {
        let connection = &mut *self.connection;
        let checked =
            self.draft
                .check(&connection.output, &connection.settings, connection.checked);
        let bytes = checked.map_err(Refused::TooLarge)?;
        if let Some(id) = self.stream
            && let Some(call) = connection.slots.get_mut(id)
            && let Some(stream) = &mut call.stream
        {
            let cost = i64::from(bytes) + HEADER as i64;
            stream.credit.sent(cost);
            connection.items.sent(cost);
        }
        let number = self.draft.number();
        if number != 0 && self.draft.is_extended() {
            connection.named.insert(number);
        }
        self.draft.finish(&mut connection.output);
        self.sent = true;
        Ok(())
    }
}

impl<T> Drop for Message<'_, T> {
    fn drop(&mut self) {
        if !self.sent {
            self.draft.undo(&mut self.connection.output);
        }
    }
}
