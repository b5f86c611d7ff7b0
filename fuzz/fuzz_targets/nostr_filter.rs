//! Any bytes as a filter of Nostr and events that may match.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::nostr_filter(data));
