//! The content encoding `aws-chunked`.
