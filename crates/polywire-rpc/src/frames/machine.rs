//! The interface of the client's state machines: over a byte stream, and over datagrams.

use std::ops::Deref;

use bytes::Bytes;
use polywire_frame::client::{Connection, LostCall, Operation, Request, RequestError};
use polywire_frame::{CallId, Output, Time, Trace};

use super::request::RequestKind;
use super::tickets::Ticket;
use crate::call::FrameDeadline;

/// The state machine of a connection of a client.
pub(super) trait Machine {
    /// The number of open calls.
    fn open(&self) -> u32;

    /// The number of calls that can be opened.
    fn capacity(&self) -> u32;

    /// Begins a call. After an error the input is unchanged.
    fn begin(
        &mut self,
        now: Time,
        begin: &CallStart<'_>,
        input: &mut Input<'_>,
        ticket: Ticket,
    ) -> Result<CallId, RequestError>;

    /// Makes a one-way call.
    fn notify(
        &mut self,
        now: Time,
        begin: &CallStart<'_>,
        payload: &[u8],
    ) -> Result<(), RequestError>;

    /// The length of the unsent output in bytes.
    fn unsent(&self) -> usize;

    /// Cancels a call.
    fn cancel(&mut self, now: Time, id: CallId);

    /// Announces that no more calls will be made.
    fn go_away(&mut self);

    /// When [`Self::timeout`] must be called.
    fn next_timeout(&self) -> Time;

    /// Ends the calls whose deadline has passed, and passes each to `expired`.
    fn timeout(&mut self, now: Time, expired: impl FnMut(CallId, Ticket));

    /// Ends the connection, and returns its open calls.
    fn lose(&mut self) -> Vec<LostCall<Ticket>>;
}

/// The parameters of a new call, subscription or publication, except its input.
pub(super) struct CallStart<'a> {
    pub(super) kind: RequestKind,
    /// The name of the operation, or the topic.
    pub(super) name: &'a str,
    /// The number of the operation.
    pub(super) number: u16,
    pub(super) deadline: FrameDeadline,
    pub(super) metadata: &'a [(&'a str, &'a [u8])],
    pub(super) trace: Option<Trace>,
}

/// The input of a new call.
pub(super) enum Input<'a> {
    Borrowed(&'a [u8]),
    /// A large input is taken instead of copied.
    Owned(&'a mut Vec<u8>),
}

impl Deref for Input<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
}

impl Input<'_> {
    /// Replaces the contents of a buffer by the input.
    pub(super) fn store(&mut self, buffer: &mut Vec<u8>) {
        match self {
            Self::Owned(own) if own.len() >= Output::LARGE => std::mem::swap(*own, buffer),
            input => {
                buffer.clear();
                buffer.extend_from_slice(input);
            }
        }
    }
}

impl<'a> CallStart<'a> {
    pub(super) const fn request(&self) -> Request<'a> {
        let operation = Operation {
            number: self.number,
            name: self.name,
        };
        let request = Request::new(operation)
            .with_metadata(self.metadata)
            .with_deadline(self.deadline.time());
        let request = match self.trace {
            Some(trace) => request.with_trace(trace),
            None => request,
        };
        match self.kind {
            RequestKind::TwoWay => request.with_items(),
            _ => request,
        }
    }
}

impl Machine for Connection<Ticket> {
    #[inline]
    fn open(&self) -> u32 {
        Self::open(self)
    }

    #[inline]
    fn capacity(&self) -> u32 {
        Self::room(self)
    }

    #[inline]
    fn begin(
        &mut self,
        now: Time,
        begin: &CallStart<'_>,
        input: &mut Input<'_>,
        ticket: Ticket,
    ) -> Result<CallId, RequestError> {
        let mut call = match begin.kind {
            RequestKind::Subscribe => return self.subscribe(begin.name, begin.metadata, ticket),
            RequestKind::Publish => {
                self.publish(now, begin.name, begin.metadata, begin.deadline.time())?
            }
            _ => self.call(now, &begin.request())?,
        };
        if input.len() >= Output::LARGE
            && let Input::Owned(own) = input
        {
            let large = Bytes::from(std::mem::take(*own));
            call.share(large.clone());
            let sent = call.send(ticket);
            if sent.is_err() {
                // The only reference, so this does not copy.
                **own = large.into();
            }
            return sent;
        }
        call.payload().extend_from_slice(input);
        call.send(ticket)
    }

    fn notify(
        &mut self,
        now: Time,
        begin: &CallStart<'_>,
        payload: &[u8],
    ) -> Result<(), RequestError> {
        let mut message = self.one_way(now, &begin.request())?;
        message.payload().extend_from_slice(payload);
        Ok(message.send()?)
    }

    fn unsent(&self) -> usize {
        self.output().len()
    }

    fn cancel(&mut self, _: Time, id: CallId) {
        Self::cancel(self, id);
    }

    fn go_away(&mut self) {
        Self::go_away(self);
    }

    fn next_timeout(&self) -> Time {
        Self::next_timeout(self)
    }

    fn timeout(&mut self, now: Time, expired: impl FnMut(CallId, Ticket)) {
        Self::timeout(self, now, expired);
    }

    fn lose(&mut self) -> Vec<LostCall<Ticket>> {
        self.close(None).collect()
    }
}
