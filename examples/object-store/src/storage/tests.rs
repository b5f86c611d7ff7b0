//! Tests of the storage.
