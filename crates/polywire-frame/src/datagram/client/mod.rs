//! The client's side over datagrams.

mod draught;
mod receive;

use std::time::Duration;

use super::calls::{Calls, Due};
use super::flight::Flight;
use super::trip::{self, Trip};
use super::{Datagrams, LEAST_HELLO, MOST, STALE, TOKEN, USUAL};
use crate::client::Numbers;
use crate::header::header;
use crate::{CallId, Flags, Header, Kind, Settings, Time};

pub use crate::client::{Event, Lost, Operation, Refused, Request};
pub use draught::{Draught, Message};

/// How long a cancellation is sent again before its slot is free all the same.
const CANCELLING: Duration = Duration::from_secs(5);

/// A client's connection over datagrams: calls with a context of the caller's each, which comes back
/// with their end.
///
/// Only to and from the one address of the server. Datagrams of others, of an earlier connection, and
/// those that mean nothing are passed over.
///
/// ```
/// use std::collections::hash_map::RandomState;
/// use polywire_frame::client::{Event, Operation, Request};
/// use polywire_frame::datagram::{Client, Server, server};
/// use polywire_frame::{Settings, Time};
///
/// let now = Time::ZERO;
/// let mut client = Client::new(Settings::DEFAULT);
/// let mut server = Server::<u8, (), _>::new(Settings::DEFAULT, RandomState::new());
/// let address = "127.0.0.1:4000".parse()?;
///
/// // The handshake: one datagram there, one back.
/// client.begin(now, 0x1234_5678_9abc_def0);
/// let (_, hello) = client.output().iter().next().unwrap();
/// server.receive(now, address, hello, |_| Some(7));
/// client.output_mut().clear();
/// let (_, hello) = server.output().iter().next().unwrap();
/// assert_eq!(client.receive(now, hello), Some(Event::Hello));
/// server.output_mut().clear();
///
/// let mut call = client.call(now, &Request::new(Operation { number: 1, name: "Add" }))?;
/// call.payload().extend_from_slice(&[0x82, 2, 3]);
/// call.send("my context")?;
/// let (_, call) = client.output().iter().next().unwrap();
/// let event = server.receive(now, address, call, |_| Some(7));
/// let Some(server::Event::Call { call, operation: 7, .. }) = event else { panic!() };
/// let mut answer = server.reply(now, call).unwrap();
/// answer.payload().push(5);
/// answer.send()?;
///
/// let (_, answer) = server.output().iter().next().unwrap();
/// let Some(Event::Reply { context, payload, .. }) = client.receive(now, answer) else { panic!() };
/// assert_eq!((context, payload), ("my context", &[5][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Client<T> {
    /// Bytes of a datagram at most.
    most: usize,
    /// What this side takes.
    own: Settings,
    output: Datagrams,
    stage: Stage,
    /// Of this connection; 0 before there is one.
    token: u64,
    /// The server's.
    settings: Settings,
    calls: Calls<T>,
    /// Bytes of bodies in open calls.
    bytes: u64,
    most_calls: u32,
    most_bytes: u32,
    /// The numbers that the server knows the names of.
    named: Numbers,
    trip: Trip,
    flight: Flight,
    /// When something came last.
    heard: Time,
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    /// There is none, or it has ended.
    None,
    Greeting {
        /// What the answer must bear.
        nonce: u64,
        began: Time,
        /// When it was sent last, and how often it was.
        last: Time,
        times: u32,
        /// When the greeting is sent again, and how long after that the next time.
        again: Time,
        wait: Duration,
    },
    Open,
    /// The server takes no more calls.
    Ending,
}

impl<T> Client<T> {
    /// A client without a connection, with datagrams of up to [`USUAL`] bytes.
    ///
    /// `settings` are what this side takes: of them only `features` counts.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let initial = Settings::INITIAL;
        Self {
            most: USUAL,
            own: settings.for_datagrams(),
            output: Datagrams::default(),
            stage: Stage::None,
            token: 0,
            settings: initial,
            calls: Calls::new(),
            bytes: 0,
            most_calls: initial.calls(),
            most_bytes: initial.bytes(),
            named: Numbers::default(),
            trip: Trip::default(),
            flight: Flight::default(),
            heard: Time::ZERO,
        }
    }

    /// Sets the most bytes of a datagram, its 8 of token and 16 of header among them: from 256 to
    /// [`MOST`]. Beyond 1,400 networks may cut them in pieces, of which none must be lost.
    #[must_use]
    pub fn with_datagram(mut self, most: usize) -> Self {
        self.most = most.clamp(256, MOST);
        self
    }

    /// Begins a connection, or begins anew: no call can be made before [`Event::Hello`]. The calls that
    /// were open have ended, and nobody knows whether they were carried out.
    ///
    /// `nonce` is any number that nobody could foresee: who cannot read what is sent cannot answer
    /// in the server's place.
    pub fn begin(&mut self, now: Time, nonce: u64) -> Vec<Lost<T>> {
        let lost = self.lose();
        self.token = 0;
        self.settings = Settings::INITIAL;
        self.named = Numbers::default();
        let wait = self.trip.wait();
        self.stage = Stage::Greeting {
            nonce,
            began: now,
            last: now,
            times: 1,
            again: now.after(wait),
            wait,
        };
        self.hello(nonce, Flags::NONE);
        lost
    }

    /// Whether there is no connection that calls could be made on, so that it is time to
    /// [`begin`](Self::begin): there was none yet, the server does not know it any more, it has ended
    /// and all is answered, or nothing was heard for so long that the server may have forgotten this
    /// side.
    #[must_use]
    pub fn wants_to_begin(&self, now: Time) -> bool {
        let idle = self.calls.open() == 0;
        match self.stage {
            Stage::None => true,
            Stage::Greeting { .. } => false,
            Stage::Open => idle && now.since(self.heard) >= STALE,
            Stage::Ending => idle,
        }
    }

    /// Whether the server has answered the greeting, and takes calls.
    #[inline]
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// What is to be sent.
    #[inline]
    #[must_use]
    pub const fn output(&self) -> &Datagrams {
        &self.output
    }

    /// The same, to be cleared or exchanged.
    #[inline]
    pub const fn output_mut(&mut self) -> &mut Datagrams {
        &mut self.output
    }

    /// The server's settings, as far as they are known.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many calls are open, cancelled ones too.
    #[inline]
    #[must_use]
    pub const fn open(&self) -> u32 {
        self.calls.open()
    }

    /// How many more calls may be open. That is less than the server's limits say while the network loses much of
    /// what is sent.
    #[inline]
    #[must_use]
    pub fn room(&self) -> u32 {
        if self.stage != Stage::Open || self.bytes >= u64::from(self.most_bytes) {
            return 0;
        }
        let most = self.most_calls.saturating_sub(self.calls.open());
        most.min(self.flight.room(self.calls.in_flight()))
            .min(self.calls.free(self.settings.calls()))
    }

    /// Gives a call up: its context, unless it has ended. The server is told until it answers; so long
    /// the call stays open, but for no more than some seconds.
    pub fn cancel(&mut self, now: Time, id: CallId) -> Option<T> {
        let token = self.token;
        let (call, datagram) = self.calls.get_mut(id)?;
        let context = call.context.take()?;
        let until = call.deadline.min(now.after(CANCELLING));
        call.deadline = until;
        call.timed = false;
        call.times += 1;
        call.last = now;
        call.wait = self.trip.wait();
        call.again = now.after(call.wait);
        let again = call.again;
        let cancel = Header {
            flags: Flags::again(call.times - 1),
            ..header(Kind::CANCEL, id.into())
        };
        datagram.clear();
        datagram.extend_from_slice(&token.to_le_bytes());
        datagram.extend_from_slice(&cancel.bytes());
        self.output.push(datagram, ());
        self.calls.accept(id, false);
        self.calls.wants(until.min(again));
        Some(context)
    }

    /// Asks whether anybody is there; [`Event::Pong`] brings both numbers back, if nothing is lost.
    pub fn ping(&mut self, id: u32, value: u32) {
        if self.token != 0 {
            let ping = Header {
                value,
                ..header(Kind::PING, id)
            };
            self.bare(&ping);
        }
    }

    /// Says that this side will make no more calls: those that are open end. It may be lost, which only
    /// has the server remember longer.
    pub fn leave(&mut self) -> Vec<Lost<T>> {
        if self.token != 0 {
            self.bare(&header(Kind::GOAWAY, 0));
            self.token = 0;
        }
        self.stage = Stage::None;
        self.lose()
    }

    fn lose(&mut self) -> Vec<Lost<T>> {
        self.bytes = 0;
        let calls = self.calls.drain().into_iter();
        let lost = calls.filter_map(|call| {
            let context = call.context?;
            Some(Lost {
                context,
                sent: true,
            })
        });
        lost.collect()
    }

    fn bare(&mut self, header: &Header) {
        let start = self.output.begin(self.token);
        self.output.buffer.bytes.extend_from_slice(&header.bytes());
        self.output.end(start, ());
    }

    /// Sends the greeting, as long as its answer may be.
    fn hello(&mut self, nonce: u64, again: Flags) {
        let start = self.output.begin(0);
        self.own.write_datagram(
            &mut self.output.buffer,
            nonce,
            again,
            LEAST_HELLO.saturating_sub(TOKEN),
        );
        self.output.end(start, ());
    }

    /// When [`timeout`](Self::timeout) wants to be called.
    #[inline]
    #[must_use]
    pub fn next_timeout(&self) -> Time {
        match self.stage {
            Stage::Greeting { again, .. } => again.min(self.calls.earliest()),
            _ => self.calls.earliest(),
        }
    }

    /// Sends again what has no answer, and gives up the calls whose time is over: their contexts are
    /// handed over, and the server is told.
    pub fn timeout(&mut self, now: Time, mut expired: impl FnMut(CallId, T)) {
        if let Stage::Greeting {
            nonce,
            began,
            again,
            wait,
            times,
            ..
        } = self.stage
            && again <= now
        {
            let wait = (wait * 2).min(trip::MOST);
            self.trip.ran_out(wait);
            self.stage = Stage::Greeting {
                nonce,
                began,
                last: now,
                times: times + 1,
                again: now.after(wait),
                wait,
            };
            self.hello(nonce, Flags::again(times));
        }
        let wait = self.trip.wait();
        let silent = now.since(self.heard) > wait;
        let in_flight = self.calls.in_flight();
        let Self {
            calls,
            output,
            token,
            bytes,
            trip,
            flight,
            ..
        } = self;
        calls.due(now, |id, due| match due {
            Due::Again(call, datagram) => {
                if !flight.may_repeat(now, wait, silent) {
                    return false;
                }
                if !call.accepted {
                    trip.ran_out(call.next_wait());
                    // The first time it may be at work.
                    if call.times > 1 {
                        flight.lost(now, call.last, in_flight);
                    }
                }
                output.push(datagram, ());
                true
            }
            Due::Late(call) => {
                *bytes -= u64::from(call.bytes);
                if let Some(context) = call.context {
                    let start = output.begin(*token);
                    let header = header(Kind::CANCEL, id.into());
                    output.buffer.bytes.extend_from_slice(&header.bytes());
                    output.end(start, ());
                    expired(id, context);
                }
                true
            }
        });
    }
}
