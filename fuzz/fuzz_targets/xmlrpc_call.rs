//! Any bytes as a call of XML-RPC: one struct, positional, and without a schema.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::xmlrpc_call(data));
