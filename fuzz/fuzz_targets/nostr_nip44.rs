//! Decrypts any bytes as a NIP-44 payload, and encrypts them as a plaintext.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::nostr_nip44(data));
