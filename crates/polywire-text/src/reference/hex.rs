//! The twin of hex.
