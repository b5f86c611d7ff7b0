//! Any bytes as JSON: documents, schemas and types, against serde_json as well.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::json(data));
