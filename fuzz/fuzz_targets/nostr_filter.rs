//! Parses any bytes as a Nostr filter and events to match.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::nostr_filter(data));
