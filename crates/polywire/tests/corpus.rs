//! Every input that the fuzz targets have found worth keeping, and every one
//! that once broke something, through the checks of its target.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests: helpers outside of #[test]"
)]

use std::fs;
use std::path::{Path, PathBuf};

#[allow(
    unreachable_pub,
    reason = "in the workspace of the fuzz targets it is a library"
)]
#[path = "../../../fuzz/targets.rs"]
mod targets;

/// Makes a test of each target, which has the name of its folders.
macro_rules! replayed {
    ($($target:ident),* $(,)?) => {
        $(#[test]
        fn $target() {
            replay(stringify!($target), targets::$target);
        })*

        const TARGETS: &[&str] = &[$(stringify!($target)),*];
    };
}

replayed! {
    cbor,
    event_stream,
    form,
    frames_client,
    frames_datagrams,
    frames_server,
    gzip,
    http_request,
    json,
    model_ast,
    model_idl,
    nostr_binary,
    nostr_event,
    nostr_filter,
    nostr_message,
    nostr_negentropy,
    nostr_nip19,
    nostr_nip44,
    scgi_head,
    selector,
    text_hex,
    text_json,
    text_list,
    text_number,
    text_percent,
    text_string,
    text_timestamp,
    text_xml,
    validator,
    xml,
    xmlrpc_call,
    xmlrpc_fault,
    xmlrpc_multicall,
    xmlrpc_response,
    xmlrpc_typed,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz")
        .join(name)
}

fn replay(target: &str, check: fn(&[u8])) {
    let corpus = files(&folder("corpus").join(target));
    assert!(!corpus.is_empty(), "no corpus of {target}");
    // A target that never found anything has no folder here.
    let regressions = folder("regressions").join(target);
    let regressions = if regressions.exists() {
        let files = files(&regressions);
        assert!(
            !files.is_empty(),
            "an empty folder of regressions of {target}"
        );
        files
    } else {
        Vec::new()
    };
    for file in corpus.iter().chain(&regressions) {
        let data = fs::read(file).unwrap();
        let _named = Named(file);
        check(&data);
    }
    println!(
        "{target}: {} files of the corpus, {} regressions",
        corpus.len(),
        regressions.len()
    );
}

/// Names the file when a check panics.
struct Named<'a>(&'a Path);

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("while checking {}", self.0.display());
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// A target whose corpus nobody replays would rot.
#[test]
fn every_target_is_replayed() {
    let mut found: Vec<String> = files(&folder("fuzz_targets"))
        .iter()
        .map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    found.sort();
    assert_eq!(found, TARGETS);
}
