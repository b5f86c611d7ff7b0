//! Any text as a model in Smithy's IDL.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::model_idl(data));
