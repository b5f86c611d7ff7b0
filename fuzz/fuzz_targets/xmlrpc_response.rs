//! Any bytes as a response or fault of XML-RPC.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::xmlrpc_response(data));
