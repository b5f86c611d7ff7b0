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
    /// The part of `read` that is not buffered any more.
    finished: u64,
    /// The size of the head of a received control frame.
    control_head: u64,
    /// The most that can be buffered: the fragments of one message, one frame that is not complete, and one read.
    max_buffered: usize,
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
            finished: 0,
            control_head: match role {
                Role::Server => 2 + 4,
                Role::Client => 2,
            },
            max_buffered: limits
                .max_message_bytes
                .saturating_add(limits.max_frame_bytes)
                .saturating_add(READ_BUFFER),
        }
    }

    /// The number of bytes read from the stream.
    pub(super) const fn read(&self) -> u64 {
        self.read
    }

    /// The number of received bytes that are buffered because their message is not complete. Control frames between
    /// the fragments of a message do not count: they are not kept.
    ///
    /// The heads of fragments count although they are not kept either, so that the number can be too large, but it never
    /// exceeds what the limits of the connection allow to buffer.
    pub(super) fn buffered(&self) -> usize {
        let unfinished = usize::try_from(self.read - self.finished);
        unfinished.map_or(self.max_buffered, |bytes| bytes.min(self.max_buffered))
    }

    /// The number of bytes written to the stream.
    pub(super) const fn written(&self) -> u64 {
        self.written
    }

    /// Reads the next message or control frame.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event, Stop>> {
        loop {
            let (mut io, context) = self.split(cx);
            let read = context.read(&mut io);
            return Poll::Ready(Ok(match read {
                Ok(tungstenite::Message::Text(text)) => {
                    self.finished = self.read;
                    Event::Message(Message::Text(Utf8Bytes(text)))
                }
                Ok(tungstenite::Message::Binary(bytes)) => {
                    self.finished = self.read;
                    Event::Message(Message::Binary(bytes))
                }
                Ok(tungstenite::Message::Ping(payload)) => {
                    self.finish_control(payload.len());
                    Event::Ping
                }
                Ok(tungstenite::Message::Pong(payload)) => {
                    self.finish_control(payload.len());
                    Event::Pong
                }
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

    /// A control frame was received. It can have arrived with the end of a message, and is finished already then.
    fn finish_control(&mut self, payload: usize) {
        let finished = self.finished + self.control_head + payload as u64;
        self.finished = finished.min(self.read);
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
