//! Any bytes as percent-encoding and forms.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::text_percent(data));
