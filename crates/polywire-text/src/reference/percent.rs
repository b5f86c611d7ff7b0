//! The twin of percent.
