//! What threads share things by.
//!
//! `tests/model` compiles the modules that use this with loom's in their place, and tries every order in
//! which threads can meet there.

pub(crate) use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic};
