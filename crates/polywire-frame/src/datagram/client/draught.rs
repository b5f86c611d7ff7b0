//! Calls that are being written.

use super::super::TooLong;
use super::super::calls::Open;
use super::{Client, Refused, Request, Stage};
use crate::client::extend;
use crate::deflate::Packer;
use crate::draft::Draft;
use crate::{CallId, Flags, Header, Kind, Time};

impl<T> Client<T> {
    /// Begins a call: its payload is to be written, then it is to be sent. One that is dropped
    /// before is never made.
    ///
    /// # Errors
    ///
    /// It cannot be made, now or at all. Streams cannot.
    #[inline]
    pub fn call(&mut self, now: Time, request: &Request<'_>) -> Result<Draught<'_, T>, Refused> {
        if request.open {
            return Err(Refused::Invalid("a call without a stream, over datagrams"));
        }
        if self.room() == 0 {
            return Err(match self.stage {
                Stage::Ending => Refused::Ending,
                _ => Refused::Full,
            });
        }
        let Some(id) = self.calls.next(now, self.settings.calls()) else {
            return Err(Refused::Full);
        };
        let (start, draft) = self.draft(now, Kind::CALL, request)?;
        Ok(Draught {
            client: self,
            start,
            draft,
            now,
            id,
            deadline: request.deadline,
            sent: false,
        })
    }

    /// Begins a call without an answer, to be written and sent like others. It may be lost, and may be
    /// carried out twice.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn one_way(&mut self, now: Time, request: &Request<'_>) -> Result<Message<'_, T>, Refused> {
        match self.stage {
            Stage::Open => {}
            Stage::Ending => return Err(Refused::Ending),
            _ => return Err(Refused::Full),
        }
        let (start, draft) = self.draft(now, Kind::ONEWAY, request)?;
        Ok(Message {
            client: self,
            start,
            draft,
            sent: false,
        })
    }

    /// The token, the header and the extension of a call.
    #[inline]
    fn draft(
        &mut self,
        now: Time,
        kind: Kind,
        request: &Request<'_>,
    ) -> Result<(usize, Draft), Refused> {
        let number = request.operation.number;
        let number = match u32::from(number) > self.settings.names() {
            true => 0,
            false => number,
        };
        let header = Header {
            length: 0,
            kind,
            flags: Flags::NONE,
            code: number,
            id: 0,
            value: now.millis_until(request.deadline),
        };
        let start = self.output.begin(self.token);
        let mut draft = Draft::new(&mut self.output.buffer, header);
        let named = number != 0 && self.named.has(number);
        if !named || !request.metadata.is_empty() || request.trace.is_some() {
            let extended = extend(&mut self.output.buffer, &mut draft, request, named);
            if let Err(refused) = extended {
                self.output.undo(start);
                return Err(refused);
            }
        }
        Ok((start, draft))
    }
}

/// A call that is being written.
#[derive(Debug)]
pub struct Draught<'a, T> {
    client: &'a mut Client<T>,
    start: usize,
    draft: Draft,
    now: Time,
    id: CallId,
    deadline: Time,
    sent: bool,
}

impl<T> Draught<'_, T> {
    /// Where the payload is appended; nothing that is there may be changed.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.client.output.buffer.bytes
    }

    /// Sends the call, with what comes back at its end.
    ///
    /// # Errors
    ///
    /// It is longer than a datagram may be.
    #[inline]
    pub fn send(mut self, context: T) -> Result<CallId, Refused> {
        let Self { id, now, start, .. } = self;
        self.draft.set_id(id.into());
        let client = &mut *self.client;
        let bytes = finish(client, start, &mut self.draft)?;
        self.sent = true;
        let wait = client.trip.wait();
        let number = self.draft.number();
        let call = Open {
            context: Some(context),
            deadline: self.deadline,
            timed: self.deadline != Time::NEVER,
            sent: now,
            last: now,
            again: now.after(wait),
            wait,
            times: 1,
            accepted: false,
            names: match self.draft.is_extended() {
                true => number,
                false => 0,
            },
            bytes,
        };
        client.bytes += u64::from(bytes);
        let datagram = client.output.end(start, ());
        client.calls.insert(now, id, call, datagram);
        Ok(id)
    }
}

/// Fills in the header, if the datagram is not too long: the bytes of the body.
#[inline]
fn finish<T>(client: &mut Client<T>, start: usize, draft: &mut Draft) -> Result<u32, Refused> {
    let output = &mut client.output.buffer;
    let length = output.bytes.len() - start;
    if length > client.most {
        let most = client.most;
        return Err(Refused::TooLong(TooLong { length, most }));
    }
    let checked = draft.check(output, &client.settings, &mut Packer::off());
    let bytes = checked.map_err(Refused::TooLarge)?;
    draft.finish(output);
    Ok(bytes)
}

impl<T> Drop for Draught<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if !self.sent {
            self.client.output.undo(self.start);
        }
    }
}

/// A call without an answer that is being written.
#[derive(Debug)]
pub struct Message<'a, T> {
    client: &'a mut Client<T>,
    start: usize,
    draft: Draft,
    sent: bool,
}

impl<T> Message<'_, T> {
    /// Where the payload is appended; nothing that is there may be changed.
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.client.output.buffer.bytes
    }

    /// Sends it.
    ///
    /// # Errors
    ///
    /// It is longer than a datagram may be.
    pub fn send(mut self) -> Result<(), Refused> {
        let client = &mut *self.client;
        finish(client, self.start, &mut self.draft)?;
        self.sent = true;
        client.output.end(self.start, ());
        Ok(())
    }
}

impl<T> Drop for Message<'_, T> {
    fn drop(&mut self) {
        if !self.sent {
            self.client.output.undo(self.start);
        }
    }
}
