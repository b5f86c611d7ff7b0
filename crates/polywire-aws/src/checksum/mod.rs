//! Checksums of bodies: algorithms, headers and trailers.
