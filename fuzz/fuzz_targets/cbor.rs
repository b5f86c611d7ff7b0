//! Any bytes as CBOR: documents, schemas and types.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::cbor(data));
