//! A socket that takes and gives many datagrams a system call, where the system can.

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

/// What one buffer takes: the longest datagram, or as many short ones of one sender as the system puts
/// together.
const BUFFER: usize = 1 << 16;

/// The most bytes of datagrams that the system is asked to cut itself.
const MOST_BYTES: usize = 65_000;

/// What the system is asked to keep of what has come and was not read. It takes it as a
/// wish: a burst that has no room is lost, and sent again.
const KEPT: usize = 4 << 20;

thread_local! {
    /// What the sockets of this thread read into, one after the other.
    static READ: ReadBuffer = const { Cell::new(Vec::new()) };
}

/// A socket of UDP.
#[derive(Debug)]
pub(crate) struct Socket {
    io: UdpSocket,
    state: UdpSocketState,
    /// Whom it is connected to.
    to: Option<SocketAddr>,
    /// Whether it listens on all addresses.
    on_all: bool,
}

/// Where a datagram comes from, and what it is answered to.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Sender {
    pub(crate) address: SocketAddr,
    /// The own address that it was sent to, where the system tells it. A socket that listens on all
    /// addresses has to answer from that one.
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

/// What has become of a look at a socket.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Received {
    /// There may be more.
    More,
    /// That was all for now.
    Dry,
}

impl Socket {
    /// A socket that does not block.
    pub(crate) fn new(socket: std::net::UdpSocket) -> io::Result<Self> {
        let state = UdpSocketState::new((&socket).into())?;
        let options = SockRef::from(&socket);
        // Whatever the system allows.
        let _ = options.set_recv_buffer_size(KEPT);
        let _ = options.set_send_buffer_size(KEPT);
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

    /// Whom it is connected to, if to anybody.
    pub(crate) const fn peer(&self) -> Option<SocketAddr> {
        self.to
    }

    /// Reads once, and has `take` look at each datagram.
    ///
    /// # Errors
    ///
    /// The system has none, and says why: that nobody listens at the other end, such as.
    pub(crate) fn poll_receive(
        &self,
        context: &mut Context<'_>,
        take: &mut dyn FnMut(Sender, &[u8]),
    ) -> Poll<io::Result<Received>> {
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
                return Poll::Ready(Ok(if full { Received::More } else { Received::Dry }));
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
                // Elsewhere a connected socket wants no address.
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

    fn most_together(&self) -> usize {
        match self.to.is_some() && !cfg!(target_os = "linux") {
            true => 1,
            false => self.state.max_gso_segments(),
        }
    }
}

/// What is being sent.
#[derive(Debug)]
pub(crate) struct Sending<A> {
    datagrams: Datagrams<A>,
    /// How many of them have been sent.
    sent: usize,
}

impl<A> Default for Sending<A> {
    fn default() -> Self {
        Self {
            datagrams: Datagrams::default(),
            sent: 0,
        }
    }
}

/// Room that is kept for the next.
const MOST_KEPT: usize = 256 << 10;

impl<A: Copy + PartialEq> Sending<A> {
    /// Whether all has been sent.
    pub(crate) const fn is_empty(&self) -> bool {
        self.sent == self.datagrams.len()
    }

    /// Exchanges what was sent for what is to be. Only when all has been sent.
    pub(crate) fn exchange(&mut self, exchange: impl FnOnce(Datagrams<A>) -> Datagrams<A>) {
        let mut used = std::mem::take(&mut self.datagrams);
        let large = used.bytes() > MOST_KEPT;
        used.clear();
        if large {
            used.shrink_to(MOST_KEPT);
        }
        self.datagrams = exchange(used);
        self.sent = 0;
    }

    /// Sends until all is sent. `address` says where a datagram goes, and `failed` is told of what cannot
    /// be sent: it is lost, as others are.
    pub(crate) fn poll(
        &mut self,
        socket: &Socket,
        context: &mut Context<'_>,
        address: impl Fn(A) -> Sender,
        failed: &mut dyn FnMut(io::Error),
    ) -> Poll<()> {
        while !self.is_empty() {
            let most = socket.most_together();
            let Some(run) = self.datagrams.runs(self.sent, most, MOST_BYTES).next() else {
                break;
            };
            let sent = socket.poll_send(context, address(run.to), run.bytes, run.size);
            if let Err(error) = ready!(sent) {
                if run.count > 1 && socket.most_together() < most {
                    // It cannot send them together after all.
                    continue;
                }
                failed(error);
            }
            self.sent += run.count;
        }
        Poll::Ready(())
    }
}
