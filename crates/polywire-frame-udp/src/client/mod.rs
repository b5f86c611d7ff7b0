//! The client's side over datagrams.

mod calls;
mod flight;
mod outgoing;
mod receive;
mod round_trip;

use std::time::Duration;

use polywire_frame::client::OperationNumbers;
use polywire_frame::{CallId, Flags, FrameReader, Header, Kind, Settings, Time};

use crate::datagrams::{without_deflate, write_hello};
use crate::{DEFAULT_DATAGRAM, Datagrams, LEAST_HELLO, MAX_DATAGRAM, STALE, TOKEN};
use calls::{Calls, Due};
use flight::FlightWindow;
use round_trip::RoundTrip;

pub use outgoing::{Message, OutgoingCall};
pub use polywire_frame::client::{Event, LostCall, Operation, Request, RequestError};

/// How long a cancellation is resent before its slot is freed without an answer.
const CANCELLING: Duration = Duration::from_secs(5);

/// A client's connection over datagrams. `T` is stored with each call, and returned when the call ends.
///
/// All datagrams are to and from the server's address. Datagrams of other senders, of earlier connections and with
/// invalid frames are ignored.
///
/// ```
/// use std::collections::hash_map::RandomState;
/// use polywire_frame::client::{Event, Operation, Request};
/// use polywire_frame::{Settings, Time};
/// use polywire_frame_udp::{Client, Server, server};
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
/// assert!(matches!(client.receive(now, hello), Some(Event::Hello(_))));
/// server.output_mut().clear();
///
/// let mut call = client.call(now, &Request::new(Operation { number: 1, name: "Add" }))?;
/// call.payload().extend_from_slice(&[0x82, 2, 3]);
/// call.send("my context")?;
/// let (_, call) = client.output().iter().next().unwrap();
/// let event = server.receive(now, address, call, |_| Some(7));
/// let Some(server::Event::Call { id, operation: 7, .. }) = event else { panic!() };
/// let mut answer = server.reply(now, id).unwrap();
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
    /// The limit of datagrams that this side sends, in bytes.
    most: usize,
    /// What this side accepts.
    own: Settings,
    reader: FrameReader,
    output: Datagrams,
    stage: Stage,
    /// The token of this connection; 0 before there is one.
    token: u64,
    /// What the server accepts.
    peer: Settings,
    calls: Calls<T>,
    /// Bytes of the bodies of open calls.
    bytes: u64,
    most_calls: u32,
    most_bytes: u32,
    known: OperationNumbers,
    round_trip: RoundTrip,
    flight: FlightWindow,
    /// When a datagram was received last.
    last_received: Time,
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    /// There is no connection.
    None,
    /// `HELLO` was sent and has no answer.
    Greeting {
        /// The number that the answer must contain.
        nonce: u64,
        began: Time,
        /// When it was sent last, and how often it was sent.
        last: Time,
        times: u32,
        /// When it is resent, and the wait after that.
        again: Time,
        wait: Duration,
    },
    Open,
    /// The server takes no more calls.
    Ending,
}

impl<T> Client<T> {
    /// A client without a connection. Its datagrams have up to [`DEFAULT_DATAGRAM`] bytes.
    ///
    /// Of the settings, only `features` matters to a server.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let initial = Settings::INITIAL;
        let own = without_deflate(settings);
        Self {
            most: DEFAULT_DATAGRAM,
            own,
            reader: FrameReader::of_server(&own).for_datagrams(),
            output: Datagrams::default(),
            stage: Stage::None,
            token: 0,
            peer: initial,
            calls: Calls::new(),
            bytes: 0,
            most_calls: initial.calls(),
            most_bytes: initial.bytes(),
            known: OperationNumbers::default(),
            round_trip: RoundTrip::default(),
            flight: FlightWindow::default(),
            last_received: Time::ZERO,
        }
    }

    /// Sets the limit of datagrams in bytes, with 8 bytes of token and 16 of header: 256 to [`MAX_DATAGRAM`]. Above 1,400
    /// bytes networks may fragment them, which makes losses more likely.
    #[must_use]
    pub fn with_datagram(mut self, most: usize) -> Self {
        self.most = most.clamp(256, MAX_DATAGRAM);
        self
    }

    /// Begins a new connection. Calls can be made after [`Event::Hello`]. Open calls of an earlier connection end, and are
    /// returned: they may have been executed.
    ///
    /// `nonce` must be unpredictable, so that only a peer that reads the datagrams can answer.
    pub fn begin(&mut self, now: Time, nonce: u64) -> Vec<LostCall<T>> {
        let lost = self.lose();
        self.token = 0;
        self.peer = Settings::INITIAL;
        self.known = OperationNumbers::default();
        let wait = self.round_trip.wait();
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

    /// Whether to [`begin`](Self::begin) a new connection: there is none, the server does not know it, it has ended and
    /// all calls are answered, or nothing was received for so long that the server may have forgotten it.
    #[must_use]
    pub fn wants_to_begin(&self, now: Time) -> bool {
        let idle = self.calls.open() == 0;
        match self.stage {
            Stage::None => true,
            Stage::Greeting { .. } => false,
            Stage::Open => idle && now.since(self.last_received) >= STALE,
            Stage::Ending => idle,
        }
    }

    /// Whether the connection is established, and the server takes calls.
    #[inline]
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// The datagrams to send.
    #[inline]
    #[must_use]
    pub const fn output(&self) -> &Datagrams {
        &self.output
    }

    /// The datagrams to send, to be cleared or exchanged.
    #[inline]
    pub const fn output_mut(&mut self) -> &mut Datagrams {
        &mut self.output
    }

    /// What the server accepts: the initial settings until [`Event::Hello`].
    pub const fn peer_settings(&self) -> &Settings {
        &self.peer
    }

    /// The number of open calls, with cancelled ones that the server has not answered.
    #[inline]
    #[must_use]
    pub const fn open(&self) -> u32 {
        self.calls.open()
    }

    /// The number of calls that may be opened now, by the server's limits and the losses of the network.
    #[inline]
    #[must_use]
    pub fn room(&self) -> u32 {
        if self.stage != Stage::Open || self.bytes >= u64::from(self.most_bytes) {
            return 0;
        }
        let most = self.most_calls.saturating_sub(self.calls.open());
        most.min(self.flight.room(self.calls.in_flight()))
            .min(self.calls.free(self.peer.calls()))
    }

    /// Cancels a call, and returns its context unless it has ended. The call remains open until the server has answered
    /// the cancellation, but at most 5 seconds.
    pub fn cancel(&mut self, now: Time, id: CallId) -> Option<T> {
        let token = self.token;
        let (call, datagram) = self.calls.get_mut(id)?;
        let context = call.context.take()?;
        let until = call.deadline.min(now.after(CANCELLING));
        call.deadline = until;
        call.timed = false;
        call.times += 1;
        call.last = now;
        call.wait = self.round_trip.wait();
        call.again = now.after(call.wait);
        let again = call.again;
        let cancel = Header {
            flags: Flags::again(call.times - 1),
            ..Header::new(Kind::CANCEL, id.into())
        };
        datagram.clear();
        datagram.extend_from_slice(&token.to_le_bytes());
        datagram.extend_from_slice(&cancel.bytes());
        self.output.push(datagram, ());
        self.calls.accept(id, false);
        self.calls.wake_at(until.min(again));
        Some(context)
    }

    /// Sends `PING`. [`Event::Pong`] returns both numbers, unless a datagram is lost.
    pub fn ping(&mut self, id: u32, value: u32) {
        if self.token != 0 {
            let ping = Header {
                value,
                ..Header::new(Kind::PING, id)
            };
            self.output.push_header(self.token, &ping, ());
        }
    }

    /// Ends the connection and returns all open calls. If the `GOAWAY` is lost, the server remembers the client longer.
    pub fn leave(&mut self) -> Vec<LostCall<T>> {
        if self.token != 0 {
            let go_away = Header::new(Kind::GOAWAY, 0);
            self.output.push_header(self.token, &go_away, ());
            self.token = 0;
        }
        self.stage = Stage::None;
        self.lose()
    }

    fn lose(&mut self) -> Vec<LostCall<T>> {
        self.bytes = 0;
        let calls = self.calls.drain().into_iter();
        let lost = calls.filter_map(|call| {
            let context = call.context?;
            Some(LostCall {
                context,
                sent: true,
            })
        });
        lost.collect()
    }

    /// Sends `HELLO`, padded to the length that the answer may have.
    fn hello(&mut self, nonce: u64, again: Flags) {
        let bytes = self.output.begin(0);
        let frame = bytes.len();
        write_hello(bytes, &self.own, nonce, again, LEAST_HELLO - TOKEN);
        self.output.end(frame, ());
    }

    /// The time at which [`timeout`](Self::timeout) must be called.
    #[inline]
    #[must_use]
    pub fn next_timeout(&self) -> Time {
        match self.stage {
            Stage::Greeting { again, .. } => again.min(self.calls.earliest()),
            _ => self.calls.earliest(),
        }
    }

    /// Resends what has no answer, cancels the calls whose deadline has passed, and returns their contexts.
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
            let wait = (wait * 2).min(round_trip::MOST);
            self.round_trip.ran_out(wait);
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
        let wait = self.round_trip.wait();
        let silent = now.since(self.last_received) > wait;
        let in_flight = self.calls.in_flight();
        let Self {
            calls,
            output,
            token,
            bytes,
            round_trip,
            flight,
            ..
        } = self;
        calls.due(now, |id, due| match due {
            Due::Resend(call, datagram) => {
                if !flight.may_repeat(now, wait, silent) {
                    return false;
                }
                if !call.accepted {
                    round_trip.ran_out(call.next_wait());
                    // The first time, the server may be carrying it out.
                    if call.times > 1 {
                        flight.lost(now, call.last, in_flight);
                    }
                }
                output.push(datagram, ());
                true
            }
            Due::Expired(call) => {
                *bytes -= u64::from(call.bytes);
                if let Some(context) = call.context {
                    let cancel = Header::new(Kind::CANCEL, id.into());
                    output.push_header(*token, &cancel, ());
                    expired(id, context);
                }
                true
            }
        });
    }
}
