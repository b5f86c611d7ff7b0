//! A bounded pool of buffers.
