//! Arrays of strings and of hex, and lists with a separator.
