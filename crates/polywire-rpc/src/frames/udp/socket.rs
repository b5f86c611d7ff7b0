//! A UDP socket that sends and receives several datagrams per system call, where the system supports it.

use std::cell::Cell;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::task::{Context, Poll, ready};

use polywire_frame_udp::{Address, Datagrams};
use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSocketState};
use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::UdpSocket;

use crate::frames::read_buffer::{ReadBuffer, with_buffer};

/// The size of a receive buffer: the longest datagram, or a batch of short ones from one sender (GRO).
const BUFFER: usize = 1 << 16;

/// The maximum length of a batch that the system splits into datagrams (GSO), in bytes.
const MOST_BYTES: usize = 65_000;

/// The requested size of the socket buffers. The system may choose a smaller one. Datagrams that do not fit are lost and
/// resent.
const SOCKET_BUFFER: usize = 4 << 20;

thread_local! {
    /// The receive buffers that the sockets of this thread share.
    static READ: ReadBuffer = const { Cell::new(Vec::new()) };
}

/// A UDP socket.
#[derive(Debug)]
pub(crate) struct Socket {
    io: UdpSocket,
    state: UdpSocketState,
    /// The address that it is connected to.
    to: Option<SocketAddr>,
    /// Whether it listens on all addresses.
    on_all: bool,
}

/// The source of a datagram, and the destination of its answer.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Sender {
    pub(crate) address: SocketAddr,
    /// The local address that the datagram was sent to, if known. A socket that listens on all addresses must answer from
    /// it.
    own: Option<IpAddr>,
}

impl Address for Sender {
    type Host = IpAddr;

    fn host(&self) -> IpAddr {
        self.address.host()
    }
}

impl From<SocketAddr> for Sender {
    fn from(address: SocketAddr) -> Self {
        Self { address, own: None }
    }
}

/// The result of a read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ReadStatus {
    /// There may be more datagrams.
    More,
    /// There are no more datagrams for now.
    Empty,
}

impl Socket {
    /// Takes over a non-blocking socket.
    pub(crate) fn new(socket: std::net::UdpSocket) -> io::Result<Self> {
        let state = UdpSocketState::new((&socket).into())?;
        let options = SockRef::from(&socket);
        // Optional: the system may refuse.
        let _ = options.set_recv_buffer_size(SOCKET_BUFFER);
        let _ = options.set_send_buffer_size(SOCKET_BUFFER);
        let to = socket.peer_addr().ok();
        let on_all = socket.local_addr()?.ip().is_unspecified();
        Ok(Self {
            io: UdpSocket::from_std(socket)?,
            state,
            to,
            on_all,
        })
    }

    pub(crate) fn local_address(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// The address that it is connected to. None for a server.
    pub(crate) const fn peer(&self) -> Option<SocketAddr> {
        self.to
    }

    /// Reads once, and passes each datagram to `take`.
    ///
    /// # Errors
    ///
    /// The read has failed, for example because no program listens at the peer.
    pub(crate) fn poll_receive(
        &self,
        context: &mut Context<'_>,
        take: &mut dyn FnMut(Sender, &[u8]),
    ) -> Poll<io::Result<ReadStatus>> {
        with_buffer(&READ, BATCH_SIZE * BUFFER, |read| {
            loop {
                ready!(self.io.poll_recv_ready(context))?;
                let mut metas = [RecvMeta::default(); BATCH_SIZE];
                let mut chunks = read.chunks_exact_mut(BUFFER);
                let mut buffers: [_; BATCH_SIZE] =
                    std::array::from_fn(|_| IoSliceMut::new(chunks.next().unwrap_or_default()));
                let received = self.io.try_io(Interest::READABLE, || {
                    self.state.recv((&self.io).into(), &mut buffers, &mut metas)
                });
                let count = match received {
                    Ok(count) => count,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                    Err(error) => return Poll::Ready(Err(error)),
                };
                for (buffer, meta) in buffers.iter().zip(&metas[..count]) {
                    let bytes = &buffer[..meta.len];
                    let sender = Sender {
                        address: meta.addr,
                        own: meta.dst_ip.filter(|_| self.on_all),
                    };
                    if meta.stride > 0 {
                        for datagram in bytes.chunks(meta.stride) {
                            take(sender, datagram);
                        }
                    }
                }
                let full = count == BATCH_SIZE;
                return Poll::Ready(Ok(if full {
                    ReadStatus::More
                } else {
                    ReadStatus::Empty
                }));
            }
        })
    }

    /// Sends a run of datagrams at once.
    fn poll_send(
        &self,
        context: &mut Context<'_>,
        to: Sender,
        bytes: &[u8],
        size: usize,
    ) -> Poll<io::Result<()>> {
        let several = bytes.len() > size;
        let transmit = Transmit {
            destination: to.address,
            ecn: None,
            contents: bytes,
            segment_size: several.then_some(size),
            src_ip: to.own,
        };
        loop {
            ready!(self.io.poll_send_ready(context))?;
            let sent = self.io.try_io(Interest::WRITABLE, || {
                // Other systems reject an address for a connected socket.
                if self.to.is_some() && !cfg!(target_os = "linux") && !several {
                    return SockRef::from(&self.io).send(bytes).map(|_| ());
                }
                self.state.try_send((&self.io).into(), &transmit)
            });
            match sent {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                sent => return Poll::Ready(sent),
            }
        }
    }

    fn max_batch(&self) -> usize {
        match self.to.is_some() && !cfg!(target_os = "linux") {
            true => 1,
            false => self.state.max_gso_segments(),
        }
    }
}

/// The datagrams that are being sent.
#[derive(Debug)]
pub(crate) struct SendQueue<A> {
    datagrams: Datagrams<A>,
    /// The number of sent datagrams.
    sent: usize,
}

impl<A> Default for SendQueue<A> {
    fn default() -> Self {
        Self {
            datagrams: Datagrams::default(),
            sent: 0,
        }
    }
}

/// A larger buffer is shrunk after use, in bytes.
const MAX_KEPT: usize = 256 << 10;

impl<A: Copy + PartialEq> SendQueue<A> {
    /// Whether all datagrams are sent.
    pub(crate) const fn is_empty(&self) -> bool {
        self.sent == self.datagrams.len()
    }

    /// Exchanges the sent datagrams, whose buffer is reused, for new ones. Call this only if [`Self::is_empty`].
    pub(crate) fn exchange(&mut self, exchange: impl FnOnce(Datagrams<A>) -> Datagrams<A>) {
        let mut used = std::mem::take(&mut self.datagrams);
        let large = used.bytes() > MAX_KEPT;
        used.clear();
        if large {
            used.shrink_to(MAX_KEPT);
        }
        self.datagrams = exchange(used);
        self.sent = 0;
    }

    /// Sends all datagrams. `address` returns the destination of a datagram. A datagram that cannot be sent is lost, and
    /// its error is passed to `failed`.
    pub(crate) fn poll(
        &mut self,
        socket: &Socket,
        context: &mut Context<'_>,
        address: impl Fn(A) -> Sender,
        failed: &mut dyn FnMut(io::Error),
    ) -> Poll<()> {
        while !self.is_empty() {
            let most = socket.max_batch();
            let Some(run) = self.datagrams.runs(self.sent, most, MOST_BYTES).next() else {
                break;
            };
            let sent = socket.poll_send(context, address(run.to), run.bytes, run.size);
            if let Err(error) = ready!(sent) {
                if run.count > 1 && socket.max_batch() < most {
                    // The system does not support batches after all.
                    continue;
                }
                failed(error);
            }
            self.sent += run.count;
        }
        Poll::Ready(())
    }
}
