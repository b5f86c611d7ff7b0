//! Calls and items that are being written.

use bytes::Bytes;

use super::{Call, Connection, Ends, Refused, Request, extend};
use crate::draft::Draft;
use crate::stream::{Credit, Stream};
use crate::{CallId, Flags, HEADER, Header, Kind, Time};

impl<T> Connection<T> {
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

    pub(super) fn may_open(&self) -> Result<(), Refused> {
        match self.ends {
            Ends::Not if self.room() > 0 => Ok(()),
            Ends::Not => Err(Refused::Full),
            _ => Err(Refused::Ending),
        }
    }

    pub(super) fn draught(
        &mut self,
        draft: Draft,
        deadline: Time,
        stream: Option<bool>,
    ) -> Draught<'_, T> {
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
        let checked = self.draft.check(
            &mut connection.output,
            &connection.settings,
            &mut connection.packer,
        );
        let bytes = checked.map_err(Refused::TooLarge)?;
        let stream = self.stream.map(|open| {
            Box::new(Stream {
                open,
                topic: false,
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
    pub(super) connection: &'a mut Connection<T>,
    pub(super) draft: Draft,
    pub(super) stream: Option<CallId>,
    pub(super) sent: bool,
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
        let checked = self.draft.check(
            &mut connection.output,
            &connection.settings,
            &mut connection.packer,
        );
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
