//! Recognizes the contents of files, and rejects those that are not models.

use crate::diagnostic::Problem;
use crate::rules;
use crate::source::{MAX_FILE_BYTES, SourceLocation};

use super::files::{BUILD_FILE, unreadable};

/// The first bytes of files that are often named by mistake.
const SIGNATURES: [(&[u8], &str); 8] = [
    (b"%PDF", "it is a PDF document"),
    (b"PK\x03\x04", "it is a ZIP archive"),
    (b"\x1f\x8b", "it is compressed by gzip"),
    (b"\x28\xb5\x2f\xfd", "it is compressed by zstd"),
    (b"\x7fELF", "it is a program"),
    (b"\x89PNG", "it is an image"),
    (b"\xca\xfe\xba\xbe", "it is a Java class"),
    (b"SQLite", "it is a database"),
];

const EXPECTED: &str = "a `.smithy` file, the JSON AST of a model, or a JAR that has them";

/// Whether a file is an archive: by the extension, because a JAR can start with any bytes, or by
/// the first bytes.
pub(super) fn is_archive(name: &str, bytes: &[u8]) -> bool {
    name.ends_with(".jar")
        || name.ends_with(".zip")
        || [b"PK\x03\x04", b"PK\x05\x06"]
            .iter()
            .any(|signature| bytes.starts_with(*signature))
}

/// The text of a model file.
pub(super) fn text(name: &str, bytes: Vec<u8>) -> Result<String, Box<Problem>> {
    if bytes.len() > MAX_FILE_BYTES {
        return Err(too_large(name).into());
    }
    if let Some(message) = signature(&bytes) {
        return Err(unreadable(name, message).expected(EXPECTED).into());
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let before = &error.as_bytes()[..offset];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let problem = unreadable(name, &format!("byte {offset} is not UTF-8"));
        problem.hint(format!("save it as UTF-8; the byte is in line {line}"))
    })?;
    if text.trim().is_empty() {
        // An empty IDL file is allowed: its author has not written it yet.
        return Err(if name.ends_with(".smithy") {
            let message = format!("`{name}` is empty");
            Problem::warning(rules::EMPTY_FILE, SourceLocation::NONE, message).into()
        } else {
            unreadable(name, "it is empty").expected(EXPECTED).into()
        });
    }
    if name.rsplit(['/', '\\']).next() == Some(BUILD_FILE) {
        let message = "it is the configuration of Smithy's build tool, and not a model";
        return Err(unreadable(name, message)
            .expected(EXPECTED)
            .hint("name the files and folders that its `sources` list")
            .into());
    }
    if !looks_like_model(name, &text) {
        let problem = unreadable(name, "it is not a Smithy model");
        return Err(problem.expected(EXPECTED).into());
    }
    Ok(text)
}

pub(super) fn too_large(name: &str) -> Problem {
    let message = format!("it is larger than {} MiB", MAX_FILE_BYTES >> 20);
    unreadable(name, &message)
}

fn signature(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Some("it is UTF-16 and must be UTF-8");
    }
    let known = SIGNATURES
        .iter()
        .find(|(signature, _)| bytes.starts_with(signature));
    if let Some((_, message)) = known {
        return Some(message);
    }
    let start = &bytes[..bytes.len().min(1024)];
    start.contains(&0).then_some("it is not text")
}

/// A file with another extension must look like a model, so that prose gives one finding and not a
/// hundred.
fn looks_like_model(name: &str, text: &str) -> bool {
    let starts = |line: &str| {
        let line = line.trim_start_matches('\u{feff}').trim_start();
        line.starts_with("$version") || line.starts_with("namespace ")
    };
    name.ends_with(".smithy")
        || name.ends_with(".json")
        || text
            .trim_start_matches('\u{feff}')
            .trim_start()
            .starts_with('{')
        || text.lines().any(starts)
}
