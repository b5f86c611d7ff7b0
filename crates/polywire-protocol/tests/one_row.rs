//! Checks that a protocol consists of its own files, a row in the table of protocols, and the lines
//! that declare and export it, and that a format does too. No other source code names them, so
//! adding one changes no other file.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};

/// A protocol or format: all spellings of its name, its own files, and the other lines of code with
/// its name, by file.
struct Unit {
    names: &'static [&'static str],
    own: &'static [&'static str],
    lines: &'static [(&'static str, &'static str)],
}

const UNITS: [Unit; 2] = [
    Unit {
        names: &["JsonRpc", "json_rpc", "jsonRpc"],
        // The last two are JSON-RPC over streams.
        own: &[
            "polywire-protocol/src/json_rpc/",
            "polywire-rpc/src/client/lines.rs",
            "polywire-rpc/src/server/lines.rs",
        ],
        lines: &[
            ("polywire-protocol/src/lib.rs", "mod json_rpc;"),
            (
                "polywire-protocol/src/lib.rs",
                "pub use json_rpc::{JsonRpc, ResponseId};",
            ),
            (
                "polywire-schema/src/protocols.rs",
                "JsonRpc \"polywire\" \"jsonRpc\" [Json]",
            ),
        ],
    },
    Unit {
        names: &["MsgPack", "msgpack"],
        own: &["polywire-codec/src/msgpack/"],
        lines: &[
            (
                "polywire-codec/src/format.rs",
                "use crate::msgpack::{MsgPackDecoder, MsgPackEncoder};",
            ),
            (
                "polywire-codec/src/format.rs",
                "MsgPack: \"msgpack\", MsgPackEncoder, MsgPackDecoder<'de>;",
            ),
            ("polywire-codec/src/lib.rs", "pub mod msgpack;"),
        ],
    },
];

/// All files of Rust below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn a_protocol_is_its_own_files_and_a_row() {
    let crates = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(crates).unwrap() {
        let src = entry.unwrap().path().join("src");
        if src.is_dir() {
            sources(&src, &mut files);
        }
    }
    assert!(files.len() > 300, "{} files", files.len());
    for Unit { names, own, lines } in UNITS {
        let mut found = Vec::new();
        let mut own_files = 0;
        for path in &files {
            let name = path.strip_prefix(crates).unwrap().to_str().unwrap();
            let name = name.replace('\\', "/");
            if own.iter().any(|own| name.starts_with(own)) {
                own_files += 1;
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            // Comments may contain the names.
            let code = text.lines().map(str::trim);
            let code = code.filter(|line| !line.starts_with("//"));
            let with_name = code.filter(|line| names.iter().any(|own| line.contains(own)));
            found.extend(with_name.map(|line| (name.clone(), line.to_owned())));
        }
        found.sort();
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(file, line)| (&**file, &**line))
            .collect();
        assert!(own_files > 0, "{own:?}");
        let mut expected = lines.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected, "{names:?}");
    }
}
