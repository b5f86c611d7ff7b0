//! Receiving a client's frames.

use super::{Connection, Event, Fault, Name, Server, Step};
use crate::connection::calls::SlotError;
use crate::connection::credit::Stream;
use crate::connection::receive::FrameResult;
use crate::connection::{Call, Phase, Role, private};
use crate::wire::{Frame, FrameWriter, PREFACE, ProtocolError, parse_name};
use crate::{CallId, FaultCode, Flags, Header, Kind, Reason, Settings, Time};

/// A client is disconnected at this number of early pings in a row.
const MOST_EARLY_PINGS: u32 = 3;

impl<O, T> private::Sealed for Server<O, T> {}

impl<O: Copy, T> Role for Server<O, T> {
    type Context = T;
    type Operation = O;
    /// When the call arrived.
    type Start = Time;

    const IS_CLIENT: bool = false;

    fn check_ping(
        &mut self,
        own: &Settings,
        now: Time,
        frame: &Frame<'_>,
    ) -> Result<(), ProtocolError> {
        let least = own.ping();
        let early =
            self.pinged != Time::NEVER && now.since(self.pinged).as_millis() < u128::from(least);
        self.pinged = now;
        self.early_pings = if early { self.early_pings + 1 } else { 0 };
        if self.early_pings < MOST_EARLY_PINGS {
            return Ok(());
        }
        let expected = format!("{least} ms between two PINGs");
        Err(ProtocolError::new(frame.offset, expected).because(Reason::PINGS))
    }

    fn wrote(&mut self, _: usize) {}

    fn peer_settings(&mut self, _: &Settings) {}

    fn limit(&mut self, _: &Settings, _: u16, _: u32) -> Result<(), &'static str> {
        // Clients set no limits.
        Ok(())
    }

    fn receive<'a>(
        connection: &mut Connection<O, T>,
        now: Time,
        frame: &Frame<'a>,
    ) -> FrameResult<'a, Self> {
        let Header { kind, value, .. } = frame.header;
        let id = CallId::from(frame.header.id);
        match kind {
            Kind::SUBSCRIBE => {
                let topic = parse_name(frame.payload).ok_or_else(|| {
                    ProtocolError::new(frame.payload_offset(), "the name of a topic")
                })?;
                let stream = connection.new_stream(false, true);
                let opened = connection.open_call(now, frame, Time::NEVER, Some(stream))?;
                let extension = frame.fields();
                return Ok(opened.then_some(Event::Subscribe {
                    id,
                    topic,
                    extension,
                }));
            }
            Kind::PUBLISH => {
                let extension = frame.fields();
                let Some(topic) = extension.topic() else {
                    return Err(ProtocolError::new(frame.offset, "the topic of PUBLISH"));
                };
                let deadline = now.after_millis(value);
                let opened = connection.open_call(now, frame, deadline, None)?;
                return Ok(opened.then_some(Event::Publish {
                    id,
                    deadline,
                    topic,
                    extension,
                    payload: frame.payload,
                }));
            }
            _ => {}
        }
        let Some(call) = connection.calls.get_mut(id) else {
            return connection.late(frame);
        };
        match (kind, &mut call.stream) {
            (Kind::CANCEL, _) => {
                let context = call.context.take();
                connection.fault(now, id, Fault::new(FaultCode::CANCELLED), b"");
                Ok(Some(Event::Cancelled(id, context)))
            }
            (Kind::UNSUBSCRIBE, _) => Ok(Some(Event::Unsubscribe(id))),
            (Kind::END, Some(stream)) if stream.open => {
                stream.open = false;
                Ok(Some(Event::End(id)))
            }
            // `FrameReader` passes no other kind.
            _ => Err(ProtocolError::new(
                frame.offset,
                "END of a stream that is open",
            )),
        }
    }

    #[inline]
    fn sent(connection: &mut Connection<O, T>, frame: &FrameWriter, id: CallId) {
        if let Some(call) = connection.calls.remove(id) {
            connection.bytes -= u64::from(call.bytes);
            connection.role.counts.reply(frame.kind());
        }
    }

    fn report(connection: &mut Connection<O, T>, error: &ProtocolError) {
        match (connection.reader.has_preface(), error.reason()) {
            (true, _) => error.append_to(&mut connection.output),
            // A client of another version understands the preface and `GOAWAY`.
            (false, Reason::VERSION) => {
                connection.output.truncate(PREFACE.len());
                error.append_to(&mut connection.output);
            }
            // Another protocol.
            (false, _) => connection.output.clear(),
        }
    }
}

impl<O: Copy, T> Connection<O, T> {
    /// Reads one frame from the front of the input. `resolve` maps the name of an operation; it is called once for a
    /// name that gets a number. A payload that was compressed is put into `buffer`, which must be empty or used by
    /// this method only.
    ///
    /// # Errors
    ///
    /// The client has violated the protocol. Close the connection when the output, which reports it, is written.
    #[inline]
    pub fn receive<'a>(
        &mut self,
        now: Time,
        input: &'a [u8],
        buffer: &'a mut Vec<u8>,
        resolve: impl FnMut(&str) -> Option<O>,
    ) -> Result<Step<'a, O, T>, ProtocolError> {
        self.receive_with(input, buffer, |connection, frame| {
            connection.take(now, frame, resolve)
        })
    }

    /// The input has ended, with `rest` bytes that were not consumed. This has the effect of the client's `GOAWAY`: open
    /// calls can be answered. But those that need more from the client end now, and are passed to `ended` with what was
    /// stored with them: subscriptions, calls whose client's stream is open, and calls whose items have no credit.
    /// Those that run out of credit later end by [`timeout`](Self::timeout).
    ///
    /// # Errors
    ///
    /// The input has ended within a frame. Close the connection when the output, which reports it, is written.
    pub fn end_of_input(
        &mut self,
        now: Time,
        rest: usize,
        mut ended: impl FnMut(CallId, Option<T>),
    ) -> Result<(), ProtocolError> {
        self.role.input_ended = true;
        if self.phase == Phase::Closed {
            return Ok(());
        }
        if rest > 0 {
            self.phase = Phase::Closed;
            let error = ProtocolError::end_of_input(self.reader.offset() + rest as u64);
            Server::report(self, &error);
            return Err(error);
        }
        if self.phase == Phase::Open {
            self.phase = Phase::PeerLeaving;
        }
        let may_send = self.items.may_send();
        let mut needy = Vec::new();
        self.calls.each(|id, call| {
            let needs = call.stream.as_ref().is_some_and(|stream| {
                stream.open || stream.topic || !stream.credit.may_send() || !may_send
            });
            if needs {
                needy.push(id);
            }
        });
        self.end_calls(now, &needy, FaultCode::CANCELLED, &mut ended);
        Ok(())
    }

    /// What a frame means.
    #[inline]
    fn take<'a>(
        &mut self,
        now: Time,
        frame: &Frame<'a>,
        mut resolve: impl FnMut(&str) -> Option<O>,
    ) -> FrameResult<'a, Server<O, T>> {
        let Header {
            kind,
            flags,
            code,
            id,
            value,
            ..
        } = frame.header;
        if self.phase == Phase::Closed {
            // After an error of either side, frames are ignored.
            return Ok(None);
        }
        if kind != Kind::CALL && kind != Kind::ONEWAY {
            return self.receive_other(now, frame);
        }
        let extension = frame.fields();
        let known = match (code, extension.operation()) {
            (1.., None) => self.by_number(frame, code)?,
            (_, Some(name)) => self.by_name(frame, code, name, &mut resolve)?,
            (0, None) => {
                return Err(ProtocolError::new(
                    frame.offset,
                    "an operation: its number, or its name",
                ));
            }
        };
        let deadline = now.after_millis(value);
        let payload = frame.payload;
        if kind == Kind::ONEWAY {
            let known = known.filter(|_| self.phase != Phase::Leaving);
            self.role.counts.one_way();
            return Ok(known.map(|operation| Event::OneWay {
                operation,
                deadline,
                extension,
                payload,
            }));
        }
        let id = CallId::from(id);
        let open = flags.contains(Flags::OPEN);
        let stream = open.then(|| self.new_stream(true, false));
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
                name: extension.operation(),
            },
        }))
    }

    #[inline]
    fn by_number(&self, frame: &Frame<'_>, number: u16) -> Result<Option<O>, ProtocolError> {
        match self.role.names.get(usize::from(number) - 1) {
            Some(Some(name)) => Ok(name.operation),
            _ => self.check_number(frame, number).map(|()| None),
        }
    }

    #[cold]
    fn check_number(&self, frame: &Frame<'_>, number: u16) -> Result<(), ProtocolError> {
        let most = self.settings.names();
        if u32::from(number) > most {
            let expected = format!("an operation's number of at most {most}");
            return Err(ProtocolError::new(frame.offset, expected).found(number.to_string()));
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
    ) -> Result<Option<O>, ProtocolError> {
        self.check_number(frame, number)?;
        let Some(index) = usize::from(number).checked_sub(1) else {
            return Ok(resolve(name));
        };
        let names = &mut self.role.names;
        if names.len() <= index {
            names.resize_with(index + 1, || None);
        }
        let known = names[index].get_or_insert_with(|| Name {
            name: name.into(),
            operation: resolve(name),
        });
        if &*known.name != name {
            let expected = format!("operation {number} with its name, `{}`", known.name);
            return Err(ProtocolError::new(frame.offset, expected).found(format!("`{name}`")));
        }
        Ok(known.operation)
    }

    /// Opens a call in its slot. `false` if it was answered with a fault, since this side takes no more calls.
    #[inline]
    fn open_call(
        &mut self,
        now: Time,
        frame: &Frame<'_>,
        deadline: Time,
        stream: Option<Box<Stream>>,
    ) -> Result<bool, ProtocolError> {
        let id = CallId::from(frame.header.id);
        let most = u64::from(self.settings.bytes());
        if u32::from(id.slot()) >= self.settings.calls()
            || self.bytes >= most && self.calls.open() > 0
            || self.phase == Phase::PeerLeaving
        {
            return Err(self.limit_error(frame, id));
        }
        let bytes = frame.header.length;
        let call = Call {
            deadline,
            start: now,
            bytes,
            context: None,
            stream,
        };
        if let Err(error) = self.calls.insert_at(id, call) {
            return Err(slot_error(frame, id, error));
        }
        self.bytes += u64::from(bytes);
        self.role.counts.call();
        if self.phase == Phase::Leaving {
            let fault = Fault::unstarted(FaultCode::UNAVAILABLE);
            self.fault(now, id, fault, b"");
            return Ok(false);
        }
        Ok(true)
    }

    #[cold]
    fn limit_error(&self, frame: &Frame<'_>, id: CallId) -> ProtocolError {
        let error = if self.phase == Phase::PeerLeaving {
            return ProtocolError::new(frame.offset, "no call behind GOAWAY");
        } else if u32::from(id.slot()) >= self.settings.calls() {
            let expected = format!("a slot below {}", self.settings.calls());
            ProtocolError::new(frame.offset, expected).found(id.slot().to_string())
        } else {
            let expected = format!("less than {} bytes in open calls", self.settings.bytes());
            ProtocolError::new(frame.offset, expected).found(self.bytes.to_string())
        };
        error.because(Reason::LIMIT)
    }
}

#[cold]
fn slot_error(frame: &Frame<'_>, id: CallId, error: SlotError) -> ProtocolError {
    let slot = id.slot();
    let (expected, found) = match error {
        SlotError::Taken => (
            "a slot that is free".to_owned(),
            format!("slot {slot}, whose call is open"),
        ),
        SlotError::Count(count) => (
            format!("count {count} of slot {slot}"),
            id.count().to_string(),
        ),
        SlotError::Beyond(first) => (format!("a slot up to {first}"), format!("slot {slot}")),
    };
    ProtocolError::new(frame.offset, expected).found(found)
}
