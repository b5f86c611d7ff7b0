//! The other end of a connection.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

#[cfg(feature = "tls")]
use crate::tls::TlsPeer;

/// The other end of a connection, as far as the transport knows it.
///
/// Layers around HTTP requests find it in the extensions of the request. If a server is mounted in another one, the
/// other one puts it there. A [`Listener`](super::Listener) returns it with each connection:
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
    /// TCP and nothing else: by far the most, and no allocation.
    Address(SocketAddr),
    Known(Arc<Known>),
}

/// A peer of which more than the address is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) address: Option<SocketAddr>,
    /// Whether the peer is a process on this machine.
    pub(super) local: bool,
    pub(super) credentials: Option<Credentials>,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<TlsPeer>,
    /// Whether the connection is encrypted by other means than `tls`, as a web server may say of its own.
    pub(super) encrypted: bool,
}

/// The process at the other end of a Unix socket, as the system knows it at the
/// moment of its connecting.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Credentials {
    /// The user that it runs as.
    pub uid: u32,
    /// The group that it runs as.
    pub gid: u32,
    /// The process, where the system tells it: Linux and macOS do.
    pub pid: Option<i32>,
}

impl From<SocketAddr> for Peer {
    fn from(address: SocketAddr) -> Self {
        Self(Kind::Address(address))
    }
}

impl Peer {
    pub(super) fn known(known: Known) -> Self {
        Self(Kind::Known(Arc::new(known)))
    }

    /// A process on this machine, such as the peer of a Unix socket. Its connection counts as confidential: passwords and
    /// tokens are accepted without TLS.
    #[must_use]
    pub fn unix(credentials: Option<Credentials>) -> Self {
        Self::known(Known {
            local: true,
            credentials,
            ..Known::default()
        })
    }

    /// Sets the address.
    #[must_use]
    pub fn with_address(self, address: SocketAddr) -> Self {
        self.with(|known| known.address = Some(address))
    }

    /// Sets the TLS session. The connection counts as encrypted.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn with_tls(self, session: TlsPeer) -> Self {
        self.with(|known| known.tls = Some(session))
    }

    /// Sets whether the transport encrypts the connection by other means than TLS.
    #[must_use]
    pub fn with_encryption(self, encrypted: bool) -> Self {
        self.with(|known| known.encrypted = encrypted)
    }

    fn with(self, set: impl FnOnce(&mut Known)) -> Self {
        let mut known = match self.0 {
            Kind::Unknown => Known::default(),
            Kind::InProcess => Known {
                local: true,
                encrypted: true,
                ..Known::default()
            },
            Kind::Address(address) => Known {
                address: Some(address),
                ..Known::default()
            },
            Kind::Known(known) => Arc::unwrap_or_clone(known),
        };
        set(&mut known);
        Self::known(known)
    }

    /// A caller in the same process.
    pub(super) fn in_process() -> Self {
        Self(Kind::InProcess)
    }

    /// Whether it is in the same process, at `inproc://`.
    #[must_use]
    pub const fn is_in_process(&self) -> bool {
        matches!(self.0, Kind::InProcess)
    }

    fn more(&self) -> Option<&Known> {
        match &self.0 {
            Kind::Known(known) => Some(known),
            _ => None,
        }
    }

    /// The address of a peer over TCP; of a peer over SCGI, the address that the
    /// web server tells.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.0 {
            Kind::Unknown | Kind::InProcess => None,
            Kind::Address(address) => Some(*address),
            Kind::Known(known) => known.address,
        }
    }

    /// The process of a peer over a Unix socket.
    #[must_use]
    pub fn credentials(&self) -> Option<Credentials> {
        self.more()?.credentials
    }

    /// What a peer over TLS has shown of itself.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(&self) -> Option<&TlsPeer> {
        self.more()?.tls.as_ref()
    }

    /// Whether nobody on the way can read what is said: over TLS, within a process, or a web
    /// server that speaks SCGI says that it was.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        if self.is_in_process() {
            return true;
        }
        let Some(known) = self.more() else {
            return false;
        };
        #[cfg(feature = "tls")]
        if known.tls.is_some() {
            return true;
        }
        known.encrypted
    }

    pub(super) fn is_unix(&self) -> bool {
        self.more().is_some_and(|known| known.local)
    }

    /// Whether it is on this machine: in this process, at a Unix socket, or a loopback address.
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
