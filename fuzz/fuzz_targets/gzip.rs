//! Any bytes as a compressed body: limits hold, and what is compressed comes back.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::gzip(data));
