//! The XML-RPC bodies that speed is measured on, broken in every way: `bench/xmlrpc` of the
//! published data.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "xmlrpc/broken.rs"]
mod broken;
#[allow(dead_code, reason = "the bodies are given here, and only changed")]
#[path = "xmlrpc/source.rs"]
mod source;

use test_data::{Missing, data};

use crate::broken::Named;

test_data::tests! {
    whole_bodies,
    every_truncation,
    every_changed_byte,
    a_hundred_thousand_changes,
}

/// How long bodies are of which every byte is cut off and changed.
const LONGEST: usize = 3_072;

/// Requests and responses.
fn bodies() -> Result<Vec<Named>, Missing> {
    let files = std::fs::read_dir(data("bench/xmlrpc")?).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "xml"));
    let named = paths.map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read(path).unwrap())
    });
    let mut bodies: Vec<Named> = named.collect();
    assert!(!bodies.is_empty(), "bench/xmlrpc has no bodies");
    bodies.sort();
    Ok(bodies)
}

fn whole_bodies() -> Result<(), Missing> {
    broken::whole(&bodies()?);
    Ok(())
}

fn every_truncation() -> Result<(), Missing> {
    broken::truncated(&bodies()?, LONGEST);
    Ok(())
}

fn every_changed_byte() -> Result<(), Missing> {
    broken::with_a_changed_byte(&bodies()?, LONGEST);
    Ok(())
}

fn a_hundred_thousand_changes() -> Result<(), Missing> {
    broken::changed(&bodies()?);
    Ok(())
}
