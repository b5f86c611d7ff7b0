//! Reads models in JARs.
//!
//! A JAR is a ZIP archive. The packages of Smithy have their models below `META-INF/smithy/`, where
//! the file `manifest` lists them, one path on each line. In a JAR without a manifest, every
//! `.smithy` and `.json` file below that folder is a model.
//!
//! Nothing is written to disk, so names of entries cannot do harm. They must be plain, because
//! messages repeat them. There are three limits: the number of entries, their total size, and the
//! compression ratio of an entry.

use std::collections::{BTreeMap, HashSet};

use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder, ZipSliceArchive};

use crate::source::MAX_FILE_BYTES;

/// The folder of the models.
const FOLDER: &str = "META-INF/smithy/";

/// The maximum number of entries of an archive. Programs with all their dependencies have tens of
/// thousands.
const MAX_ENTRIES: usize = 200_000;

/// Entries above this size can have at most `MAX_RATIO` times their compressed size. Models are
/// compressed to a tenth, and generated ones to a fiftieth.
const SMALL: usize = 1 << 20;
const MAX_RATIO: usize = 100;

/// The maximum total size of the models of an archive.
const MAX_UNPACKED: usize = MAX_FILE_BYTES;

/// A model in an archive.
#[derive(Debug)]
pub(super) struct Model {
    /// Its path in the archive.
    pub(super) path: String,
    /// Its bytes, or the reason why they cannot be read.
    pub(super) bytes: Result<Vec<u8>, String>,
    /// Whether the manifest lists it.
    pub(super) is_listed: bool,
}

struct Entry {
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
    checksum: u32,
    is_encrypted: bool,
    is_repeated: bool,
}

/// The models of an archive, in the order of the manifest, else sorted by path.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Model>, String> {
    let archive = ZipArchive::from_slice(bytes)
        .map_err(|_| "it is not a JAR: the directory of a ZIP archive is missing".to_owned())?;
    let entries = entries(&archive)?;
    let mut unpacker = Unpacker {
        archive: &archive,
        room: MAX_UNPACKED,
    };
    let mut models = Vec::new();
    let Some(manifest) = entries.get("manifest") else {
        for (name, entry) in entries.iter().filter(|(name, _)| is_model(name)) {
            models.push(Model {
                path: format!("{FOLDER}{name}"),
                bytes: unpacker.unpack(entry)?,
                is_listed: false,
            });
        }
        return Ok(models);
    };
    let manifest = unpacker
        .unpack(manifest)?
        .map_err(|message| format!("its manifest: {message}"))?;
    for name in listed(&manifest)? {
        let bytes = match entries.get(name) {
            None => Err("the manifest lists it, but it is not in the JAR".to_owned()),
            Some(entry) if is_model(name) => unpacker.unpack(entry)?,
            Some(_) => Err("the manifest lists it, but it is neither IDL nor JSON".to_owned()),
        };
        models.push(Model {
            path: format!("{FOLDER}{name}"),
            bytes,
            is_listed: true,
        });
    }
    Ok(models)
}

fn is_model(name: &str) -> bool {
    name.ends_with(".smithy") || name.ends_with(".json")
}

/// The entries below the folder of models, by relative path.
fn entries<'a>(archive: &'a ZipSliceArchive<&'a [u8]>) -> Result<BTreeMap<&'a str, Entry>, String> {
    let mut found: BTreeMap<&str, Entry> = BTreeMap::new();
    let mut count = 0_usize;
    for record in archive.entries() {
        let record = record.map_err(|error| damaged(&error))?;
        count += 1;
        if count > MAX_ENTRIES {
            return Err(format!("it has more than {MAX_ENTRIES} entries"));
        }
        let name: &'a [u8] = record.file_path().as_bytes();
        let Some(name) = name.strip_prefix(FOLDER.as_bytes()) else {
            continue;
        };
        if name.is_empty() || name.ends_with(b"/") {
            continue;
        }
        let name = std::str::from_utf8(name)
            .ok()
            .filter(|name| is_plain(name))
            .ok_or_else(|| {
                let name = String::from_utf8_lossy(name);
                format!("the name `{FOLDER}{name}` in it is not a plain path")
            })?;
        let entry = Entry {
            place: record.wayfinder(),
            method: record.compression_method(),
            checksum: record.crc32(),
            is_encrypted: record.flags().is_encrypted(),
            is_repeated: false,
        };
        found
            .entry(name)
            // Readers differ in which of two entries they use.
            .and_modify(|entry| entry.is_repeated = true)
            .or_insert(entry);
    }
    // The end of the directory has the number of entries, in 16 or 64 bits.
    let expected = archive.entries_hint();
    if expected != count as u64 && expected != count as u64 & 0xffff {
        return Err(format!(
            "it is damaged: its directory has {count} entries and should have {expected}"
        ));
    }
    Ok(found)
}

/// Whether a path has the same meaning on any system: names between single slashes.
fn is_plain(path: &str) -> bool {
    path.split('/')
        .all(|name| !matches!(name, "" | "." | "..") && name.trim() == name)
        && !path.contains(|c: char| c.is_control() || matches!(c, '\\' | ':'))
}

/// The paths that a manifest lists, without duplicates.
fn listed(manifest: &[u8]) -> Result<Vec<&str>, String> {
    let text = std::str::from_utf8(manifest)
        .map_err(|error| format!("its manifest: byte {} is not UTF-8", error.valid_up_to()))?;
    let mut seen = HashSet::new();
    let mut listed = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if !is_plain(line) {
            return Err(format!(
                "line {} of its manifest, `{line}`, is not a path below `{FOLDER}`",
                index + 1
            ));
        }
        if listed.len() == MAX_ENTRIES {
            return Err(format!("its manifest lists more than {MAX_ENTRIES} files"));
        }
        if seen.insert(line) {
            listed.push(line);
        }
    }
    Ok(listed)
}

struct Unpacker<'a> {
    archive: &'a ZipSliceArchive<&'a [u8]>,
    /// The number of bytes that may still be read or decompressed.
    room: usize,
}

impl Unpacker<'_> {
    /// The bytes of an entry, or the reason why it cannot be read. An error if the archive is too
    /// large.
    fn unpack(&mut self, entry: &Entry) -> Result<Result<Vec<u8>, String>, String> {
        if entry.is_repeated {
            return Ok(Err("it is twice in the JAR".to_owned()));
        }
        if entry.is_encrypted {
            return Ok(Err("it is encrypted".to_owned()));
        }
        let packed = match self.archive.get_entry(entry.place) {
            Ok(packed) => packed,
            Err(error) => return Ok(Err(damaged(&error))),
        };
        let packed = packed.data();
        let length = usize::try_from(entry.place.uncompressed_size_hint()).unwrap_or(usize::MAX);
        // Counted first, because entries can share their bytes, and damaged ones cost as much as
        // others.
        let Some(room) = self.room.checked_sub(length.max(packed.len())) else {
            let most = MAX_UNPACKED >> 20;
            return Err(format!("its models are larger than {most} MiB together"));
        };
        self.room = room;
        if length > SMALL && length / MAX_RATIO > packed.len() {
            let message = format!("it has more than {MAX_RATIO} times its compressed size");
            return Ok(Err(message));
        }
        Ok(unpack(packed, length, entry))
    }
}

fn unpack(packed: &[u8], length: usize, entry: &Entry) -> Result<Vec<u8>, String> {
    let bytes = match entry.method {
        CompressionMethod::STORE => packed.to_vec(),
        // At most the declared size, which is within the limits.
        CompressionMethod::DEFLATE => {
            miniz_oxide::inflate::decompress_to_vec_with_limit(packed, length)
                .map_err(|_| "it is damaged: its length differs from the declared length")?
        }
        _ => return Err("its compression method is not `deflate`".to_owned()),
    };
    if bytes.len() != length || rawzip::crc32(&bytes) != entry.checksum {
        return Err("it is damaged: its checksum differs".to_owned());
    }
    Ok(bytes)
}

fn damaged(error: &rawzip::Error) -> String {
    format!("it is damaged: {}", error.to_string().to_lowercase())
}
