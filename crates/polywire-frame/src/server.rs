//! The server's side of a connection.

use bytes::Bytes;

use crate::broken::Broken;
use crate::client::farewell;
use crate::draft::{Draft, TooLarge, bare};
use crate::extension::{Extension, name};
use crate::frames::{Frame, Frames, Next, PREFACE};
use crate::header::header;
use crate::slots::{HasDeadline, Refusal, Slots};
use crate::stream::{Added, Credit, Stream};
use crate::tally::Tally;
use crate::{CallId, FaultCode, Flags, HEADER, Header, Kind, Output, Reason, Settings, Time};

/// Pings that came too early before their sender is sent away.
const MOST_EARLY_PINGS: u32 = 3;

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
/// let mut at = 0;
/// while let Step::Took(bytes, event) = connection.receive(Time::ZERO, &request[at..], operations)? {
///     at += bytes;
///     if let Some(Event::Call { id, operation: 7, payload: [0x82, a, b], .. }) = event {
///         let mut answer = connection.reply(Time::ZERO, id).unwrap();
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
    checked: bool,
    slots: Slots<Call<T>>,
    /// Bytes of bodies in open calls.
    bytes: u64,
    /// By their numbers, of which the first is 1.
    names: Vec<Option<Name<O>>>,
    pinged: Option<Time>,
    early_pings: u32,
    ends: Ends,
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

/// What one look at what has come brought.
#[derive(Debug)]
pub enum Step<'a, O, T> {
    /// So many bytes were consumed, and meant this, if anything.
    Took(usize, Option<Event<'a, O, T>>),
    /// Nothing: this many bytes, from the same beginning, are wanted at least.
    Wants(usize),
}

/// What a client has said.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a, O, T> {
    /// A call, which is to be answered.
    Call {
        /// Its id.
        id: CallId,
        /// The operation.
        operation: O,
        /// When its caller waits no more.
        deadline: Time,
        /// Whether items follow.
        open: bool,
        /// Metadata and trace context.
        extension: Extension<'a>,
        /// The input.
        payload: &'a [u8],
    },
    /// A call was cancelled, and that has been answered. What the server kept of it.
    Cancelled(CallId, Option<T>),
    /// The stream of a call has ended.
    End(CallId),
    /// The client makes no more calls.
    GoAway {
        /// Why.
        reason: Reason,
        /// The same for people.
        words: &'a str,
    },
    /// The client's settings are known, and who it says to be.
    Hello(Extension<'a>),
    /// An item of a call's stream.
    Item {
        /// The call.
        id: CallId,
        /// What it is to be told as when it is [consumed](Connection::consumed).
        cost: u32,
        /// The item.
        payload: &'a [u8],
    },
    /// A call that nobody wants an answer to.
    OneWay {
        /// The operation.
        operation: O,
        /// When it makes no more sense.
        deadline: Time,
        /// Metadata and trace context.
        extension: Extension<'a>,
        /// The input.
        payload: &'a [u8],
    },
    /// An answer to a ping.
    Pong {
        /// As in the ping.
        id: u32,
        /// As in the ping.
        value: u32,
    },
    /// A message for a topic, to be answered like a call.
    Publish {
        /// The id of the call.
        id: CallId,
        /// When its sender waits no more.
        deadline: Time,
        /// The topic.
        topic: &'a str,
        /// Metadata and trace context.
        extension: Extension<'a>,
        /// The message.
        payload: &'a [u8],
    },
    /// A subscription, to be accepted or refused.
    Subscribe {
        /// The id of the call.
        id: CallId,
        /// The topic.
        topic: &'a str,
        /// Metadata and trace context.
        extension: Extension<'a>,
    },
    /// A call of an operation that there is not; to be answered.
    Unknown {
        /// The id of the call.
        id: CallId,
        /// The operation's name, unless only a number came, which had none.
        name: Option<&'a str>,
    },
    /// The subscription is not wanted any more; its last answer is to be sent.
    Unsubscribe(CallId),
    /// More items may be sent: on this stream, or on all that have credit of their own.
    Writable(Option<CallId>),
}

/// Why a call failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fault {
    /// The code.
    pub code: FaultCode,
    /// Milliseconds to wait before another try; 0 if nothing is known.
    pub retry_after: u32,
    /// Whether nothing of the call was carried out.
    pub unstarted: bool,
}

impl Fault {
    /// A fault of which nothing more is known.
    #[must_use]
    pub const fn new(code: FaultCode) -> Self {
        Self {
            code,
            retry_after: 0,
            unstarted: false,
        }
    }

    /// A call that was turned away before anything of it began.
    #[must_use]
    pub const fn unstarted(code: FaultCode) -> Self {
        Self {
            unstarted: true,
            ..Self::new(code)
        }
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
            checked: false,
            slots: Slots::new(),
            bytes: 0,
            names: Vec::new(),
            pinged: None,
            early_pings: 0,
            ends: Ends::Not,
            tally: Tally::default(),
        }
    }

    /// Sends a checksum with each frame, once the client has said that it reads them.
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

    /// Looks at the front of what has come: at one frame, if it is whole. `resolve` says what the
    /// name of an operation stands for; it is asked once a name, if the name gets a number.
    ///
    /// # Errors
    ///
    /// The client has broken a rule. The farewell is in the output; when it is written the
    /// connection is to be closed.
    #[inline]
    pub fn receive<'a>(
        &mut self,
        now: Time,
        input: &'a [u8],
        resolve: impl FnMut(&str) -> Option<O>,
    ) -> Result<Step<'a, O, T>, Broken> {
        let broken = match self.frames.next(input) {
            Ok(Next::Frame(frame, consumed)) => match self.take(now, &frame, resolve) {
                Ok(event) => return Ok(Step::Took(consumed, event)),
                Err(broken) => broken,
            },
            Ok(Next::Passed(consumed)) => return Ok(Step::Took(consumed, None)),
            Ok(Next::Wants(bytes)) => return Ok(Step::Wants(bytes)),
            Err(broken) => broken,
        };
        self.ends = Ends::Broken;
        match (self.frames.speaks(), broken.reason()) {
            (true, _) => farewell(&mut self.output, &broken),
            // It reads the preface, and this one frame.
            (false, Reason::VERSION) => {
                self.output.bytes.truncate(PREFACE.len());
                farewell(&mut self.output, &broken);
            }
            // It speaks something else.
            (false, _) => self.output.clear(),
        }
        Err(broken)
    }

    /// What a frame means.
    #[inline]
    fn take<'a>(
        &mut self,
        now: Time,
        frame: &Frame<'a>,
        mut resolve: impl FnMut(&str) -> Option<O>,
    ) -> Result<Option<Event<'a, O, T>>, Broken> {
        let Header {
            kind,
            flags,
            code,
            id,
            value,
            ..
        } = frame.header;
        if self.ends == Ends::Broken {
            // Whoever made a mistake is not listened to, nor is one that says that this side has.
            return Ok(None);
        }
        if kind != Kind::CALL && kind != Kind::ONEWAY {
            return self.take_other(now, frame);
        }
        let extension = frame.fields();
        let known = match (code, extension.operation) {
            (1.., None) => self.by_number(frame, code)?,
            (_, Some(name)) => self.by_name(frame, code, name, &mut resolve)?,
            (0, None) => {
                return Err(Broken::new(
                    frame.offset,
                    "an operation: its number, or its name",
                ));
            }
        };
        let deadline = now.after_millis(value);
        let payload = frame.payload;
        if kind == Kind::ONEWAY {
            let known = known.filter(|_| self.ends != Ends::Here);
            self.tally.one_ways = self.tally.one_ways.wrapping_add(1);
            return Ok(known.map(|operation| Event::OneWay {
                operation,
                deadline,
                extension,
                payload,
            }));
        }
        let id = CallId::from(id);
        let open = flags.has(Flags::OPEN);
        let stream = open.then(|| self.stream(true));
        if !self.open_call(now, frame, deadline, stream)? {
            return Ok(None);
        }
        Ok(Some(match known {
            Some(operation) => Event::Call {
                id,
                operation,
                deadline,
                open,
                extension,
                payload,
            },
            None => Event::Unknown {
                id,
                name: extension.operation,
            },
        }))
    }

    #[inline]
    fn by_number(&self, frame: &Frame<'_>, number: u16) -> Result<Option<O>, Broken> {
        match self.names.get(usize::from(number) - 1) {
            Some(Some(name)) => Ok(name.operation),
            _ => self.check_number(frame, number).map(|()| None),
        }
    }

    #[cold]
    fn check_number(&self, frame: &Frame<'_>, number: u16) -> Result<(), Broken> {
        let most = self.settings.names();
        if u32::from(number) > most {
            let expected = format!("an operation's number of at most {most}");
            return Err(Broken::new(frame.offset, expected).found(number.to_string()));
        }
        Ok(())
    }

    #[cold]
    fn by_name(
        &mut self,
        frame: &Frame<'_>,
        number: u16,
        name: &str,
        resolve: &mut dyn FnMut(&str) -> Option<O>,
    ) -> Result<Option<O>, Broken> {
        self.check_number(frame, number)?;
        let Some(index) = usize::from(number).checked_sub(1) else {
            return Ok(resolve(name));
        };
        if self.names.len() <= index {
            self.names.resize_with(index + 1, || None);
        }
        let place = &mut self.names[index];
        let known = place.get_or_insert_with(|| Name {
            name: name.into(),
            operation: resolve(name),
        });
        if &*known.name != name {
            let expected = format!("operation {number} with its name, `{}`", known.name);
            return Err(Broken::new(frame.offset, expected).found(format!("`{name}`")));
        }
        Ok(known.operation)
    }

    fn stream(&self, open: bool) -> Box<Stream> {
        Box::new(Stream {
            open,
            credit: Credit::new(self.client.window(), self.settings.window()),
        })
    }

    /// Takes a call's slot; false if it was turned away, as this side takes no more.
    #[inline]
    fn open_call(
        &mut self,
        now: Time,
        frame: &Frame<'_>,
        deadline: Time,
        stream: Option<Box<Stream>>,
    ) -> Result<bool, Broken> {
        let id = CallId::from(frame.header.id);
        let most = u64::from(self.settings.bytes());
        if u32::from(id.slot()) >= self.settings.calls()
            || self.bytes >= most && self.slots.open() > 0
            || self.ends == Ends::Client
        {
            return Err(self.beyond(frame, id));
        }
        let bytes = frame.header.length;
        let call = Call {
            deadline,
            arrived: now,
            bytes,
            context: None,
            stream,
        };
        if let Err(refusal) = self.slots.insert_at(id, call) {
            return Err(refused(frame, id, refusal));
        }
        self.bytes += u64::from(bytes);
        self.tally.calls = self.tally.calls.wrapping_add(1);
        if self.ends == Ends::Here {
            let fault = Fault::unstarted(FaultCode::UNAVAILABLE);
            self.fault(now, id, fault, b"");
            return Ok(false);
        }
        Ok(true)
    }

    #[cold]
    fn beyond(&self, frame: &Frame<'_>, id: CallId) -> Broken {
        let broken = if self.ends == Ends::Client {
            return Broken::new(frame.offset, "no call behind GOAWAY");
        } else if u32::from(id.slot()) >= self.settings.calls() {
            let expected = format!("a slot below {}", self.settings.calls());
            Broken::new(frame.offset, expected).found(id.slot().to_string())
        } else {
            let expected = format!("less than {} bytes in open calls", self.settings.bytes());
            Broken::new(frame.offset, expected).found(self.bytes.to_string())
        };
        broken.because(Reason::LIMIT)
    }

    #[inline(never)]
    fn take_other<'a>(
        &mut self,
        now: Time,
        frame: &Frame<'a>,
    ) -> Result<Option<Event<'a, O, T>>, Broken> {
        let Header {
            kind, id, value, ..
        } = frame.header;
        let call = CallId::from(id);
        let payload = frame.payload;
        match kind {
            Kind::HELLO => {
                self.client = Settings::read(payload, frame.payload_offset())?;
                // Less than the setting may be.
                let more = self.client.items() - Settings::INITIAL.items();
                let _ = self.items.add(more);
                return Ok(Some(Event::Hello(frame.fields())));
            }
            Kind::PING => {
                self.count_ping(now, frame)?;
                let pong = Header {
                    value,
                    ..header(Kind::PONG, id)
                };
                bare(&mut self.output, &pong);
                return Ok(None);
            }
            Kind::PONG => return Ok(Some(Event::Pong { id, value })),
            Kind::GOAWAY => {
                let words = std::str::from_utf8(payload)
                    .map_err(|_| Broken::new(frame.payload_offset(), "words in UTF-8"))?;
                let reason = Reason(frame.header.code);
                self.ends = match reason.is_mistake() {
                    true => Ends::Broken,
                    false => Ends::Client,
                };
                return Ok(Some(Event::GoAway { reason, words }));
            }
            Kind::SUBSCRIBE => {
                let topic = name(payload)
                    .ok_or_else(|| Broken::new(frame.payload_offset(), "the name of a topic"))?;
                let stream = self.stream(false);
                let opened = self.open_call(now, frame, Time::NEVER, Some(stream))?;
                let extension = frame.fields();
                return Ok(opened.then_some(Event::Subscribe {
                    id: call,
                    topic,
                    extension,
                }));
            }
            Kind::PUBLISH => {
                let extension = frame.fields();
                let Some(topic) = extension.topic else {
                    return Err(Broken::new(frame.offset, "the topic of PUBLISH"));
                };
                let deadline = now.after_millis(value);
                let opened = self.open_call(now, frame, deadline, None)?;
                return Ok(opened.then_some(Event::Publish {
                    id: call,
                    deadline,
                    topic,
                    extension,
                    payload,
                }));
            }
            _ => {}
        }
        if kind == Kind::CREDIT && id == CallId::NONE {
            return self.credit_of_all(frame);
        }
        if kind == Kind::CREDIT && frame.header.code != 0 {
            let found = frame.header.code.to_string();
            return Err(Broken::new(frame.offset, "CREDIT of code 0").found(found));
        }
        let cost = frame.cost();
        if kind == Kind::ITEM && !self.items.received(cost) {
            return Err(no_credit(frame));
        }
        // All others belong to a call, and may have crossed its answer.
        let Some(open) = self.slots.get_mut(call) else {
            if !self.slots.has_ended(call) {
                return Err(nobody(frame, call));
            }
            if kind == Kind::ITEM {
                // Nobody will read it.
                self.items.consumed(cost, 3, CallId::NONE, &mut self.output);
            }
            return Ok(None);
        };
        match kind {
            Kind::CANCEL => {
                let context = open.context.take();
                self.fault(now, call, Fault::new(FaultCode::CANCELLED), b"");
                Ok(Some(Event::Cancelled(call, context)))
            }
            Kind::UNSUBSCRIBE => Ok(Some(Event::Unsubscribe(call))),
            Kind::END => match &mut open.stream {
                Some(stream) if stream.open => {
                    stream.open = false;
                    Ok(Some(Event::End(call)))
                }
                _ => Err(Broken::new(frame.offset, "END of a stream that is open")),
            },
            Kind::ITEM => match &mut open.stream {
                Some(stream) if stream.open => match stream.credit.received(cost) {
                    true => Ok(Some(Event::Item {
                        id: call,
                        cost,
                        payload,
                    })),
                    false => Err(no_credit(frame)),
                },
                _ => Err(Broken::new(frame.offset, "ITEM of a stream that is open")),
            },
            _ => self.credit(frame, call),
        }
    }

    fn credit<'a>(
        &mut self,
        frame: &Frame<'a>,
        id: CallId,
    ) -> Result<Option<Event<'a, O, T>>, Broken> {
        let value = frame.header.value;
        let stream = self.slots.get_mut(id).and_then(|call| call.stream.as_mut());
        match stream {
            Some(stream) => match stream.credit.add(value) {
                Added::TooMuch => Err(too_much(frame)),
                Added::Wakes => Ok(Some(Event::Writable(Some(id)))),
                Added::Nothing => Ok(None),
            },
            None => Err(Broken::new(frame.offset, "credit for a stream")),
        }
    }

    fn credit_of_all<'a>(&mut self, frame: &Frame<'_>) -> Result<Option<Event<'a, O, T>>, Broken> {
        if frame.header.code != 3 {
            let found = frame.header.code.to_string();
            return Err(
                Broken::new(frame.offset, "CREDIT of code 0 for a call, or of 3").found(found),
            );
        }
        match self.items.add(frame.header.value) {
            Added::TooMuch => Err(too_much(frame)),
            Added::Wakes => Ok(Some(Event::Writable(None))),
            Added::Nothing => Ok(None),
        }
    }

    fn count_ping(&mut self, now: Time, frame: &Frame<'_>) -> Result<(), Broken> {
        let least = self.settings.ping();
        let early = self
            .pinged
            .is_some_and(|before| now.since(before).as_millis() < u128::from(least));
        self.pinged = Some(now);
        self.early_pings = if early { self.early_pings + 1 } else { 0 };
        if self.early_pings < MOST_EARLY_PINGS {
            return Ok(());
        }
        let expected = format!("{least} ms between two PINGs");
        Err(Broken::new(frame.offset, expected).because(Reason::PINGS))
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

    /// Begins the answer to a call. Nothing, if the call has ended: it was cancelled, or its time
    /// is over.
    #[inline]
    pub fn reply(&mut self, now: Time, id: CallId) -> Option<Answer<'_, O, T>> {
        let call = self.slots.get_mut(id)?;
        let took = now.since(call.arrived).as_micros();
        let header = Header {
            value: u32::try_from(took).unwrap_or(u32::MAX),
            ..header(Kind::REPLY, id.into())
        };
        Some(self.answer(header, id))
    }

    /// Answers a call with a fault and its details. Nothing is sent if the call has ended, and
    /// details that the client does not take are left out.
    pub fn fault(&mut self, now: Time, id: CallId, fault: Fault, details: &[u8]) {
        let _ = now;
        if self.slots.get_mut(id).is_none() {
            return;
        }
        let header = Header {
            flags: match fault.unstarted {
                true => Flags::UNSTARTED,
                false => Flags::NONE,
            },
            code: fault.code.0,
            value: fault.retry_after,
            ..header(Kind::FAULT, id.into())
        };
        self.tally.fault(fault);
        let mut answer = self.answer(header, id);
        answer.payload().extend_from_slice(details);
        if answer.send().is_err() {
            // Without details it has a few bytes, which everybody takes.
            let _ = self.answer(header, id).send();
        }
    }

    fn answer(&mut self, header: Header, id: CallId) -> Answer<'_, O, T> {
        let draft = Draft::new(&mut self.output, header);
        Answer {
            connection: self,
            draft,
            id,
            sent: false,
        }
    }

    /// Accepts a subscription.
    pub fn accept(&mut self, id: CallId) {
        if self.slots.get_mut(id).is_some() {
            bare(&mut self.output, &header(Kind::ACCEPT, id.into()));
        }
    }

    /// Begins an item of a call's stream, or a message of a subscription, before which so many
    /// were left out. Nothing, if the call has ended or there is no credit: then
    /// [`Event::Writable`] will come.
    pub fn item(&mut self, id: CallId, missed: u32) -> Option<Answer<'_, O, T>> {
        let may = match &self.slots.get_mut(id)?.stream {
            Some(stream) => stream.credit.may_send(),
            None => {
                let stream = self.stream(false);
                let may = stream.credit.may_send();
                if let Some(call) = self.slots.get_mut(id) {
                    call.stream = Some(stream);
                }
                may
            }
        };
        if !may || !self.items.may_send() || self.ends == Ends::Broken {
            return None;
        }
        let header = Header {
            value: missed,
            ..header(Kind::ITEM, id.into())
        };
        Some(self.answer(header, id))
    }

    /// Items of that cost have been consumed. To be told of each that came as an [`Event::Item`], even
    /// when its call has ended.
    pub fn consumed(&mut self, id: CallId, cost: u32) {
        let stream = self.slots.get_mut(id).and_then(|call| call.stream.as_mut());
        if let Some(stream) = stream
            && stream.open
        {
            stream.credit.consumed(cost, 0, id.into(), &mut self.output);
        }
        self.items.consumed(cost, 3, CallId::NONE, &mut self.output);
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
        self.slots.earliest()
    }

    /// Ends the calls whose time is over, and hands over what was kept of them. Their callers are
    /// told.
    pub fn timeout(&mut self, now: Time, mut expired: impl FnMut(CallId, Option<T>)) {
        let mut ids = Vec::new();
        self.slots.expired(now, &mut ids);
        for id in ids {
            let Some(call) = self.slots.get_mut(id) else {
                continue;
            };
            let context = call.context.take();
            self.fault(now, id, Fault::new(FaultCode::DEADLINE), b"");
            expired(id, context);
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
        if self.output.is_empty() {
            self.output.shrink_to(0);
        }
    }
}

#[cold]
fn refused(frame: &Frame<'_>, id: CallId, refusal: Refusal) -> Broken {
    let slot = id.slot();
    match refusal {
        Refusal::Taken => Broken::new(frame.offset, "a slot that is free")
            .found(format!("slot {slot}, whose call is open")),
        Refusal::Count(count) => Broken::new(frame.offset, format!("count {count} of slot {slot}"))
            .found(id.count().to_string()),
        Refusal::Beyond(first) => {
            Broken::new(frame.offset, format!("a slot up to {first}")).found(format!("slot {slot}"))
        }
    }
}

#[cold]
fn no_credit(frame: &Frame<'_>) -> Broken {
    Broken::new(frame.offset, "no ITEM without credit").because(Reason::LIMIT)
}

#[cold]
fn too_much(frame: &Frame<'_>) -> Broken {
    Broken::new(frame.offset, "credit of at most 2^31 - 1 bytes")
        .found(frame.header.value.to_string())
}

/// What belongs to a call that never was.
#[cold]
fn nobody(frame: &Frame<'_>, id: CallId) -> Broken {
    Broken::new(frame.offset, format!("{} for a call", frame.header.kind)).found(format!(
        "slot {}, count {}",
        id.slot(),
        id.count()
    ))
}

/// An answer or an item that is being written. One that is dropped is not sent, and its call is as
/// it was.
#[derive(Debug)]
pub struct Answer<'a, O, T> {
    connection: &'a mut Connection<O, T>,
    draft: Draft,
    id: CallId,
    sent: bool,
}

impl<O, T> Answer<'_, O, T> {
    /// Where the payload is appended; nothing that is there may be changed.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.connection.output.bytes
    }

    /// A payload that is there already; if it is large it is not copied. Nothing may follow it.
    pub fn share(&mut self, payload: Bytes) {
        self.draft.share(&mut self.connection.output, payload);
    }

    /// Sends it. An answer ends the call; what was kept of it is dropped.
    ///
    /// # Errors
    ///
    /// It is larger than the client takes. The call is still open.
    #[inline]
    pub fn send(mut self) -> Result<(), TooLarge> {
        let connection = &mut *self.connection;
        let bytes = self
            .draft
            .check(&connection.output, &connection.client, connection.checked)?;
        self.draft.finish(&mut connection.output);
        self.sent = true;
        if self.draft.kind() == Kind::ITEM {
            let call = connection.slots.get_mut(self.id);
            if let Some(stream) = call.and_then(|call| call.stream.as_mut()) {
                let cost = i64::from(bytes) + HEADER as i64;
                stream.credit.sent(cost);
                connection.items.sent(cost);
            }
        } else if let Some(call) = connection.slots.remove(self.id) {
            connection.bytes -= u64::from(call.bytes);
            let replies = &mut connection.tally.replies;
            *replies = replies.wrapping_add(u32::from(self.draft.kind() == Kind::REPLY));
        }
        Ok(())
    }
}

impl<O, T> Drop for Answer<'_, O, T> {
    #[inline]
    fn drop(&mut self) {
        if !self.sent {
            self.draft.undo(&mut self.connection.output);
        }
    }
}
