//! The files of the official suites, cut at every 97th byte and with random
//! bytes changed: diagnostics or a model come of them, never a panic, never a
//! hang.
//!
//! A cut costs as much as the file up to it, 130 MB of text in all, so this
//! crate is optimized a little in test builds, and the work is shared out to
//! threads.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may panic, and says what it counts"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use polywire_model::Loader;
use test_data::{Missing, suite, suite_ast};

const SUITES: [&str; 2] = ["aws", "smithy"];

test_data::tests! {
    cut_at_every_97th_byte,
    ast_cut,
    random_bytes,
    ast_random_bytes,
}

fn cut_at_every_97th_byte() -> Result<(), Missing> {
    let count = for_each_file(&idl()?, |name, bytes| {
        for end in (0..bytes.len()).step_by(97) {
            check(name, &bytes[..end]);
        }
        bytes.len().div_ceil(97)
    });
    println!("{count} cuts");
    Ok(())
}

fn ast_cut() -> Result<(), Missing> {
    // Two large files: each cut costs a megabyte. Primes, so that cuts fall
    // anywhere in a line.
    let count = for_each_file(&asts()?, |name, bytes| {
        let step = bytes.len() / 97;
        for end in (0..97).map(|index| index * step + index * 7) {
            check(name, &bytes[..end.min(bytes.len())]);
        }
        97
    });
    println!("{count} cuts");
    Ok(())
}

fn random_bytes() -> Result<(), Missing> {
    change_bytes(&idl()?);
    Ok(())
}

fn ast_random_bytes() -> Result<(), Missing> {
    change_bytes(&asts()?);
    Ok(())
}

/// The model files of the suites.
fn idl() -> Result<Vec<PathBuf>, Missing> {
    let mut all = Vec::new();
    for name in SUITES {
        all.extend(files(&suite(name)?, "smithy"));
    }
    Ok(all)
}

/// The suites as AST.
fn asts() -> Result<Vec<PathBuf>, Missing> {
    SUITES.into_iter().map(suite_ast).collect()
}

fn change_bytes(files: &[PathBuf]) {
    let count = for_each_file(files, |name, bytes| {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ bytes.len() as u64);
        // As many as for a small file cost little; two for the largest.
        let rounds = (400_000 / bytes.len().max(1)).clamp(3, 60);
        for _ in 0..rounds {
            let mut changed = bytes.to_vec();
            for _ in 0..=random.below(8) {
                change(&mut changed, &mut random);
            }
            check(name, &changed);
        }
        rounds
    });
    println!("{count} changed files");
}

/// What stands where it shouldn't when somebody types, merges or copies.
const PIECES: [&[u8]; 26] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b"\"",
    b"\"\"\"",
    b"\\",
    b":",
    b":=",
    b"=",
    b"@",
    b"$",
    b"#",
    b"///",
    b"\n",
    "\u{e9}".as_bytes(),
    b"\0",
    b"structure",
    b"apply",
    b"with",
    b"for",
    b"-",
    b"1e",
    b"null",
];

fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let end = |length: usize| (at + length).min(bytes.len());
    match random.below(5) {
        0 => {
            let piece = PIECES[random.below(PIECES.len())];
            bytes.splice(at..at, piece.iter().copied());
        }
        1 => {
            let end = end(random.below(40));
            bytes.drain(at..end);
        }
        2 => {
            let copy = bytes[at..end(random.below(200))].to_vec();
            bytes.splice(at..at, copy);
        }
        3 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.below(256) as u8;
            }
        }
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
    }
}

/// What is no UTF-8 is told by the loader when it reads a file; here it becomes
/// the replacement character, which the readers have to survive too.
fn check(name: &str, bytes: &[u8]) {
    let text: Arc<str> = Arc::from(String::from_utf8_lossy(bytes));
    if let Err(error) = Loader::new().add_text(name, text).assemble() {
        assert!(error.errors().count() > 0, "{name}");
        assert!(!error.to_string().is_empty());
        for diagnostic in error.errors() {
            assert!(diagnostic.position.is_some() || diagnostic.code == "TooManyProblems");
        }
    }
}

/// Runs over all files, the largest ones first, on all processors.
fn for_each_file(files: &[PathBuf], run: impl Fn(&str, &[u8]) -> usize + Sync) -> usize {
    assert!(!files.is_empty());
    let mut texts: Vec<(String, Vec<u8>)> = files
        .iter()
        .map(|path| (path.display().to_string(), fs::read(path).unwrap()))
        .collect();
    texts.sort_by_key(|(_, bytes)| std::cmp::Reverse(bytes.len()));
    let (next, count) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((name, bytes)) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    count.fetch_add(run(name, bytes), Ordering::Relaxed);
                }
            });
        }
    });
    count.into_inner()
}

/// The files of a folder and the folders in it with an extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut todo = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = todo.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                files.push(path);
            }
        }
    }
    files
}

/// A generator with a fixed seed: the same changes at every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}
