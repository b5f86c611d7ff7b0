//! Parses any bytes as a Negentropy message, and as two sets to reconcile.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::nostr_negentropy(data));
