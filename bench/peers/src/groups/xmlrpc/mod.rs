//! What xmlrpc-c, Python's standard library and the crates dxr and serde_xmlrpc do with the same
//! messages. A peer's answer is checked by letting the peer write it and reading that with the
//! gate's second reader.

mod c_library;
mod crates;
mod python;
mod quotes;
mod values;

use std::fmt::Debug;

use polywire_gate::groups::xmlrpc::corpus::{Content, Side, messages, name};
use polywire_gate::groups::xmlrpc::oracle;
use polywire_gate::groups::xmlrpc::typed::reads;
use polywire_gate::groups::xmlrpc::types::{Item, Nested};
use polywire_gate::{Case, Group, same};
use polywire_schema::{Blob, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::xmlrpc_c::XmlRpcC;
use c_library::NAME as XMLRPC_C;

pub(crate) fn cases(group: &mut Group) {
    polywire_gate::groups::xmlrpc::cases(group);
    let peers = Peers::find(group);
    for (content, side) in messages() {
        let Ok(xml) = group.data(&content.file(side)) else {
            // The gate's group has counted its cases as skipped.
            continue;
        };
        group.extend(&name(content, side, "read Value"), |case| {
            peers.read(case, side, xml);
            quotes::read(case, content, side);
            peers.target(case, side, read_times(content));
        });
        group.extend(&name(content, side, "write Value"), |case| {
            peers.write(case, side, xml);
            quotes::write(case, content, side);
            peers.target(case, side, write_times(content));
        });
        match content.letter {
            "a" | "f" => typed::<String>(group, content, side, xml),
            "b" => typed::<Vec<i32>>(group, content, side, xml),
            "c" => typed::<Nested>(group, content, side, xml),
            "d" => typed::<Vec<Item>>(group, content, side, xml),
            _ => typed::<Blob>(group, content, side, xml),
        }
    }
    values::cases(group);
}

/// How many times as fast as xmlrpc-c we are to read a request into `Value`.
fn read_times(content: Content) -> f64 {
    match content.letter {
        "e" => 12.0,
        "f" => 14.0,
        _ => 25.0,
    }
}

/// The same for writing it.
fn write_times(content: Content) -> f64 {
    match content.letter {
        "a" => 7.0,
        "b" => 8.0,
        "c" => 6.0,
        "d" => 9.0,
        _ => 10.0,
    }
}

/// The cases of serde. xmlrpc-c and Python have only their trees, which the cases of `Value` show.
fn typed<T>(group: &mut Group, content: Content, side: Side, xml: &'static [u8])
where
    T: Debug + DeserializeOwned + PartialEq + Serialize + 'static,
{
    group.extend(&name(content, side, "read serde"), |case| {
        crates::read_typed::<T>(case, side, xml);
    });
    let Some(value) = reads::<T>(side)(xml) else {
        return;
    };
    group.extend(&name(content, side, "write serde"), |case| {
        crates::write_typed(case, side, xml, value);
    });
}

/// The peers outside of Rust that this machine has.
struct Peers {
    c: Option<&'static XmlRpcC>,
    python: Option<python::Python>,
}

impl Peers {
    /// Looks for them; a missing one counts as skipped.
    fn find(group: &mut Group) -> Self {
        let c = XmlRpcC::open()
            .map_err(|reason| group.skip("peer xmlrpc-c", reason))
            .ok();
        let python = python::Python::find()
            .map_err(|reason| group.skip("peer Python", reason))
            .ok();
        Self { c, python }
    }

    /// Adds the target for a request.
    fn target(&self, case: &mut Case, side: Side, times: f64) {
        if self.c.is_some() && side == Side::Request {
            case.target_ratio_time(XMLRPC_C, times);
        }
    }

    /// Adds all peers to a case that reads a message into a tree of values.
    fn read(&self, case: &mut Case, side: Side, xml: &'static [u8]) {
        if let Some(library) = self.c {
            c_library::read(case, library, side, xml);
        }
        crates::read(case, side, xml);
        if let Some(python) = &self.python {
            python.add(case, python::What::Read, xml);
        }
    }

    /// Adds all peers to a case that writes a message from a tree of values.
    fn write(&self, case: &mut Case, side: Side, xml: &'static [u8]) {
        if let Some(library) = self.c {
            c_library::write(case, library, side, xml);
        }
        crates::write(case, side, xml);
        if let Some(python) = &self.python {
            python.add(case, python::What::Write, xml);
        }
    }
}

/// Compares the value of a message that a peer wrote. No text of the bodies has a line break, so
/// all line breaks are layout.
fn spells(written: &[u8], expected: &Value) -> Result<(), String> {
    let text = String::from_utf8_lossy(written);
    let text = text.replace(['\r', '\n'], "");
    let found = oracle::value_of(text.as_bytes());
    if agree(&found, expected) {
        Ok(())
    } else {
        same(&found, expected)
    }
}

/// Whether the values are the same except for the last digits of doubles: xmlrpc-c writes 679.96 as
/// 679.9599999999999.
fn agree(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Double(found), Value::Double(expected)) => {
            (found - expected).abs() <= expected.abs() * 1e-14
        }
        (Value::List(found), Value::List(expected)) => {
            let mut pairs = found.iter().zip(expected);
            found.len() == expected.len() && pairs.all(|(found, expected)| agree(found, expected))
        }
        (Value::Map(found), Value::Map(expected)) => {
            let mut entries = expected.entries().iter();
            found.len() == expected.len()
                && entries.all(|(key, value)| found.get(key).is_some_and(|own| agree(own, value)))
        }
        _ => found == expected,
    }
}
