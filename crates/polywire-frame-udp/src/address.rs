//! The addresses of clients.

use std::fmt::Debug;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The address of a client: IP address and port, and what else is needed to answer its datagrams.
///
/// ```
/// use std::net::SocketAddr;
/// use polywire_frame_udp::Address;
///
/// let host = |address: &str| address.parse::<SocketAddr>().unwrap().host();
/// assert_eq!(host("10.0.0.1:4000"), host("10.0.0.1:5000"));
/// assert_ne!(host("10.0.0.1:4000"), host("10.0.0.2:4000"));
/// // A host with one IPv6 address of a network has 2^64 of them.
/// assert_eq!(host("[2001:db8::1]:4000"), host("[2001:db8::2:1]:4000"));
/// assert_ne!(host("[2001:db8::1]:4000"), host("[2001:db8:0:1::1]:4000"));
/// assert_eq!(host("[::ffff:10.0.0.1]:4000"), host("10.0.0.1:4000"));
/// ```
pub trait Address: Copy + Debug + Eq + Hash {
    /// Addresses with the same host may belong to one client.
    type Host: Debug + Hash + Ord;

    /// The host of the address.
    fn host(&self) -> Self::Host;
}

impl Address for SocketAddr {
    type Host = IpAddr;

    fn host(&self) -> IpAddr {
        match self.ip().to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
            address @ IpAddr::V4(_) => address,
        }
    }
}
