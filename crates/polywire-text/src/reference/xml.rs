//! The twin of xml.
