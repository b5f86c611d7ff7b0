//! Datagrams of frames, to both sides.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::frames_datagrams(data));
