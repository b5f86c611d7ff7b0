//! Messages on a byte stream. It connects tungstenite's synchronous state machine with Tokio streams.

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

/// The size of the read buffer. Each connection has one.
const READ_BUFFER: usize = 8 << 10;

/// The codec writes to the stream when its buffer exceeds this size.
const WRITE_BUFFER: usize = 64 << 10;

/// A received message or control frame.
#[derive(Debug)]
pub(super) enum Event {
    Message(Message),
    /// The pong is queued. The next read or flush sends it.
    Ping,
    Pong,
    Close(CloseFrame),
}

/// The reason why the codec neither reads nor writes any more.
#[derive(Debug)]
pub(super) enum Stop {
    /// The closing handshake is complete.
    Closed,
    Failed(WebSocketError),
}

/// One endpoint of a connection.
pub(super) struct Codec<S> {
    stream: S,
    context: WebSocketContext,
    /// Bytes read from the stream, and bytes written to it.
    read: u64,
    written: u64,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Codec<S> {
    /// `prefetched`: the bytes that were received after the handshake.
    pub(super) fn new(stream: S, prefetched: &Bytes, role: Role, limits: &WebSocketLimits) -> Self {
        Self::with_write_buffer(stream, prefetched, role, limits, WRITE_BUFFER)
    }

    /// Writes each message at once. For callers whose messages are large already.
    pub(super) fn unbuffered(
        stream: S,
        prefetched: &Bytes,
        role: Role,
        limits: &WebSocketLimits,
    ) -> Self {
        Self::with_write_buffer(stream, prefetched, role, limits, 0)
    }

    fn with_write_buffer(
        stream: S,
        prefetched: &Bytes,
        role: Role,
        limits: &WebSocketLimits,
        write_buffer: usize,
    ) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER)
            .write_buffer_size(write_buffer)
            .max_message_size(Some(limits.max_message_bytes))
            .max_frame_size(Some(limits.max_frame_bytes));
        let context =
            WebSocketContext::from_partially_read(prefetched.to_vec(), role, Some(config));
        Self {
            stream,
            context,
            read: 0,
            written: 0,
        }
    }

    /// The number of bytes read from the stream.
    pub(super) const fn read(&self) -> u64 {
        self.read
    }

    /// The number of bytes written to the stream.
    pub(super) const fn written(&self) -> u64 {
        self.written
    }

    /// Reads the next message or control frame.
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
                Ok(tungstenite::Message::Close(frame)) => {
                    Event::Close(CloseFrame::from_wire(frame))
                }
                // `read` does not return raw frames.
                Ok(tungstenite::Message::Frame(_)) => continue,
                Err(error) => match stop(error) {
                    None => return Poll::Pending,
                    Some(stop) => return Poll::Ready(Err(stop)),
                },
            }));
        }
    }

    /// Buffers a message. `Pending` means that the stream accepts no more bytes now. The message is buffered in both
    /// cases.
    pub(super) fn poll_write(
        &mut self,
        message: tungstenite::Message,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Stop>> {
        let (mut io, context) = self.split(cx);
        done(context.write(&mut io, message))
    }

    /// Writes and flushes the buffer.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Stop>> {
        let (mut io, context) = self.split(cx);
        done(context.flush(&mut io))
    }

    /// Buffers a close frame after all buffered messages.
    pub(super) fn poll_close(
        &mut self,
        frame: &CloseFrame,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Stop>> {
        let (mut io, context) = self.split(cx);
        done(context.close(&mut io, frame.to_wire()))
    }

    /// Shuts down the write side of the stream.
    pub(super) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    /// Reads and discards bytes. Returns their number, 0 at the end of the stream.
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

/// Converts an error. `None` means that the stream is not ready.
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

/// A stream with the synchronous interface that tungstenite requires. If the stream is not ready, it returns
/// `WouldBlock` and registers the waker of the task.
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
