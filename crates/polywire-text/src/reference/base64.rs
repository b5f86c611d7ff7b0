//! The twin of base64.
