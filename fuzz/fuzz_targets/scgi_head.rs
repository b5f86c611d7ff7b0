//! Any bytes, in pieces, as the head of a request and of a response of SCGI.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::scgi_head(data));
