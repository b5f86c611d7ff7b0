//! Incremental computation.

use std::fmt;

use crc_fast::{CrcAlgorithm, Digest as Crc};
use sha2::Digest;

use super::{Algorithm, Checksum};

/// Computes a [`Checksum`] of bytes that arrive in pieces. The result does not depend on how they are split.
///
/// ```
/// use polywire_aws::checksum::{Algorithm, Hasher};
///
/// let mut hasher = Hasher::new(Algorithm::Sha256);
/// hasher.update(b"Hello ");
/// hasher.update(b"world");
/// assert_eq!(hasher.finish().to_string(), "ZOyIygCyaOW6GjVnihtTFtIS9PNmskdyMlNKiuyjfzw=");
/// ```
#[derive(Clone)]
pub struct Hasher {
    algorithm: Algorithm,
    state: State,
}

#[derive(Clone)]
enum State {
    Crc(Crc),
    Md5(md5::Md5),
    Sha1(sha1::Sha1),
    Sha256(sha2::Sha256),
    Sha512(sha2::Sha512),
}

impl Hasher {
    /// The state before the first byte. Does not allocate.
    #[must_use]
    pub fn new(algorithm: Algorithm) -> Self {
        let state = match algorithm {
            Algorithm::Crc32 => State::Crc(Crc::new(CrcAlgorithm::Crc32IsoHdlc)),
            Algorithm::Crc32c => State::Crc(Crc::new(CrcAlgorithm::Crc32Iscsi)),
            Algorithm::Crc64Nvme => State::Crc(Crc::new(CrcAlgorithm::Crc64Nvme)),
            Algorithm::Md5 => State::Md5(md5::Md5::new()),
            Algorithm::Sha1 => State::Sha1(sha1::Sha1::new()),
            Algorithm::Sha256 => State::Sha256(sha2::Sha256::new()),
            Algorithm::Sha512 => State::Sha512(sha2::Sha512::new()),
        };
        Self { algorithm, state }
    }

    /// The algorithm.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Adds `bytes` to the data.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.state {
            State::Crc(state) => state.update(bytes),
            State::Md5(state) => state.update(bytes),
            State::Sha1(state) => state.update(bytes),
            State::Sha256(state) => state.update(bytes),
            State::Sha512(state) => state.update(bytes),
        }
    }

    /// The checksum of all data.
    #[must_use]
    pub fn finish(self) -> Checksum {
        match self.state {
            State::Crc(state) => Checksum::from_crc(self.algorithm, state.finalize()),
            State::Md5(state) => Checksum::from_digest(self.algorithm, &state.finalize()),
            State::Sha1(state) => Checksum::from_digest(self.algorithm, &state.finalize()),
            State::Sha256(state) => Checksum::from_digest(self.algorithm, &state.finalize()),
            State::Sha512(state) => Checksum::from_digest(self.algorithm, &state.finalize()),
        }
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hasher")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}
