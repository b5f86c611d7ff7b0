//! What speaks for a client's calls: over a stream, or over datagrams.

use std::ops::Deref;

use bytes::Bytes;
use polywire_frame::client::{Connection, LostCall, Operation, Request, RequestError};
use polywire_frame::{CallId, Output, Time, Trace};

use super::request::RequestKind;
use super::tickets::Ticket;
use crate::call::FrameDeadline;

/// The state machine of a connection, as calls need it.
pub(super) trait Machine {
    /// How many calls are open.
    fn open(&self) -> u32;

    /// How many more may be.
    fn room(&self) -> u32;

    /// Begins a call. If it cannot begin, its input is as it was.
    fn begin(
        &mut self,
        now: Time,
        begin: &Begin<'_>,
        input: &mut Input<'_>,
        ticket: Ticket,
    ) -> Result<CallId, RequestError>;

    /// Makes a call that nobody answers.
    fn notify(&mut self, now: Time, begin: &Begin<'_>, payload: &[u8]) -> Result<(), RequestError>;

    /// Bytes that are to be sent.
    fn unsent(&self) -> usize;

    /// Nobody waits for a call any more.
    fn cancel(&mut self, now: Time, id: CallId);

    /// No more calls will be made.
    fn go_away(&mut self);

    /// When [`Self::timeout`] wants to be called.
    fn next_timeout(&self) -> Time;

    /// Gives up the calls whose time is over.
    fn timeout(&mut self, now: Time, expired: impl FnMut(CallId, Ticket));

    /// The connection has ended, and so have its calls.
    fn lose(&mut self) -> Vec<LostCall<Ticket>>;
}

/// A call, a subscription or a publication that is to be begun.
pub(super) struct Begin<'a> {
    pub(super) what: RequestKind,
    /// The operation's name, or the topic.
    pub(super) name: &'a str,
    /// Of the operation.
    pub(super) number: u16,
    pub(super) deadline: FrameDeadline,
    pub(super) metadata: &'a [(&'a str, &'a [u8])],
    pub(super) trace: Option<Trace>,
}

/// The input of a call that is to be begun.
pub(super) enum Input<'a> {
    Lent(&'a [u8]),
    /// If it is large it is taken when the call has begun, and not copied.
    Own(&'a mut Vec<u8>),
}

impl Deref for Input<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Lent(bytes) => bytes,
            Self::Own(bytes) => bytes,
        }
    }
}

impl Input<'_> {
    /// Puts it where it waits, instead of what is there.
    pub(super) fn wait(&mut self, room: &mut Vec<u8>) {
        match self {
            Self::Own(own) if own.len() >= Output::LARGE => std::mem::swap(*own, room),
            input => {
                room.clear();
                room.extend_from_slice(input);
            }
        }
    }
}

impl<'a> Begin<'a> {
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
        match self.what {
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
    fn room(&self) -> u32 {
        Self::room(self)
    }

    #[inline]
    fn begin(
        &mut self,
        now: Time,
        begin: &Begin<'_>,
        input: &mut Input<'_>,
        ticket: Ticket,
    ) -> Result<CallId, RequestError> {
        let mut call = match begin.what {
            RequestKind::Subscribe => return self.subscribe(begin.name, begin.metadata, ticket),
            RequestKind::Publish => {
                self.publish(now, begin.name, begin.metadata, begin.deadline.time())?
            }
            _ => self.call(now, &begin.request())?,
        };
        if input.len() >= Output::LARGE
            && let Input::Own(own) = input
        {
            let large = Bytes::from(std::mem::take(*own));
            call.share(large.clone());
            let sent = call.send(ticket);
            if sent.is_err() {
                // Nobody else has it any more, so that it is not copied.
                **own = large.into();
            }
            return sent;
        }
        call.payload().extend_from_slice(input);
        call.send(ticket)
    }

    fn notify(&mut self, now: Time, begin: &Begin<'_>, payload: &[u8]) -> Result<(), RequestError> {
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
