//! Frames with a payload that are being written.

use bytes::Bytes;

use super::client::{Client, RequestError};
use super::{Call, Connection, Role};
use crate::wire::{FrameWriter, TooLarge};
use crate::{CallId, HEADER, Header, Kind, Time};

/// An answer, an item or a call without an answer that is being written: append the payload, then
/// [`send`](Self::send). If it is dropped before, it is not sent and has no effect.
#[derive(Debug)]
pub struct OutgoingFrame<'a, R: Role> {
    pub(super) connection: &'a mut Connection<R>,
    pub(super) writer: FrameWriter,
    pub(super) id: CallId,
    pub(super) sent: bool,
}

impl<R: Role> Connection<R> {
    #[inline]
    pub(super) fn frame(&mut self, header: Header, id: CallId) -> OutgoingFrame<'_, R> {
        let writer = FrameWriter::new(&mut self.output.bytes, header);
        self.outgoing(writer, id)
    }

    #[inline]
    pub(super) const fn outgoing(
        &mut self,
        writer: FrameWriter,
        id: CallId,
    ) -> OutgoingFrame<'_, R> {
        OutgoingFrame {
            connection: self,
            writer,
            id,
            sent: false,
        }
    }
}

impl<R: Role> OutgoingFrame<'_, R> {
    /// The buffer to append the payload to. Its content must not be changed.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.connection.output.bytes
    }

    /// Appends the rest of the payload. From [`Output::LARGE`](crate::Output::LARGE) bytes on it is not copied.
    pub fn share(&mut self, payload: Bytes) {
        self.writer.share(&mut self.connection.output, payload);
    }

    /// Sends the frame. An answer ends its call and drops what was stored with it.
    ///
    /// # Errors
    ///
    /// The frame is larger than the peer accepts. It has no effect: a call remains open.
    #[inline]
    pub fn send(mut self) -> Result<(), TooLarge> {
        let bytes = self.check()?;
        self.finish();
        let connection = &mut *self.connection;
        if self.writer.kind() == Kind::ITEM {
            let call = connection.calls.get_mut(self.id);
            if let Some(stream) = call.and_then(|call| call.stream.as_mut()) {
                let cost = i64::from(bytes) + HEADER as i64;
                stream.credit.sent(cost);
                connection.items.sent(cost);
            }
        } else {
            R::sent(connection, &self.writer, self.id);
        }
        Ok(())
    }

    /// The length of the body in bytes, before compression.
    #[inline]
    pub(super) fn check(&mut self) -> Result<u32, TooLarge> {
        let connection = &mut *self.connection;
        self.writer.check(
            &mut connection.output.bytes,
            &connection.peer,
            &mut connection.compressor,
        )
    }

    #[inline]
    pub(super) fn finish(&mut self) {
        self.writer.finish(&mut self.connection.output);
        self.sent = true;
    }
}

impl<R: Role> Drop for OutgoingFrame<'_, R> {
    #[inline]
    fn drop(&mut self) {
        if !self.sent {
            self.connection.output.bytes.truncate(self.writer.start());
        }
    }
}

/// A call that is being written: append the payload, then [`send`](Self::send). If it is dropped before, it is not sent
/// and has no effect.
#[derive(Debug)]
pub struct OutgoingCall<'a, T> {
    pub(super) frame: OutgoingFrame<'a, Client<T>>,
    pub(super) deadline: Time,
    /// Whether there is a stream, and if so, whether the client sends items.
    pub(super) stream: Option<bool>,
}

impl<T> OutgoingCall<'_, T> {
    /// The buffer to append the payload to. Its content must not be changed.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        self.frame.payload()
    }

    /// Appends the rest of the payload. From [`Output::LARGE`](crate::Output::LARGE) bytes on it is not copied.
    pub fn share(&mut self, payload: Bytes) {
        self.frame.share(payload);
    }

    /// Sends the call. `context` is returned when it ends.
    ///
    /// # Errors
    ///
    /// It is larger than the server accepts. It has no effect.
    #[inline]
    pub fn send(mut self, context: T) -> Result<CallId, RequestError> {
        let bytes = self.frame.check()?;
        let connection = &mut *self.frame.connection;
        let position = connection.output.position(self.frame.writer.start());
        let call = Call {
            deadline: self.deadline,
            start: connection.role.written + position,
            bytes,
            context: Some(context),
            stream: self.stream.map(|open| connection.new_stream(open, false)),
        };
        let Ok(id) = connection.calls.insert(connection.role.most_calls, call) else {
            return Err(RequestError::Full);
        };
        connection.bytes += u64::from(bytes);
        connection.name_sent(&self.frame.writer);
        self.frame.writer.set_id(id.into());
        self.frame.finish();
        Ok(id)
    }
}
