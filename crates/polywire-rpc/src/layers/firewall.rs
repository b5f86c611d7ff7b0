//! Limits of connections and requests per address.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use polywire_frame::flow::Rate;

use super::table::{CallerTable, Entry};
use crate::call::admission::Rejection;
use crate::peer::Peer;

/// Limits connections in total and per address, and the rate of requests per address.
///
/// - A connection is counted when it is accepted, before anything is read. A connection over a limit is closed; over
///   HTTP and SCGI after a response with status 503 and `Retry-After`, over frames after `GOAWAY`, over TLS without a
///   message.
/// - A request over the rate is rejected before its body is read, with status 429 and `Retry-After` in the protocol of
///   the caller. Each call of a `system.multicall` counts as a request; a call over the rate has a fault (-32400) as
///   its result.
///
/// IPv6 addresses are counted by their 64-bit network, because a host usually has a whole network. Clients behind a
/// proxy have the address of the proxy. Clients at Unix sockets have no address: only the total limit applies to them.
///
/// Each address with connections or recent requests takes about 48 bytes, and [`Firewall::addresses`] limits their
/// number. If there are more, entries without a connection are removed, those with the lowest recent use first. A
/// removed address starts with a full burst, so that no address is locked out.
///
/// Clones share their counts, so one firewall can protect several servers.
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
#[must_use]
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

/// What an address is counted by.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Key {
    V4(u32),
    /// The 64-bit network.
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

/// Counts a connection until it is dropped.
pub(crate) struct ConnectionPermit {
    shared: Arc<Shared>,
    key: Option<Key>,
}

impl Default for Firewall {
    fn default() -> Self {
        Self::new()
    }
}

impl Firewall {
    /// A firewall without limits.
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

    /// Sets the maximum number of open connections. Further connections are rejected. With
    /// [`ServerBuilder::connections`](crate::ServerBuilder::connections) they wait instead.
    pub const fn connections(mut self, total: usize) -> Self {
        self.total = total;
        self
    }

    /// Sets the maximum number of open connections of one address.
    pub const fn connections_per_address(mut self, count: u32) -> Self {
        self.per_address = count;
        self
    }

    /// Sets the rate of requests of one address: `per_second` on average, and `burst` at once after a pause.
    pub fn requests_per_address(mut self, per_second: NonZeroU32, burst: NonZeroU32) -> Self {
        self.rate = Some(Rate::new(per_second.get().into(), burst.get()));
        self
    }

    /// Sets the maximum number of addresses to remember. Default: 65,536, which take about 6 MiB.
    pub const fn addresses(mut self, addresses: usize) -> Self {
        self.addresses = addresses;
        self
    }

    /// Counts a connection.
    pub(crate) fn connect(&self, peer: &Peer) -> Result<ConnectionPermit, Rejection> {
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
        // Dropping it in the error case below takes the connection from the total count.
        let mut permit = ConnectionPermit {
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
            permit.key = Some(key);
        }
        Ok(permit)
    }

    /// Counts a request. A server calls this for requests over HTTP and calls over frames. A handler of WebSocket
    /// connections can call it for messages, on a separate firewall.
    ///
    /// # Errors
    ///
    /// The rate of [`Self::requests_per_address`] is exceeded: the time after which the request can be repeated.
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

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.shared.open.fetch_sub(1, Ordering::Relaxed);
        let Some(key) = self.key else { return };
        self.shared.addresses.disconnect(key);
    }
}

impl_debug!(|this| Firewall {
    total: this.total,
    per_address: this.per_address,
    rate: this.rate,
    open: this.shared.open
});

const _: () = assert!(size_of::<(Key, Entry)>() <= 32);

#[cfg(test)]
mod tests {
    use polywire_frame::Time;

    use super::*;

    fn peer(address: &str) -> Peer {
        Peer::from(std::net::SocketAddr::new(address.parse().unwrap(), 1))
    }

    /// A day after the start. Entries that are used at this time are not refilled during a test.
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
        // The same address as IPv4 and as an IPv4-mapped IPv6 address.
        for same in ["192.0.2.1", "::ffff:192.0.2.1"] {
            assert_eq!(
                open(same).err(),
                Some(Rejection::TooManyConnectionsFromAddress)
            );
        }
        // Two connections of one IPv6 network, which reach the limit of 4 connections.
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
        // A burst of three requests, then one request per 100 ms.
        let start = 1_000;
        assert_eq!([at(start), at(start), at(start)], [Ok(()); 3]);
        assert_eq!(at(start), Err(Duration::from_millis(100)));
        assert_eq!(at(start + 60), Err(Duration::from_millis(40)));
        assert_eq!(at(start + 100), Ok(()));
        assert_eq!(at(start + 100), Err(Duration::from_millis(100)));
        assert_eq!([at(start + 300), at(start + 300)], [Ok(()); 2]);
        assert!(at(start + 300).is_err());
        // Other addresses are not affected. After a pause, one burst is allowed.
        assert_eq!(request(Key::V4(2), 0), Ok(()));
        assert_eq!([at(90_000), at(90_000), at(90_000)], [Ok(()); 3]);
        assert!(at(90_000).is_err());
    }

    #[test]
    fn a_rate_limited_address_is_not_evicted_by_others() {
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
        let first = firewall.connect(&peer("192.0.2.1")).unwrap();
        for number in 0..100_000 {
            request(&firewall, Key::V6(number), FAR).unwrap();
        }
        let known = || firewall.shared.addresses.len();
        assert!(known() <= 1_600, "{}", known());
        // Addresses with connections are not removed.
        let more: Vec<_> = (0..4)
            .map(|_| firewall.connect(&peer("192.0.2.1")).unwrap())
            .collect();
        assert!(firewall.connect(&peer("192.0.2.1")).is_err());
        drop((first, more));
        // Addresses without recent use are removed for new ones.
        for number in 0..100_000 {
            request(&firewall, Key::V4(number), Time::ZERO).unwrap();
        }
        assert!(known() <= 1_600, "{}", known());
    }
}
