//! Any bytes, in pieces, as messages of an event stream.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::event_stream(data));
