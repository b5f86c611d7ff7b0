//! The twin of timestamp.
