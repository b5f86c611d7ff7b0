//! Calls that are being written.

use polywire_frame::wire::FrameWriter;
use polywire_frame::{CallId, Kind, Time};

use super::calls::OpenCall;
use super::{Client, Request, RequestError, Stage};

impl<T> Client<T> {
    /// Begins a call: append its payload, then send it. If it is dropped before, it has no effect.
    ///
    /// # Errors
    ///
    /// It cannot be made now, or not at all. There are no streams.
    #[inline]
    pub fn call(
        &mut self,
        now: Time,
        request: &Request<'_>,
    ) -> Result<OutgoingCall<'_, T>, RequestError> {
        if request.is_open() {
            return Err(RequestError::Invalid(
                "a call without a stream, over datagrams",
            ));
        }
        if self.room() == 0 {
            return Err(match self.stage {
                Stage::Ending => RequestError::Ending,
                _ => RequestError::Full,
            });
        }
        let Some(id) = self.calls.next(now, self.peer.calls()) else {
            return Err(RequestError::Full);
        };
        Ok(OutgoingCall {
            message: self.message(now, Kind::CALL, request)?,
            now,
            id,
            deadline: request.deadline(),
        })
    }

    /// Begins a call without an answer. It may be lost, and may be executed twice.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn one_way(
        &mut self,
        now: Time,
        request: &Request<'_>,
    ) -> Result<Message<'_, T>, RequestError> {
        match self.stage {
            Stage::Open => self.message(now, Kind::ONEWAY, request),
            Stage::Ending => Err(RequestError::Ending),
            _ => Err(RequestError::Full),
        }
    }

    /// Writes the token, the header and the extension of a call.
    #[inline]
    fn message(
        &mut self,
        now: Time,
        kind: Kind,
        request: &Request<'_>,
    ) -> Result<Message<'_, T>, RequestError> {
        let bytes = self.output.begin(self.token);
        let start = bytes.len();
        match request.begin(now, kind, bytes, &self.peer, &self.known) {
            Ok(frame) => Ok(Message {
                client: self,
                frame,
                sent: false,
            }),
            Err(error) => {
                self.output.discard(start);
                Err(error)
            }
        }
    }
}

/// A call that is being written: append the payload, then [`send`](Self::send). If it is dropped before, it is not sent
/// and has no effect.
#[derive(Debug)]
pub struct OutgoingCall<'a, T> {
    message: Message<'a, T>,
    now: Time,
    id: CallId,
    deadline: Time,
}

impl<T> OutgoingCall<'_, T> {
    /// The buffer to append the payload to. Its content must not be changed.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        self.message.payload()
    }

    /// Sends the call. `context` is returned when it ends.
    ///
    /// # Errors
    ///
    /// It is longer than a datagram may be. It has no effect.
    #[inline]
    pub fn send(mut self, context: T) -> Result<CallId, RequestError> {
        let Self { id, now, .. } = self;
        self.message.frame.set_id(id.into());
        let bytes = self.message.finish()?;
        let Message { client, frame, .. } = &mut self.message;
        let wait = client.round_trip.wait();
        let call = OpenCall {
            context: Some(context),
            deadline: self.deadline,
            timed: self.deadline != Time::NEVER,
            sent: now,
            last: now,
            again: now.after(wait),
            wait,
            times: 1,
            accepted: false,
            number: match frame.is_extended() {
                true => frame.code(),
                false => 0,
            },
            bytes,
        };
        client.bytes += u64::from(bytes);
        let datagram = client.output.end(frame.start(), ());
        client.calls.insert(now, id, call, datagram);
        Ok(id)
    }
}

/// A call without an answer that is being written: append the payload, then [`send`](Self::send). If it is dropped
/// before, it is not sent.
#[derive(Debug)]
pub struct Message<'a, T> {
    client: &'a mut Client<T>,
    frame: FrameWriter,
    sent: bool,
}

impl<T> Message<'_, T> {
    /// The buffer to append the payload to. Its content must not be changed.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        self.client.output.buffer()
    }

    /// Sends it.
    ///
    /// # Errors
    ///
    /// It is longer than a datagram may be.
    pub fn send(mut self) -> Result<(), RequestError> {
        self.finish()?;
        self.client.output.end(self.frame.start(), ());
        Ok(())
    }

    /// Writes the header. The length of the body.
    #[inline]
    fn finish(&mut self) -> Result<u32, RequestError> {
        let Client {
            output, most, peer, ..
        } = &mut *self.client;
        let finished = output.finish(&mut self.frame, *most, peer);
        self.sent = finished.is_ok();
        finished.map_err(RequestError::TooLong)
    }
}

impl<T> Drop for Message<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if !self.sent {
            self.client.output.discard(self.frame.start());
        }
    }
}
