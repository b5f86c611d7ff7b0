//! The server's side of a connection.

mod receive;

use std::marker::PhantomData;

use super::credit::Stream;
use super::{CallCounts, OutgoingFrame, Phase};
use crate::wire::FrameReader;
use crate::{CallId, FaultCode, Flags, Header, Kind, Reason, Settings, Time};

/// A server's connection. `O` is what a name of an operation stands for, `T` what is stored with a call while it is
/// open.
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
/// let resolve = |name: &str| (name == "Add").then_some(7);
/// let (mut at, mut buffer, now) = (0, Vec::new(), Time::ZERO);
/// while let Step::Consumed(bytes, event) = connection.receive(now, &request[at..], &mut buffer, resolve)? {
///     at += bytes;
///     if let Some(Event::Call { id, operation: 7, payload: [0x82, a, b], .. }) = event {
///         let mut answer = connection.reply(now, id).unwrap();
///         answer.payload().push(a + b);
///         answer.send()?;
///     }
/// }
/// let sent: Vec<_> = connection.output().parts().flatten().copied().collect();
/// assert!(sent.ends_with(&[1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Connection<O, T> = super::Connection<Server<O, T>>;

/// What a client has sent.
pub type Event<'a, O, T> = super::Event<'a, O, T>;

/// The result of reading from the front of what a client has sent.
pub type Step<'a, O, T> = super::Step<'a, O, T>;

/// An answer or an item that is being written.
pub type Answer<'a, O, T> = OutgoingFrame<'a, Server<O, T>>;

/// The server's role, with what only servers know of a connection.
#[derive(Debug)]
pub struct Server<O, T> {
    /// By number; the first is 1.
    names: Vec<Option<Name<O>>>,
    /// The time of the last ping; [`Time::NEVER`] before the first.
    pinged: Time,
    early_pings: u32,
    input_ended: bool,
    /// Calls whose items have no credit since the input has ended.
    stuck: Vec<CallId>,
    counts: CallCounts,
    context: PhantomData<T>,
}

#[derive(Debug)]
struct Name<O> {
    name: Box<str>,
    operation: Option<O>,
}

/// Why a call failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fault {
    /// The code.
    pub code: FaultCode,
    /// Milliseconds to wait before another attempt; 0 if unknown.
    pub retry_after: u32,
    /// Whether no part of the call was executed.
    pub unstarted: bool,
}

impl Fault {
    /// A fault of a call that may have been executed in part.
    #[must_use]
    pub const fn new(code: FaultCode) -> Self {
        Self {
            code,
            retry_after: 0,
            unstarted: false,
        }
    }

    /// A fault of a call of which no part was executed.
    #[must_use]
    pub const fn unstarted(code: FaultCode) -> Self {
        Self {
            unstarted: true,
            ..Self::new(code)
        }
    }

    /// The header of a `FAULT`.
    #[must_use]
    pub const fn header(&self, id: CallId) -> Header {
        Header {
            flags: match self.unstarted {
                true => Flags::UNSTARTED,
                false => Flags::NONE,
            },
            code: self.code.0,
            value: self.retry_after,
            ..Header::new(Kind::FAULT, id.as_u32())
        }
    }
}

impl<O: Copy, T> Connection<O, T> {
    /// A new connection, whose output begins with the preface and `HELLO`.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let server = Server {
            names: Vec::new(),
            pinged: Time::NEVER,
            early_pings: 0,
            input_ended: false,
            stuck: Vec::new(),
            counts: CallCounts::default(),
            context: PhantomData,
        };
        Self::with_role(settings, FrameReader::of_client(&settings), server)
    }

    /// Counts of calls and their ends. The owner clears them.
    pub const fn counts(&mut self) -> &mut CallCounts {
        &mut self.role.counts
    }

    /// Stores `context` with an open call. It is returned if the call is cancelled or its deadline passes.
    ///
    /// # Errors
    ///
    /// Returns `context` if the call has ended.
    pub fn attach(&mut self, id: CallId, context: T) -> Result<(), T> {
        match self.calls.get_mut(id) {
            Some(call) => {
                call.context = Some(context);
                Ok(())
            }
            None => Err(context),
        }
    }

    /// Begins the answer to a call. `None` if the call has ended: it was cancelled, or its deadline has passed.
    #[inline]
    pub fn reply(&mut self, now: Time, id: CallId) -> Option<Answer<'_, O, T>> {
        let call = self.calls.get_mut(id)?;
        let took = now.since(call.start).as_micros();
        let header = Header {
            value: u32::try_from(took).unwrap_or(u32::MAX),
            ..Header::new(Kind::REPLY, id.into())
        };
        Some(self.frame(header, id))
    }

    /// Answers a call with a fault. Does nothing if the call has ended. Details that the client does not accept are
    /// left out.
    pub fn fault(&mut self, _: Time, id: CallId, fault: Fault, details: &[u8]) {
        if self.calls.get_mut(id).is_none() {
            return;
        }
        self.role.counts.fault(fault);
        let mut answer = self.frame(fault.header(id), id);
        answer.payload().extend_from_slice(details);
        if answer.send().is_err() {
            // Without details it is below the limit of any client.
            let _ = self.frame(fault.header(id), id).send();
        }
    }

    /// Accepts a subscription.
    pub fn accept(&mut self, id: CallId) {
        if self.calls.get_mut(id).is_some() {
            Header::new(Kind::ACCEPT, id.into()).append_to(&mut self.output.bytes);
        }
    }

    /// Begins an item of a call's stream or a message of a subscription, before which `missed` messages were left out.
    /// `None` if the call has ended, or if there is no credit: then [`Event::Writable`](super::Event::Writable)
    /// follows.
    pub fn item(&mut self, id: CallId, missed: u32) -> Option<Answer<'_, O, T>> {
        let (peer, own) = (&self.peer, &self.settings);
        let call = self.calls.get_mut(id)?;
        let stream = call
            .stream
            .get_or_insert_with(|| Stream::new(peer, own, false, false));
        let may = stream.credit.may_send() && self.items.may_send();
        if !may || self.phase == Phase::Closed {
            if self.role.input_ended && !self.role.stuck.contains(&id) {
                // There will be no more credit.
                self.role.stuck.push(id);
            }
            return None;
        }
        let header = Header {
            value: missed,
            ..Header::new(Kind::ITEM, id.into())
        };
        Some(self.frame(header, id))
    }

    /// Sets how many calls the client may have open from now on: at least 1, at most the setting.
    pub fn limit_calls(&mut self, calls: u32) {
        self.limit(1, calls.clamp(1, self.settings.calls()));
    }

    /// Sets the number of open bytes from which on the client may begin no call: at most the setting.
    pub fn limit_bytes(&mut self, bytes: u32) {
        self.limit(2, bytes.min(self.settings.bytes()));
    }

    fn limit(&mut self, code: u16, value: u32) {
        let credit = Header {
            code,
            value,
            ..Header::new(Kind::CREDIT, CallId::NONE)
        };
        credit.append_to(&mut self.output.bytes);
    }

    /// Announces that no more calls are taken. Later calls are answered with a fault, open calls are answered.
    /// `within`: the milliseconds after which the connection is closed in any case.
    pub fn go_away(&mut self, reason: Reason, within: u32, message: &str) {
        self.send_go_away(reason, within, message);
    }

    /// The time at which [`timeout`](Self::timeout) must be called: at or before the first deadline.
    #[inline]
    #[must_use]
    pub const fn next_timeout(&self) -> Time {
        match self.role.stuck.is_empty() {
            true => self.calls.earliest(),
            false => Time::ZERO,
        }
    }

    /// Answers the calls whose deadline has passed with a fault, and returns what was stored with them.
    pub fn timeout(&mut self, now: Time, mut expired: impl FnMut(CallId, Option<T>)) {
        let mut ids = Vec::new();
        self.calls.expired(now, &mut ids);
        self.end_calls(now, &ids, FaultCode::DEADLINE, &mut expired);
        let stuck = std::mem::take(&mut self.role.stuck);
        self.end_calls(now, &stuck, FaultCode::CANCELLED, &mut expired);
    }

    fn end_calls(
        &mut self,
        now: Time,
        ids: &[CallId],
        code: FaultCode,
        ended: &mut dyn FnMut(CallId, Option<T>),
    ) {
        for id in ids {
            let Some(call) = self.calls.get_mut(*id) else {
                continue;
            };
            let context = call.context.take();
            self.fault(now, *id, Fault::new(code), b"");
            ended(*id, context);
        }
    }

    /// Closes the connection, and returns what was stored with open calls.
    pub fn close(&mut self) -> impl Iterator<Item = T> {
        self.phase = Phase::Closed;
        self.bytes = 0;
        self.calls.drain().filter_map(|call| call.context)
    }
}
