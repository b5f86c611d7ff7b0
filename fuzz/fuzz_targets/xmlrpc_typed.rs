//! Any bytes as a call of XML-RPC whose parameters are types of serde.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::xmlrpc_typed(data));
