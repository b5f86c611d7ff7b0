//! Any bytes as a fault of XML-RPC, for the client of a service.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::xmlrpc_fault(data));
