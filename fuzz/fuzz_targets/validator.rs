//! Any JSON as an input: the validator and a naive twin of its rules.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::validator(data));
