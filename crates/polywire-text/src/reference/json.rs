//! The twin of json.
