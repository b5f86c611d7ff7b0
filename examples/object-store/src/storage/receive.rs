//! Bodies that arrive.

use std::io;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use md5::{Digest, Md5};
use polywire::protocol::Fault;
use polywire::schema::{ByteStream, StreamError, StreamErrorKind};
use tokio::task::{JoinHandle, spawn_blocking};

use super::files::{DataFile, Files};
use crate::error::Error;

/// Bytes are hashed and written in batches of at least this size. One batch is written while the next arrives, so an
/// upload takes about three times as much memory, with the buffer of its connection.
const BATCH: usize = 128 * 1024;
/// Or of so many pieces. Each takes memory beside its bytes.
const PIECES: usize = 1024;

/// A body that has arrived.
#[derive(Debug)]
pub(crate) struct Received {
    pub md5: [u8; 16],
    pub size: u64,
    pub inline: Bytes,
    /// `None` if the body is inline.
    pub file: Option<DataFile>,
}

/// Receives a body: up to `inline` bytes in memory, more into a file.
///
/// # Errors
///
/// The stream broke off, or has more than `limit` bytes, or the file cannot be written. Then nothing is left.
pub(super) async fn receive(
    files: &Arc<Files>,
    mut body: ByteStream,
    inline: usize,
    limit: u64,
) -> Result<Received, Fault> {
    let mut batch = Batch::default();
    let mut size = 0;
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(broken)?;
        size += piece.len() as u64;
        if size > limit {
            return Err(Error::EntityTooLarge.into());
        }
        batch.push(piece);
        if batch.len > inline {
            return write_all(files, body, batch, size, limit).await;
        }
    }
    let inline = batch.into_bytes();
    Ok(Received {
        md5: Md5::digest(&inline).into(),
        size,
        inline,
        file: None,
    })
}

/// Receives a body into a file, whatever its size.
pub(super) async fn receive_file(
    files: &Arc<Files>,
    body: ByteStream,
    limit: u64,
) -> Result<Received, Fault> {
    write_all(files, body, Batch::default(), 0, limit).await
}

/// The fault of a body that does not arrive as it should.
fn broken(error: StreamError) -> Fault {
    let source = std::error::Error::source(&error);
    if let Some(fault) = source.and_then(|source| source.downcast_ref::<Fault>()) {
        return fault.clone();
    }
    match error.kind() {
        StreamErrorKind::Interrupted | StreamErrorKind::WrongLength => Error::IncompleteBody.into(),
        StreamErrorKind::TimedOut => Error::RequestTimeout.into(),
        StreamErrorKind::TooLarge => Error::EntityTooLarge.into(),
        _ => error.into(),
    }
}

#[derive(Default)]
struct Batch {
    pieces: Vec<Bytes>,
    len: usize,
}

impl Batch {
    fn push(&mut self, piece: Bytes) {
        self.len += piece.len();
        self.pieces.push(piece);
    }

    fn into_bytes(mut self) -> Bytes {
        if self.pieces.len() == 1 {
            // A piece may be a small range of the buffer of its connection.
            return Bytes::copy_from_slice(&self.pieces.remove(0));
        }
        let mut bytes = BytesMut::with_capacity(self.len);
        for piece in &self.pieces {
            bytes.extend_from_slice(piece);
        }
        bytes.freeze()
    }
}

/// Writes a batch and then the rest of a body into a new file, and completes it.
async fn write_all(
    files: &Arc<Files>,
    mut body: ByteStream,
    mut batch: Batch,
    mut size: u64,
    limit: u64,
) -> Result<Received, Fault> {
    let mut writing: Option<Writing> = None;
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(broken)?;
        size += piece.len() as u64;
        if size > limit {
            return Err(Error::EntityTooLarge.into());
        }
        batch.push(piece);
        if batch.len >= BATCH || batch.pieces.len() >= PIECES {
            let batch = std::mem::take(&mut batch);
            writing = Some(match writing {
                Some(writing) => write(joined(writing).await?, batch),
                None => write_first(files, batch),
            });
        }
    }
    let file = match writing {
        Some(writing) => Some(joined(writing).await?),
        None => None,
    };
    // One task creates, writes and completes the file of a body that fits into a batch.
    let files = Arc::clone(files);
    let completing = spawn_blocking(move || {
        let mut file = match file {
            Some(file) => file,
            None => files.create()?,
        };
        file.write(&batch.pieces)?;
        let md5 = file.complete()?;
        Ok((file, md5))
    });
    let (file, md5) = joined(completing).await?;
    Ok(Received {
        md5,
        size,
        inline: Bytes::new(),
        file: Some(file),
    })
}

/// The file is with the task that writes to it. If the future of the request is dropped, the task drops the file, which
/// removes it.
type Writing = JoinHandle<io::Result<DataFile>>;

fn write_first(files: &Arc<Files>, batch: Batch) -> Writing {
    let files = Arc::clone(files);
    spawn_blocking(move || {
        let mut file = files.create()?;
        file.write(&batch.pieces)?;
        Ok(file)
    })
}

fn write(mut file: DataFile, batch: Batch) -> Writing {
    spawn_blocking(move || {
        file.write(&batch.pieces)?;
        Ok(file)
    })
}

pub(super) async fn joined<T>(task: JoinHandle<io::Result<T>>) -> Result<T, Error> {
    let result = task
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)));
    result.map_err(|error| Error::from_io(&error))
}
