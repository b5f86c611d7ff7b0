//! What goes to the terminal, or to a pipe whose reader may be gone:
//! `println!` panics then.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use polywire::codec::json::{JsonEncoder, JsonProfile};
use polywire::schema::{Encode, Member, Value};

use crate::Failure;

/// Writes to standard output. Nobody reading it any more is no failure:
/// `polywire serve | head -1` has what it wants.
pub(crate) fn out(text: &str) -> Result<(), Failure> {
    write(io::stdout().lock(), text)
}

/// Writes a file.
pub(crate) fn file(path: &Path, text: &str) -> Result<(), Failure> {
    replace(path, text).map_err(|error| cannot_write(path, &error))
}

/// Writes a file below a folder; the folders on the way are made if need be.
pub(crate) fn file_below(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    let parent = path.parent().unwrap_or(folder);
    let written = fs::create_dir_all(parent).and_then(|()| replace(&path, text));
    written.map_err(|error| cannot_write(&path, &error))
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::transport(format!("`{}` can't be written: {error}", path.display()))
}

/// Writes a file whole or not at all: a reader finds the old one or the new one.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // What is no file cannot be replaced: `/dev/stdout`, a named pipe.
    let old = fs::metadata(path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        let mut open = fs::OpenOptions::new();
        return open.write(true).open(path)?.write_all(text.as_bytes());
    }
    // A link stays one; the file that it leads to is a new one.
    let path = match old {
        Some(_) => &fs::canonicalize(path)?,
        None => path,
    };
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    // Of this process only: two at once do not write into each other.
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = (|| {
        fs::write(&temporary, text)?;
        if let Some(old) = &old {
            fs::set_permissions(&temporary, old.permissions())?;
        }
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        // It may not be there; the error that counts is the first one.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Writes a line to standard error. What others have written may be in it, so
/// that nothing in it may tell the terminal what to do.
pub(crate) fn err(line: impl fmt::Display) {
    err_as_is(&harmless(&line.to_string()));
}

/// Writes a line to standard error that was made harmless before.
pub(crate) fn err_as_is(line: &str) {
    // In one piece, so that lines of several threads stay apart. There is no
    // other place to say that it failed.
    let _ = io::stderr()
        .lock()
        .write_all(format!("{line}\n").as_bytes());
}

/// Control characters by their numbers, but for those that lay out text.
pub(crate) fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() && !matches!(character, '\n' | '\t') {
            safe.extend(character.escape_unicode());
        } else {
            safe.push(character);
        }
    }
    safe
}

/// JSON without the controls that it may have as they are, U+007F to U+009F, which tell
/// some terminals what to do: they stand in strings alone, and are escaped there.
fn without_c1(json: String) -> String {
    let is_control = |character: char| matches!(character, '\u{7f}'..='\u{9f}');
    if !json.contains(is_control) {
        return json;
    }
    let mut safe = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        match is_control(character) {
            true => safe.push_str(&format!("\\u{:04x}", u32::from(character))),
            false => safe.push(character),
        }
    }
    safe
}

/// A value as JSON in one line: blobs as base64 and timestamps as RFC 3339, as everywhere in
/// this program.
pub(crate) fn json(value: &Value) -> Result<String, Failure> {
    json_of(value, Member::DOCUMENT)
}

/// The same of a value of a shape.
pub(crate) fn json_of(value: &Value, member: Member<'_>) -> Result<String, Failure> {
    let mut encoder = JsonEncoder::new(JsonProfile::HUMAN, Vec::new());
    value.encode(member, &mut encoder);
    let bytes = encoder.finish().map_err(Failure::transport)?;
    let text = String::from_utf8(bytes).map_err(Failure::transport)?;
    Ok(without_c1(text))
}

fn write(mut output: impl Write, text: &str) -> Result<(), Failure> {
    let written = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::transport(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn controls_are_shown() {
        assert_eq!(harmless("a\tö\nb"), "a\tö\nb");
        assert_eq!(
            harmless("\u{1b}[2J\u{7}\r\u{9b}x\u{7f}"),
            r"\u{1b}[2J\u{7}\u{d}\u{9b}x\u{7f}"
        );
    }

    #[test]
    fn files_are_written_whole() {
        let folder = std::env::temp_dir().join(format!("polywire-print-{}", std::process::id()));
        let path = folder.join("a/b/c.json");
        file_below(&folder, "a/b/c.json", "1").unwrap();
        file(&path, "2").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "2");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        // A file stands where a folder is needed, or the other way round.
        assert_eq!(file_below(&path, "d.json", "3").unwrap_err().code, 3);
        let failure = file(&folder, "3").unwrap_err();
        assert!(failure.message.contains("can't be written"));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_stays_what_it_is() {
        use std::os::unix::fs::symlink;

        let folder = std::env::temp_dir().join(format!("polywire-links-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (real, link) = (folder.join("real.json"), folder.join("link.json"));
        fs::write(&real, "1").unwrap();
        symlink(&real, &link).unwrap();
        file(&link, "2").unwrap();
        assert_eq!(fs::read_to_string(&real).unwrap(), "2");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let null = folder.join("null");
        symlink("/dev/null", &null).unwrap();
        file(&null, "3").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn only_a_lost_output_is_a_failure() {
        assert!(write(Broken(ErrorKind::BrokenPipe), "x").is_ok());
        let failure = write(Broken(ErrorKind::StorageFull), "x").unwrap_err();
        assert_eq!(failure.code, 3);
        assert!(failure.message.contains("standard output"));
    }
}
