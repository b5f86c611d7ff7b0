//! Parses any bytes as a Nostr event in the binary storage form.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::nostr_binary(data));
