//! Any head and body as a request to a service with all protocols, without I/O.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::http_request(data));
