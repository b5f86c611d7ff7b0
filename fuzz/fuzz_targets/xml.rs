//! Any bytes as XML: schemas and types, against the readable twin as well.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::xml(data));
