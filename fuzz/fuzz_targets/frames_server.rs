//! What a client of frames sends, to a server.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::frames_server(data));
