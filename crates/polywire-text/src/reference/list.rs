//! The twin of list.
