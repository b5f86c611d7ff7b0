//! Messages on a stream of bytes: tungstenite's state machine, which does no waiting, over tokio's streams.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tungstenite::error::{CapacityError, Error, ProtocolError};
use tungstenite::protocol::{Role, WebSocketConfig, WebSocketContext};

use super::error::WebSocketError;
use super::limits::WebSocketLimits;
use super::message::{CloseFrame, Message, Utf8Bytes};

/// What is read at once. Each connection keeps as much.
const READ_BUFFER: usize = 8 << 10;

/// Bytes of messages that are written together.
const WRITE_BUFFER: usize = 64 << 10;

/// What has come.
#[derive(Debug)]
pub(super) enum Event {
    Message(Message),
    /// A pong to it is on its way.
    Ping,
    Pong,
    Close(CloseFrame),
}

/// Why nothing more comes or goes.
#[derive(Debug)]
pub(super) enum Stop {
    /// Both sides have closed.
    Closed,
    Failed(WebSocketError),
}

/// One side of a connection.
pub(super) struct Codec<S> {
    stream: S,
    context: WebSocketContext,
    /// Bytes that came, and bytes that the peer took.
    read: u64,
    written: u64,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Codec<S> {
    /// `begun`: what came behind the handshake already.
    pub(super) fn new(stream: S, begun: &Bytes, role: Role, limits: &WebSocketLimits) -> Self {
        Self::with_write_buffer(stream, begun, role, limits, WRITE_BUFFER)
    }

    /// For whoever writes pieces that are large already: they are written at once.
    pub(super) fn unbuffered(
        stream: S,
        begun: &Bytes,
        role: Role,
        limits: &WebSocketLimits,
    ) -> Self {
        Self::with_write_buffer(stream, begun, role, limits, 0)
    }

    fn with_write_buffer(
        stream: S,
        begun: &Bytes,
        role: Role,
        limits: &WebSocketLimits,
        write_buffer: usize,
    ) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER)
            .write_buffer_size(write_buffer)
            .max_message_size(Some(limits.message_bytes))
            .max_frame_size(Some(limits.frame_bytes));
        let context = WebSocketContext::from_partially_read(begun.to_vec(), role, Some(config));
        Self {
            stream,
            context,
            read: 0,
            written: 0,
        }
    }

    /// How many bytes have come.
    pub(super) const fn read(&self) -> u64 {
        self.read
    }

    /// How many bytes the peer has taken.
    pub(super) const fn written(&self) -> u64 {
        self.written
    }

    /// The next that comes.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event, Stop>> {
        let (mut io, context) = self.split(cx);
        loop {
            return Poll::Ready(Ok(match context.read(&mut io) {
                Ok(tungstenite::Message::Text(text)) => {
                    Event::Message(Message::Text(Utf8Bytes(text)))
                }
                Ok(tungstenite::Message::Binary(bytes)) => Event::Message(Message::Binary(bytes)),
                Ok(tungstenite::Message::Ping(_)) => Event::Ping,
                Ok(tungstenite::Message::Pong(_)) => Event::Pong,
                Ok(tungstenite::Message::Close(frame)) => Event::Close(CloseFrame::of_wire(frame)),
                // Never returned by `read`.
                Ok(tungstenite::Message::Frame(_)) => continue,
                Err(error) => match stop(error) {
                    None => return Poll::Pending,
                    Some(stop) => return Poll::Ready(Err(stop)),
                },
            }));
        }
    }

    /// Takes a message to be written; `Pending` if the peer takes no more at the moment. It is taken in any case.
    pub(super) fn poll_write(
        &mut self,
        message: tungstenite::Message,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Stop>> {
        let (mut io, context) = self.split(cx);
        done(context.write(&mut io, message))
    }

    /// Writes what was taken.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Stop>> {
        let (mut io, context) = self.split(cx);
        done(context.flush(&mut io))
    }

    /// Begins to close. What was taken before is written first.
    pub(super) fn poll_close(
        &mut self,
        frame: &CloseFrame,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Stop>> {
        let (mut io, context) = self.split(cx);
        done(context.close(&mut io, frame.to_wire()))
    }

    /// Ends the stream on this side.
    pub(super) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    /// Reads bytes that nobody looks at: how many, 0 at the end.
    pub(super) fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut scratch = [0; 4 << 10];
        let mut buffer = ReadBuf::new(&mut scratch);
        let stream = Pin::new(&mut self.stream);
        let read = std::task::ready!(stream.poll_read(cx, &mut buffer));
        Poll::Ready(read.map(|()| buffer.filled().len()))
    }

    fn split<'a, 'b>(
        &'a mut self,
        cx: &'a mut Context<'b>,
    ) -> (Io<'a, 'b, S>, &'a mut WebSocketContext) {
        let io = Io {
            stream: &mut self.stream,
            cx,
            read: &mut self.read,
            written: &mut self.written,
        };
        (io, &mut self.context)
    }
}

fn done(result: Result<(), Error>) -> Poll<Result<(), Stop>> {
    match result {
        Ok(()) => Poll::Ready(Ok(())),
        Err(error) => match stop(error) {
            None => Poll::Pending,
            Some(stop) => Poll::Ready(Err(stop)),
        },
    }
}

/// What an error means; nothing, if it is that the stream has to be waited for.
fn stop(error: Error) -> Option<Stop> {
    let failed = match error {
        Error::Io(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
        Error::ConnectionClosed | Error::AlreadyClosed => return Some(Stop::Closed),
        Error::Io(error) => match error.kind() {
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof => WebSocketError::Reset,
            _ => WebSocketError::Io(error.to_string()),
        },
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => WebSocketError::Reset,
        Error::Capacity(CapacityError::MessageTooLong { size, max_size }) => {
            WebSocketError::TooLarge {
                bytes: size,
                limit: max_size,
            }
        }
        Error::Utf8(_) => WebSocketError::InvalidUtf8,
        Error::Protocol(error) => WebSocketError::Protocol(error.to_string()),
        error => WebSocketError::Protocol(error.to_string()),
    };
    Some(Stop::Failed(failed))
}

/// A stream as tungstenite wants it: what has to be waited for is an error, and this task is woken then.
struct Io<'a, 'b, S> {
    stream: &'a mut S,
    cx: &'a mut Context<'b>,
    read: &'a mut u64,
    written: &'a mut u64,
}

impl<S: AsyncRead + Unpin> Read for Io<'_, '_, S> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(room);
        match Pin::new(&mut *self.stream).poll_read(self.cx, &mut buffer) {
            Poll::Ready(read) => read?,
            Poll::Pending => return Err(io::ErrorKind::WouldBlock.into()),
        }
        let count = buffer.filled().len();
        *self.read += count as u64;
        Ok(count)
    }
}

impl<S: AsyncWrite + Unpin> Write for Io<'_, '_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match Pin::new(&mut *self.stream).poll_write(self.cx, bytes) {
            Poll::Ready(written) => {
                let count = written?;
                *self.written += count as u64;
                Ok(count)
            }
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match Pin::new(&mut *self.stream).poll_flush(self.cx) {
            Poll::Ready(flushed) => flushed,
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}
