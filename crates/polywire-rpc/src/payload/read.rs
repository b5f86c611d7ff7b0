//! Streams of files and readers, and readers of streams.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use polywire_schema::{ByteStream, StreamError};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::io::{ReaderStream, StreamReader};

/// The number of bytes of a piece.
const PIECE: usize = 128 * 1024;

/// Opens a file as a stream with a known length.
///
/// # Errors
///
/// The file cannot be opened.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let stream = polywire_rpc::payload::file("Cargo.toml").await?;
/// assert_eq!(stream.len(), Some(std::fs::metadata("Cargo.toml")?.len()));
/// # Ok(()) }
/// ```
pub async fn file(path: impl AsRef<Path>) -> io::Result<ByteStream> {
    let file = tokio::fs::File::open(path).await?;
    let len = file.metadata().await?.len();
    Ok(ByteStream::with_len(Pieces::new(file.take(len)), len))
}

/// Makes a stream of a reader. Its length is not known: set it with [`ByteStream::or_len`].
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let stream = polywire_rpc::payload::reader(&b"some bytes"[..]);
/// assert_eq!(stream.collect(100).await?.as_bytes(), b"some bytes");
/// # Ok(()) }
/// ```
pub fn reader(reader: impl AsyncRead + Send + 'static) -> ByteStream {
    ByteStream::new(Pieces::new(reader))
}

/// Makes a reader of a stream, for [`tokio::io::copy`] and similar functions. A stream that breaks off is an error of
/// the reader.
///
/// ```
/// use polywire_schema::ByteStream;
/// use tokio::io::AsyncReadExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut text = String::new();
/// polywire_rpc::payload::into_reader(ByteStream::from("some text")).read_to_string(&mut text).await?;
/// assert_eq!(text, "some text");
/// # Ok(()) }
/// ```
pub fn into_reader(stream: ByteStream) -> impl AsyncRead + Send + Unpin {
    StreamReader::new(IoPieces(stream))
}

/// The pieces of a reader.
struct Pieces(Pin<Box<ReaderStream<BoxedReader>>>);

type BoxedReader = Pin<Box<dyn AsyncRead + Send>>;

impl Pieces {
    fn new(reader: impl AsyncRead + Send + 'static) -> Self {
        let reader: Pin<Box<dyn AsyncRead + Send>> = Box::pin(reader);
        Self(Box::pin(ReaderStream::with_capacity(reader, PIECE)))
    }
}

impl Stream for Pieces {
    type Item = Result<Bytes, StreamError>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, StreamError>>> {
        let piece = self.0.as_mut().poll_next(context);
        piece.map(|piece| piece.map(|piece| piece.map_err(StreamError::from)))
    }
}

/// A stream with the errors of readers.
struct IoPieces(ByteStream);

impl Stream for IoPieces {
    type Item = io::Result<Bytes>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Bytes>>> {
        let piece = Pin::new(&mut self.0).poll_next(context);
        piece.map(|piece| piece.map(|piece| piece.map_err(io::Error::other)))
    }
}
