//! The twin of number.
