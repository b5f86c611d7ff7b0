//! Signatures of chunks with SigV4: the module `signature` computes them.

use super::{ChunkAuthenticator, ChunkSigner};
use crate::signature;

impl ChunkAuthenticator for signature::ChunkVerifier {
    fn chunk(&mut self, sha256: &[u8; 32], signature: &[u8]) -> bool {
        self.verify_chunk(sha256, signature).is_ok()
    }

    fn trailer(&mut self, canonical_trailers: &[u8], signature: &[u8]) -> bool {
        self.verify_trailer(canonical_trailers, signature).is_ok()
    }
}

impl ChunkSigner for signature::ChunkSigner {
    fn chunk(&mut self, sha256: &[u8; 32]) -> [u8; 64] {
        self.sign_chunk_hash(sha256)
    }

    fn trailer(&mut self, canonical_trailers: &[u8]) -> [u8; 64] {
        self.sign_trailer(canonical_trailers)
    }
}
