//! Hexadecimal.
