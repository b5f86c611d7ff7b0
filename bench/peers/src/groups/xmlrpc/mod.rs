//! What others do with the same bodies: xmlrpc-c, Python's standard library and
//! the crates dxr and serde_xmlrpc. A peer's answer is what it writes when it
//! has read: that is read again by the group's own reader.

mod crates;
mod python;
mod xmlrpc_c;

pub(super) use xmlrpc_c::NAME as XMLRPC_C;

use crate::xmlrpc_c::XmlRpcC;
use crate::{Case, Group, same};
use polywire_schema::Value;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::corpus::Side;
use super::oracle;
use super::typed::AsValue;

/// The peers that this machine has.
pub(super) struct Peers {
    c: Option<&'static XmlRpcC>,
    python: Option<python::Python>,
}

impl Peers {
    /// Looks for them; one that is missing counts as skipped.
    pub(super) fn find(group: &mut Group) -> Self {
        let c = XmlRpcC::open()
            .map_err(|reason| group.skip("peer xmlrpc-c", reason))
            .ok();
        let python = python::Python::find()
            .map_err(|reason| group.skip("peer Python", reason))
            .ok();
        Self { c, python }
    }

    /// Whether targets can be held against xmlrpc-c.
    pub(super) const fn has_c(&self) -> bool {
        self.c.is_some()
    }

    /// Adds them to a case that reads a message into a tree of values.
    pub(super) fn read(&self, case: &mut Case, side: Side, xml: &'static [u8]) {
        if let Some(library) = self.c {
            xmlrpc_c::read(case, library, side, xml);
        }
        crates::read(case, side, xml);
        if let Some(python) = &self.python {
            python.add(case, python::What::Read, xml);
        }
    }

    /// Adds them to a case that writes a message from a tree of values.
    pub(super) fn write(&self, case: &mut Case, side: Side, xml: &'static [u8]) {
        if let Some(library) = self.c {
            xmlrpc_c::write(case, library, side, xml);
        }
        crates::write(case, side, xml);
        if let Some(python) = &self.python {
            python.add(case, python::What::Write, xml);
        }
    }

    /// Adds those to a case that reads a message into a type of serde. xmlrpc-c
    /// has no such thing and reads into its tree.
    pub(super) fn read_typed<T>(&self, case: &mut Case, side: Side, xml: &'static [u8])
    where
        T: AsValue + DeserializeOwned + 'static,
    {
        if let Some(library) = self.c {
            xmlrpc_c::read(case, library, side, xml);
        }
        crates::read_typed::<T>(case, side, xml);
    }

    /// Adds those to a case that writes a message from a type of serde.
    pub(super) fn write_typed<T>(&self, case: &mut Case, side: Side, xml: &'static [u8], value: T)
    where
        T: Serialize + 'static,
    {
        if let Some(library) = self.c {
            xmlrpc_c::write(case, library, side, xml);
        }
        crates::write_typed(case, side, xml, value);
    }
}

/// Whether a peer's spelling of a message holds that value. No text of the bodies
/// holds a line break, so the ones that are there are layout.
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

/// The same value, but for the last digits of doubles: xmlrpc-c writes 679.96 as
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
