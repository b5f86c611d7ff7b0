//! Any bytes as a payload of NIP-44, and as what is encrypted.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::nostr_nip44(data));
