//! What every reader and writer makes of a fixed set of inputs, compared with a stored digest
//! for each input ([`test_data::record`]).
//!
//! The inputs are the fuzz corpora, the sample values of the tests, hostile messages, and the
//! XML-RPC bodies of the benchmarks. Each is read as every shape and by every profile; what
//! is read is written by every writer; short inputs are also cut off and changed at every byte.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic, and says what it counts"
)]

mod hostile;
mod inputs;
mod observe;
mod read;
mod serde_types;
#[path = "../shapes/mod.rs"]
mod shapes;
#[path = "../support/mod.rs"]
mod support;
mod written;

use std::path::Path;

use test_data::record::Record;
use test_data::{Missing, data};

use crate::inputs::{Input, Wire};

test_data::tests! {
    corpora_and_hostile_inputs,
    sample_values,
    bodies_of_the_benchmarks,
}

fn record(name: &str) -> Record {
    Record::new(
        &Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/record")
            .join(name),
    )
}

fn run(mut record: Record, inputs: Vec<Input>) {
    for input in inputs {
        let name = format!("{} {}", input.wire.name(), input.name);
        record.case(&name, |to| read::everything(&input, to));
    }
    println!("{} cases", record.finish());
}

fn corpora_and_hostile_inputs() -> Result<(), Missing> {
    let mut inputs = inputs::corpora();
    inputs.extend(hostile::inputs());
    run(record("inputs.digests"), inputs);
    Ok(())
}

fn sample_values() -> Result<(), Missing> {
    let mut record = record("samples.digests");
    written::samples(&mut record);
    println!("{} cases", record.finish());
    Ok(())
}

fn bodies_of_the_benchmarks() -> Result<(), Missing> {
    let mut inputs = Vec::new();
    for (name, bytes) in inputs::files(&data("bench/xmlrpc")?) {
        let wires = [Wire::XmlRpcCall, Wire::XmlRpcResponse];
        inputs.extend(wires.map(|wire| Input::new(wire, name.clone(), bytes.clone())));
    }
    for (folder, wire) in [
        ("rpcv2Cbor", Wire::Cbor),
        ("awsJson1_0", Wire::Json),
        ("restXml", Wire::Xml),
        ("awsQuery", Wire::Xml),
    ] {
        let folder = data("bench/smithy")?.join(folder).join("deserialize");
        for (name, bytes) in inputs::files(&folder) {
            if !name.ends_with(".case.json") {
                inputs.push(Input::new(wire, name, bytes));
            }
        }
    }
    run(record("bodies.digests"), inputs);
    Ok(())
}
