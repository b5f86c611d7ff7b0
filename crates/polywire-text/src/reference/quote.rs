//! The twin of quote.
