//! Any bytes as quoted strings and lists.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::text_list(data));
