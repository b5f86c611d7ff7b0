//! Any bytes as a form: types, `Value` and the readable twin.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::form(data));
