//! Any bytes as a batch of calls of XML-RPC, and as its results.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| polywire_fuzz::xmlrpc_multicall(data));
