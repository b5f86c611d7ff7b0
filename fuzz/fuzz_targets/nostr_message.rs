//! Parses any bytes as a Nostr message of a client and of a relay.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::nostr_message(data));
