//! Messages to read.

use std::path::Path;

/// How an input is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Wire {
    Json,
    Cbor,
    Xml,
    Form,
    XmlRpcCall,
    XmlRpcResponse,
}

impl Wire {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Cbor => "cbor",
            Self::Xml => "xml",
            Self::Form => "form",
            Self::XmlRpcCall => "xmlrpc-call",
            Self::XmlRpcResponse => "xmlrpc-response",
        }
    }
}

/// A message, and what it is read as.
pub(crate) struct Input {
    pub(crate) wire: Wire,
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

impl Input {
    pub(crate) fn new(wire: Wire, name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            wire,
            name: name.into(),
            bytes: bytes.into(),
        }
    }
}

/// The files of a folder by name; none if it does not exist.
pub(crate) fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<(String, Vec<u8>)> = paths
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// The corpora of the fuzz targets, and the inputs that once failed.
pub(crate) fn corpora() -> Vec<Input> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut inputs = Vec::new();
    for (target, wire) in [
        ("json", Wire::Json),
        ("cbor", Wire::Cbor),
        ("xml", Wire::Xml),
        ("form", Wire::Form),
        ("xmlrpc_call", Wire::XmlRpcCall),
        ("xmlrpc_fault", Wire::XmlRpcResponse),
        ("xmlrpc_multicall", Wire::XmlRpcCall),
        ("xmlrpc_response", Wire::XmlRpcResponse),
        ("xmlrpc_typed", Wire::XmlRpcCall),
    ] {
        let before = inputs.len();
        for kind in ["corpus", "regressions"] {
            for (name, bytes) in files(&fuzz.join(kind).join(target)) {
                inputs.push(Input::new(wire, format!("{kind}/{target}/{name}"), bytes));
            }
        }
        assert!(inputs.len() > before, "{target} has no corpus");
    }
    inputs
}
