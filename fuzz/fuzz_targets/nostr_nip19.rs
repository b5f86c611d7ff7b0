//! Any bytes as a name of NIP-19, and as its contents.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::nostr_nip19(data));
