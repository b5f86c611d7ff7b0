//! Bodies that follow from a number, so that they can be checked without being kept.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use md5::{Digest, Md5};
use object_store::s3::GetObjectOutput;
use polywire::schema::{ByteStream, StreamError};

/// A generator of numbers (xorshift64*).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below a bound.
    pub(crate) const fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// The bytes of a body of this length.
pub(crate) fn bytes(seed: u64, len: u64) -> Vec<u8> {
    let mut numbers = Numbers::new(seed);
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < len {
        bytes.extend_from_slice(&numbers.next().to_le_bytes());
    }
    bytes.truncate(usize::try_from(len).unwrap());
    bytes
}

/// A stream that repeats a block.
pub(crate) struct Blocks {
    block: bytes::Bytes,
    left: u64,
}

impl Blocks {
    pub(crate) fn stream(seed: u64, len: u64) -> ByteStream {
        let block = bytes(seed, 64 * 1024).into();
        ByteStream::with_len(Self { block, left: len }, len)
    }
}

impl Stream for Blocks {
    type Item = Result<bytes::Bytes, StreamError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let len = self.left.min(self.block.len() as u64);
        self.left -= len;
        let piece = self.block.slice(..usize::try_from(len).unwrap());
        Poll::Ready((len > 0).then_some(Ok(piece)))
    }
}

/// Reads the body of a response. Returns its length and its MD5 sum in hexadecimal digits.
pub(crate) async fn sum_of(output: GetObjectOutput) -> (u64, String) {
    let (mut body, mut sum, mut len) = (output.body, Md5::new(), 0);
    while let Some(piece) = body.next().await {
        let piece = piece.unwrap();
        len += piece.len() as u64;
        sum.update(&piece);
    }
    let sum: [u8; 16] = sum.finalize().into();
    (len, sum.iter().map(|byte| format!("{byte:02x}")).collect())
}
