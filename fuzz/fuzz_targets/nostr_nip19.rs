//! Decodes any bytes as a NIP-19 entity, and as the contents of one.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::nostr_nip19(data));
