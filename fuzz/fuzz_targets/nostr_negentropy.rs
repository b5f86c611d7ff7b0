//! Any bytes as a message of Negentropy, and as two sets.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::nostr_negentropy(data));
