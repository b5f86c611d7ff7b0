//! The twin of scan.
