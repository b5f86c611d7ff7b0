//! Limits per address.

use std::fmt;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use polywire_frame::flow::Rate;

use super::table::{CallerTable, Entry};
use crate::call::admission::Rejection;
use crate::server::Peer;

/// Limits of connections and requests, in all and per address.
///
/// - Connections are counted when they are accepted, before anything is read. A rejected one gets `503` with `Retry-After`
///   over HTTP and SCGI, GOAWAY over frames, and is closed over TLS.
/// - Requests per address have a rate and a burst. A rejected one gets `429` with `Retry-After`, in the protocol of the
///   caller, before its body is read. Each call of a `system.multicall` counts as a request; a rejected one has a fault
///   (-32400) as its result.
///
/// The addresses of an IPv6 network of 64 bits count as one. Callers behind a proxy have the address of the proxy. Peers at
/// Unix sockets have no address: for them only the number of all connections is limited.
///
/// About 48 bytes are stored per address, for at most [`Firewall::addresses`]. If there are more, entries without a
/// connection are removed, those with the lowest recent use first. A removed address starts with its full allowance.
///
/// Clones share their counts, so that several servers can share a firewall.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use polywire_rpc::layers::Firewall;
///
/// let ten = NonZeroU32::new(10).unwrap();
/// let firewall = Firewall::new()
///     .connections(5_000)
///     .connections_per_address(100)
///     .requests_per_address(ten, ten.saturating_mul(ten));
/// # let _ = firewall;
/// ```
#[derive(Clone)]
pub struct Firewall {
    total: usize,
    per_address: u32,
    rate: Option<Rate>,
    addresses: usize,
    shared: Arc<Shared>,
}

struct Shared {
    open: AtomicUsize,
    addresses: CallerTable<Key>,
}

/// An address as it counts.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Key {
    V4(u32),
    /// The network.
    V6(u64),
}

impl Key {
    fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.to_bits()),
            IpAddr::V6(address) => Self::V6((address.to_bits() >> 64) as u64),
        }
    }
}

/// A connection that counts until this is dropped.
pub(crate) struct Connected {
    shared: Arc<Shared>,
    key: Option<Key>,
}

impl Default for Firewall {
    fn default() -> Self {
        Self::new()
    }
}

impl Firewall {
    /// One that lets everybody through.
    #[must_use]
    pub fn new() -> Self {
        Self {
            total: usize::MAX,
            per_address: u32::MAX,
            rate: None,
            addresses: 65_536,
            shared: Arc::new(Shared {
                open: AtomicUsize::new(0),
                addresses: CallerTable::new(),
            }),
        }
    }

    /// Sets how many connections may be open at once, in all. Unlike
    /// [`ServerBuilder::connections`](crate::ServerBuilder::connections), which lets
    /// more of them wait, this turns them away.
    #[must_use]
    pub const fn connections(mut self, total: usize) -> Self {
        self.total = total;
        self
    }

    /// Sets how many connections may be open at once from one address.
    #[must_use]
    pub const fn connections_per_address(mut self, count: u32) -> Self {
        self.per_address = count;
        self
    }

    /// Sets how many requests may come a second from one address, and how many at
    /// once after a pause.
    #[must_use]
    pub fn requests_per_address(mut self, per_second: NonZeroU32, burst: NonZeroU32) -> Self {
        self.rate = Some(Rate::new(per_second.get().into(), burst.get()));
        self
    }

    /// Sets how many addresses are remembered at most. 65,536, which take some 6 MiB.
    #[must_use]
    pub const fn addresses(mut self, addresses: usize) -> Self {
        self.addresses = addresses;
        self
    }

    /// Counts a connection.
    pub(crate) fn connect(&self, peer: &Peer) -> Result<Connected, Rejection> {
        let key = self
            .counts_connections()
            .then(|| peer.address().map(|address| Key::of(address.ip())))
            .flatten();
        let more = |open: usize| (open < self.total).then_some(open + 1);
        let open = &self.shared.open;
        if open
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .is_err()
        {
            return Err(Rejection::TooManyConnections);
        }
        // From here on it is given back whatever happens.
        let mut connected = Connected {
            shared: Arc::clone(&self.shared),
            key: None,
        };
        if let Some(key) = key {
            let addresses = &self.shared.addresses;
            let is_admitted = addresses.update(key, self.addresses, |entry| {
                let is_admitted = entry.connections < self.per_address;
                entry.connections += u32::from(is_admitted);
                is_admitted
            });
            if !is_admitted {
                return Err(Rejection::TooManyConnectionsFromAddress);
            }
            connected.key = Some(key);
        }
        Ok(connected)
    }

    /// Counts a request, or tells after which time it may come again. A server calls this itself for
    /// requests over HTTP and for calls; a handler of WebSocket connections calls it for messages,
    /// on a firewall of its own.
    ///
    /// # Errors
    ///
    /// [`Self::requests_per_address`] allows no more at the moment.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    ///
    /// use polywire_rpc::layers::Firewall;
    /// use polywire_rpc::websocket::WebSocket;
    ///
    /// let one = NonZeroU32::MIN;
    /// let messages = Firewall::new().requests_per_address(one, one.saturating_add(9));
    /// let handler = async move |mut socket: WebSocket| {
    ///     while let Some(Ok(message)) = socket.recv().await {
    ///         let answer = match messages.request(socket.peer()) {
    ///             Ok(()) => message,
    ///             Err(time) => format!("again in {time:?}").into(),
    ///         };
    ///         let _ = socket.send(answer).await;
    ///     }
    /// };
    /// # let _ = handler;
    /// ```
    pub fn request(&self, peer: &Peer) -> Result<(), Duration> {
        let (Some(rate), Some(address)) = (self.rate, peer.address()) else {
            return Ok(());
        };
        let key = Key::of(address.ip());
        self.shared.addresses.request(key, &rate, self.addresses)
    }

    const fn counts_connections(&self) -> bool {
        self.per_address < u32::MAX
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.shared.open.fetch_sub(1, Ordering::Relaxed);
        let Some(key) = self.key else { return };
        self.shared.addresses.disconnect(key);
    }
}

impl fmt::Debug for Firewall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Firewall")
            .field("total", &self.total)
            .field("per_address", &self.per_address)
            .field("rate", &self.rate)
            .field("open", &self.shared.open)
            .finish_non_exhaustive()
    }
}

const _: () = assert!(size_of::<(Key, Entry)>() <= 32);

#[cfg(test)]
mod tests {
    use polywire_frame::Time;

    use super::*;

    fn peer(address: &str) -> Peer {
        Peer::from(std::net::SocketAddr::new(address.parse().unwrap(), 1))
    }

    /// A day after the start: no entry of the test has been refilled by then.
    const FAR: Time = Time::from_nanos(86_400_000_000_000);

    fn request(firewall: &Firewall, key: Key, now: Time) -> Result<(), Duration> {
        let addresses = &firewall.shared.addresses;
        addresses.request_at(key, &firewall.rate.unwrap(), firewall.addresses, now)
    }

    fn number(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).unwrap()
    }

    #[test]
    fn connections() {
        let firewall = Firewall::new().connections(4).connections_per_address(2);
        let open = |address| firewall.connect(&peer(address));
        let first = [open("192.0.2.1").unwrap(), open("192.0.2.1").unwrap()];
        // The same address, written for IPv6.
        for same in ["192.0.2.1", "::ffff:192.0.2.1"] {
            assert_eq!(
                open(same).err(),
                Some(Rejection::TooManyConnectionsFromAddress)
            );
        }
        // Two of a network, and one of another.
        let network = [open("2001:db8::1").unwrap(), open("2001:db8::2:2").unwrap()];
        assert_eq!(
            open("2001:db8::3").err(),
            Some(Rejection::TooManyConnections)
        );
        drop(first);
        assert_eq!(
            open("2001:db8::3").err(),
            Some(Rejection::TooManyConnectionsFromAddress)
        );
        let other = open("2001:db8:0:1::1").unwrap();
        let unix = firewall.connect(&Peer::default()).unwrap();
        assert_eq!(open("192.0.2.1").err(), Some(Rejection::TooManyConnections));
        drop((network, other, unix));
        assert_eq!(firewall.shared.open.load(Ordering::Relaxed), 0);
        assert_eq!(firewall.shared.addresses.len(), 0);
    }

    #[test]
    fn rates() {
        let firewall = Firewall::new().requests_per_address(number(10), number(3));
        let rate = firewall.rate.unwrap();
        let key = Key::V4(1);
        let request = |key, millis: u64| {
            let now = Time::ZERO.after(Duration::from_millis(millis));
            let addresses = &firewall.shared.addresses;
            addresses.request_at(key, &rate, firewall.addresses, now)
        };
        let at = |millis: u64| request(key, millis);
        // A burst, then one each tenth of a second.
        let start = 1_000;
        assert_eq!([at(start), at(start), at(start)], [Ok(()); 3]);
        assert_eq!(at(start), Err(Duration::from_millis(100)));
        assert_eq!(at(start + 60), Err(Duration::from_millis(40)));
        assert_eq!(at(start + 100), Ok(()));
        assert_eq!(at(start + 100), Err(Duration::from_millis(100)));
        assert_eq!([at(start + 300), at(start + 300)], [Ok(()); 2]);
        assert!(at(start + 300).is_err());
        // Others are not held up, and after a pause it is no more than a burst.
        assert_eq!(request(Key::V4(2), 0), Ok(()));
        assert_eq!([at(90_000), at(90_000), at(90_000)], [Ok(()); 3]);
        assert!(at(90_000).is_err());
    }

    #[test]
    fn an_address_that_asks_too_often_is_not_forgotten_for_others() {
        let firewall = Firewall::new()
            .requests_per_address(number(1), number(3))
            .addresses(1_600);
        let ask = |number| request(&firewall, Key::V6(number), FAR);
        assert_eq!([ask(0), ask(0), ask(0)], [Ok(()); 3]);
        for number in 1..100_000 {
            ask(number).unwrap();
        }
        assert_eq!(ask(0), Err(Duration::from_secs(1)));
    }

    #[test]
    fn memory_is_bounded() {
        let firewall = Firewall::new()
            .connections_per_address(5)
            .requests_per_address(number(1), number(1))
            .addresses(1_600);
        let kept = firewall.connect(&peer("192.0.2.1")).unwrap();
        for number in 0..100_000 {
            request(&firewall, Key::V6(number), FAR).unwrap();
        }
        let known = || firewall.shared.addresses.len();
        assert!(known() <= 1_600, "{}", known());
        // Who is connected is not forgotten.
        let more: Vec<_> = (0..4)
            .map(|_| firewall.connect(&peer("192.0.2.1")).unwrap())
            .collect();
        assert!(firewall.connect(&peer("192.0.2.1")).is_err());
        drop((kept, more));
        // What is over is forgotten when others come.
        for number in 0..100_000 {
            request(&firewall, Key::V4(number), Time::ZERO).unwrap();
        }
        assert!(known() <= 1_600, "{}", known());
    }
}
