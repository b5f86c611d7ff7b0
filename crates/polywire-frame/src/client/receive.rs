//! What a server's frames mean to a client.

use super::{Connection, Ends, Event, Step};
use crate::broken::{Broken, cut, farewell};
use crate::draft::bare;
use crate::frames::{Frame, Next};
use crate::header::header;
use crate::stream::{Added, Credit, Stream};
use crate::{CallId, FaultCode, Flags, Header, Kind, Reason, Settings};

impl<T> Connection<T> {
    /// Looks at the front of what has come: at one frame, if it is whole. A payload that came compressed is undone in
    /// `room`, which is empty before; nothing else uses it.
    ///
    /// # Errors
    ///
    /// The server has broken a rule. The farewell is in the output; when it is written the
    /// connection is to be closed.
    #[inline]
    pub fn receive<'a>(
        &mut self,
        input: &'a [u8],
        room: &'a mut Vec<u8>,
    ) -> Result<Step<'a, T>, Broken> {
        let step = match self.frames.next(input) {
            Ok(Next::Frame(mut frame, consumed)) => match self
                .unpack(&mut frame, room)
                .and_then(|()| self.take(&frame))
            {
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
                let before = self.output.bytes.len();
                farewell(&mut self.output, broken);
                self.farewell = self.output.bytes[before..].to_vec();
            }
        }
        step
    }

    /// Nothing more will come, behind so many bytes that were not consumed. The connection is to be
    /// [closed](Self::close): a server that sends no more cannot answer.
    ///
    /// # Errors
    ///
    /// It ended within a frame.
    pub fn end_of_input(&mut self, rest: usize) -> Result<(), Broken> {
        self.ends = Ends::Broken;
        match rest {
            0 => Ok(()),
            _ => Err(cut(self.frames.offset() + rest as u64)),
        }
    }

    #[inline]
    fn unpack<'a>(&mut self, frame: &mut Frame<'a>, room: &'a mut Vec<u8>) -> Result<(), Broken> {
        if frame.header.flags.has(Flags::DEFLATE) {
            self.unpacker.unpack(frame, self.frames.most(), room)?;
        }
        Ok(())
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
                return Ok(Some(Event::Freed(id)));
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
                self.slots.each(|_, call| {
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
                        topic: false,
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
