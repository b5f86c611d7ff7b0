//! A record of behaviour: one digest for each case, compared with a file in the repository.
//!
//! A test writes everything that a case shows (values, bytes, errors) into a [`Transcript`], and
//! [`Record::finish`] compares the digests of all transcripts with the stored ones. So a change
//! of the code that should change nothing can prove it.
//!
//! | variable | meaning |
//! |---|---|
//! | `POLYWIRE_RECORD_DIR` | a folder to which the whole transcripts are written; compare two with `diff -r` |
//! | `POLYWIRE_RECORD_CASE` | run only the cases whose name contains this text |
//! | `POLYWIRE_RECORD_UPDATE` | `1` writes the digests to the file instead of comparing them |

#![allow(clippy::expect_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// How many cases a failed comparison names.
const SHOWN: usize = 20;

/// The digests of all cases of one test.
#[derive(Debug)]
pub struct Record {
    file: PathBuf,
    found: BTreeMap<String, String>,
    folder: Option<PathBuf>,
    filter: Option<String>,
}

impl Record {
    /// A record that is compared with `file`.
    #[must_use]
    pub fn new(file: &Path) -> Self {
        let name = file.file_stem().unwrap_or_default();
        let folder = std::env::var_os("POLYWIRE_RECORD_DIR");
        Self {
            file: file.to_owned(),
            found: BTreeMap::new(),
            folder: folder.map(|folder| Path::new(&folder).join(name)),
            filter: std::env::var("POLYWIRE_RECORD_CASE").ok(),
        }
    }

    /// Runs a case. The name must be unique and contain no line break.
    ///
    /// # Panics
    ///
    /// The name is not unique, or the transcript cannot be written to the folder.
    pub fn case(&mut self, name: &str, run: impl FnOnce(&mut Transcript)) {
        if self
            .filter
            .as_ref()
            .is_some_and(|part| !name.contains(part))
        {
            return;
        }
        let file = self.folder.as_ref().map(|folder| {
            let path = folder.join(format!("{}.txt", name.replace(['/', ' '], "_")));
            fs::create_dir_all(folder).expect("the folder of POLYWIRE_RECORD_DIR can be created");
            let file = fs::File::create(path).expect("a transcript can be created");
            BufWriter::new(file)
        });
        let mut transcript = Transcript {
            digest: Sha256::new(),
            file,
        };
        run(&mut transcript);
        let before = self.found.insert(name.to_owned(), transcript.finish());
        assert!(before.is_none(), "two cases are called {name}");
    }

    /// Compares with the file, or writes it. Returns the number of cases.
    ///
    /// # Panics
    ///
    /// A case differs, is new, or is gone.
    pub fn finish(self) -> usize {
        let filtered = self.filter.is_some();
        let (file, changes) = self.compare();
        let wrong = [&changes.changed[..], &changes.new[..], &changes.gone[..]].concat();
        // With a filter, most stored cases did not run.
        let wrong = if filtered { changes.changed } else { wrong };
        assert_same(&file, &wrong);
        changes.count
    }

    /// Like [`finish`](Self::finish), for inputs of which there are several versions: cases that
    /// are new or gone are counted instead of refused. The name of a case must contain a
    /// [`digest`] of its input. Returns the numbers of cases that were compared, that are new, and
    /// that are gone.
    ///
    /// # Panics
    ///
    /// A case differs, or no case was compared.
    pub fn finish_any_version(self) -> [usize; 3] {
        let (file, changes) = self.compare();
        assert_same(&file, &changes.changed);
        let compared = changes.count - changes.new.len();
        assert!(compared > 0, "{} has none of these cases", file.display());
        [compared, changes.new.len(), changes.gone.len()]
    }

    fn compare(self) -> (PathBuf, Changes) {
        let mut changes = Changes {
            count: self.found.len(),
            ..Changes::default()
        };
        if std::env::var("POLYWIRE_RECORD_UPDATE").as_deref() == Ok("1") {
            let mut lines = String::new();
            for (name, digest) in &self.found {
                let _ = writeln!(lines, "{digest} {name}");
            }
            fs::write(&self.file, lines).expect("the record can be written");
            return (self.file, changes);
        }
        let stored = fs::read_to_string(&self.file).unwrap_or_default();
        let mut stored: BTreeMap<&str, &str> = stored
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(digest, name)| (name, digest))
            .collect();
        for (name, digest) in &self.found {
            match stored.remove(name.as_str()) {
                Some(before) if before == digest => {}
                Some(_) => changes.changed.push(format!("changed: {name}")),
                None => changes.new.push(format!("new: {name}")),
            }
        }
        changes.gone = stored.keys().map(|name| format!("gone: {name}")).collect();
        (self.file, changes)
    }
}

/// How the cases differ from those in the file.
#[derive(Default)]
struct Changes {
    count: usize,
    changed: Vec<String>,
    new: Vec<String>,
    gone: Vec<String>,
}

fn assert_same(file: &Path, wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "{} cases differ from {}; POLYWIRE_RECORD_DIR=FOLDER writes what they show:\n{}",
        wrong.len(),
        file.display(),
        wrong[..wrong.len().min(SHOWN)].join("\n"),
    );
}

/// The first 64 bits of the SHA-256 digest, in hexadecimal.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    hexadecimal(Sha256::new().chain_update(bytes))
}

fn hexadecimal(digest: Sha256) -> String {
    let digest = digest.finalize();
    digest.iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What one case shows. Write to it with `write!` or [`Transcript::bytes`].
#[derive(Debug)]
pub struct Transcript {
    digest: Sha256,
    file: Option<BufWriter<fs::File>>,
}

impl Transcript {
    /// Adds bytes, escaped.
    pub fn bytes(&mut self, bytes: &[u8]) {
        // Without a folder nobody reads them.
        match self.file {
            Some(_) => drop(writeln!(self, "{}", bytes.escape_ascii())),
            None => {
                self.digest
                    .update(bytes.escape_ascii().collect::<Vec<u8>>());
                self.digest.update(b"\n");
            }
        }
    }

    fn finish(self) -> String {
        if let Some(mut file) = self.file {
            file.flush().expect("a transcript can be written");
        }
        hexadecimal(self.digest)
    }
}

impl fmt::Write for Transcript {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.digest.update(text.as_bytes());
        match &mut self.file {
            Some(file) => file.write_all(text.as_bytes()).map_err(|_| fmt::Error),
            None => Ok(()),
        }
    }
}
