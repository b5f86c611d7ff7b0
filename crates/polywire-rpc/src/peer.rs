//! The peer of a connection.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

#[cfg(feature = "tls")]
use crate::tls::TlsPeer;

/// The peer of a connection, as known by the transport.
///
/// Layers around HTTP requests find it in the extensions of the request. If a server is mounted in another one, the
/// other one puts it there. A [`Listener`](crate::server::Listener) returns it with each connection:
///
/// ```
/// use std::net::SocketAddr;
///
/// use polywire_rpc::server::{Credentials, Peer};
///
/// let remote = Peer::from(SocketAddr::from(([192, 0, 2, 1], 5000)));
/// assert!(!remote.is_local() && !remote.is_encrypted());
/// let credentials = Credentials { uid: 1000, gid: 1000, pid: None };
/// let process = Peer::unix(Some(credentials));
/// assert!(process.is_local());
/// ```
///
/// Cloning is cheap.
#[derive(Clone, Debug, Default)]
pub struct Peer(Kind);

#[derive(Clone, Debug, Default)]
enum Kind {
    #[default]
    Unknown,
    InProcess,
    /// A TCP connection without TLS, the most frequent kind. Needs no allocation.
    Address(SocketAddr),
    Details(Arc<PeerDetails>),
}

/// A peer with more than an address.
#[derive(Clone, Debug, Default)]
pub(crate) struct PeerDetails {
    pub(crate) address: Option<SocketAddr>,
    /// Whether the peer is a process on this machine.
    pub(crate) local: bool,
    pub(crate) credentials: Option<Credentials>,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<TlsPeer>,
    /// Whether the connection is encrypted by other means than `tls`, such as by the web server in front.
    pub(crate) encrypted: bool,
}

/// The credentials of the process at the other end of a Unix socket, at the time it connected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Credentials {
    /// The user id.
    pub uid: u32,
    /// The group id.
    pub gid: u32,
    /// The process id, on Linux and macOS.
    pub pid: Option<i32>,
}

impl From<SocketAddr> for Peer {
    fn from(address: SocketAddr) -> Self {
        Self(Kind::Address(address))
    }
}

impl Peer {
    pub(crate) fn new(details: PeerDetails) -> Self {
        Self(Kind::Details(Arc::new(details)))
    }

    /// A process on this machine, such as the peer of a Unix socket. Its connection counts as confidential: passwords and
    /// tokens are accepted without TLS.
    #[must_use]
    pub fn unix(credentials: Option<Credentials>) -> Self {
        Self::new(PeerDetails {
            local: true,
            credentials,
            ..PeerDetails::default()
        })
    }

    /// Sets the address.
    #[must_use]
    pub fn with_address(self, address: SocketAddr) -> Self {
        self.with(|details| details.address = Some(address))
    }

    /// Sets the TLS session. The connection counts as encrypted.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn with_tls(self, session: TlsPeer) -> Self {
        self.with(|details| details.tls = Some(session))
    }

    /// Sets whether the transport encrypts the connection by other means than TLS.
    #[must_use]
    pub fn with_encryption(self, encrypted: bool) -> Self {
        self.with(|details| details.encrypted = encrypted)
    }

    fn with(self, set: impl FnOnce(&mut PeerDetails)) -> Self {
        let mut details = match self.0 {
            Kind::Unknown => PeerDetails::default(),
            Kind::InProcess => PeerDetails {
                local: true,
                encrypted: true,
                ..PeerDetails::default()
            },
            Kind::Address(address) => PeerDetails {
                address: Some(address),
                ..PeerDetails::default()
            },
            Kind::Details(details) => Arc::unwrap_or_clone(details),
        };
        set(&mut details);
        Self::new(details)
    }

    /// A caller in the same process.
    pub(crate) fn in_process() -> Self {
        Self(Kind::InProcess)
    }

    /// Whether the peer is in the same process, at `inproc://`.
    #[must_use]
    pub const fn is_in_process(&self) -> bool {
        matches!(self.0, Kind::InProcess)
    }

    fn details(&self) -> Option<&PeerDetails> {
        match &self.0 {
            Kind::Details(details) => Some(details),
            _ => None,
        }
    }

    /// The address of a peer over TCP. Over SCGI, the address that the web server passes.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.0 {
            Kind::Unknown | Kind::InProcess => None,
            Kind::Address(address) => Some(*address),
            Kind::Details(details) => details.address,
        }
    }

    /// The credentials of a peer over a Unix socket.
    #[must_use]
    pub fn credentials(&self) -> Option<Credentials> {
        self.details()?.credentials
    }

    /// The TLS session of a peer over TLS, with its certificate if it has sent one.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(&self) -> Option<&TlsPeer> {
        self.details()?.tls.as_ref()
    }

    /// Whether the connection cannot be read on the way: TLS, in-process, or encrypted according to the web server in
    /// front or the listener.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        if self.is_in_process() {
            return true;
        }
        let Some(details) = self.details() else {
            return false;
        };
        #[cfg(feature = "tls")]
        if details.tls.is_some() {
            return true;
        }
        details.encrypted
    }

    pub(crate) fn is_unix(&self) -> bool {
        self.details().is_some_and(|details| details.local)
    }

    /// Whether the peer is on this machine: in this process, at a Unix socket, or at a loopback address.
    #[must_use]
    pub fn is_local(&self) -> bool {
        if self.is_unix() || self.is_in_process() {
            return true;
        }
        let loopback = |ip: IpAddr| ip.to_canonical().is_loopback();
        self.address().is_some_and(|address| loopback(address.ip()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_peers() {
        for (address, local) in [
            ("127.0.0.1:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("192.0.2.1:1", false),
            ("[fe80::1]:1", false),
        ] {
            let address: SocketAddr = address.parse().unwrap();
            let peer = Peer::from(address);
            assert_eq!(peer.is_local(), local, "{address}");
            assert_eq!(peer.address(), Some(address));
        }
        assert!(!Peer::default().is_local());
        let unix = Peer::unix(None);
        assert!(unix.is_local() && !unix.is_encrypted());
        let remote = Peer::default().with_encryption(true);
        assert!(remote.is_encrypted() && !remote.is_local());
    }
}
