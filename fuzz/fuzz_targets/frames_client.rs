//! What a server of frames sends, to a client.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::frames_client(data));
