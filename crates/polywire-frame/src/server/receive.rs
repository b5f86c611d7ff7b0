//! What a client's frames mean to a server.

use super::{Call, Connection, Ends, Event, Fault, Name, Step};
use crate::broken::{Broken, cut, farewell};
use crate::draft::bare;
use crate::extension::name;
use crate::frames::{Frame, Next, PREFACE};
use crate::header::header;
use crate::slots::Refusal;
use crate::stream::{Added, Stream};
use crate::{CallId, FaultCode, Flags, Header, Kind, Reason, Settings, Time};

/// Pings that came too early before their sender is sent away.
const MOST_EARLY_PINGS: u32 = 3;

impl<O: Copy, T> Connection<O, T> {
    /// Looks at the front of what has come: at one frame, if it is whole. `resolve` says what the
    /// name of an operation stands for; it is asked once a name, if the name gets a number. A payload that came
    /// compressed is undone in `room`, which is empty before; nothing else uses it.
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
        room: &'a mut Vec<u8>,
        resolve: impl FnMut(&str) -> Option<O>,
    ) -> Result<Step<'a, O, T>, Broken> {
        let broken = match self.frames.next(input) {
            Ok(Next::Frame(mut frame, consumed)) => match self
                .unpack(&mut frame, room)
                .and_then(|()| self.take(now, &frame, resolve))
            {
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

    /// Nothing more will come, behind so many bytes that were not consumed. That is as if the client had said
    /// [`Event::GoAway`]: calls that are open can be answered. But those that would need more of it end, and are
    /// handed over with what was kept of them: subscriptions, and calls whose items have not all come or whose own
    /// have no credit. Those that need more later end by [`timeout`](Self::timeout).
    ///
    /// # Errors
    ///
    /// It ended within a frame. The farewell is in the output; when it is written the connection is to be
    /// closed.
    pub fn end_of_input(
        &mut self,
        now: Time,
        rest: usize,
        mut ended: impl FnMut(CallId, Option<T>),
    ) -> Result<(), Broken> {
        self.input_ended = true;
        if self.ends == Ends::Broken {
            return Ok(());
        }
        if rest > 0 {
            self.ends = Ends::Broken;
            let broken = cut(self.frames.offset() + rest as u64);
            match self.frames.speaks() {
                true => farewell(&mut self.output, &broken),
                false => self.output.clear(),
            }
            return Err(broken);
        }
        if self.ends == Ends::Not {
            self.ends = Ends::Client;
        }
        let may_send = self.items.may_send();
        let mut needy = Vec::new();
        self.slots.each(|id, call| {
            let needs = call.stream.as_ref().is_some_and(|stream| {
                stream.open || stream.topic || !stream.credit.may_send() || !may_send
            });
            if needs {
                needy.push(id);
            }
        });
        self.give_up(now, &needy, FaultCode::CANCELLED, &mut ended);
        Ok(())
    }

    #[inline]
    fn unpack<'a>(&mut self, frame: &mut Frame<'a>, room: &'a mut Vec<u8>) -> Result<(), Broken> {
        // Whoever made a mistake is not listened to.
        if frame.header.flags.has(Flags::DEFLATE) && self.ends != Ends::Broken {
            self.unpacker.unpack(frame, self.frames.most(), room)?;
        }
        Ok(())
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
        let stream = open.then(|| self.stream(true, false));
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
                let stream = self.stream(false, true);
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
        // The client cannot know whether items will come, and may let more of them come from the beginning.
        let (client, own) = (&self.client, &self.settings);
        let Some(call) = self.slots.get_mut(id) else {
            return Ok(None);
        };
        let stream = call
            .stream
            .get_or_insert_with(|| super::streams::stream(client, own, false, false));
        match stream.credit.add(frame.header.value) {
            Added::TooMuch => Err(too_much(frame)),
            Added::Wakes => Ok(Some(Event::Writable(Some(id)))),
            Added::Nothing => Ok(None),
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
