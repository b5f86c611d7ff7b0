//! The access keys of the store.

use std::path::Path;

use polywire::rpc::aws::Credentials;

/// Reads a file of access keys: a line `ACCESS_KEY_ID SECRET_ACCESS_KEY` for each, separated by white space. Empty lines
/// and lines that begin with `#` are ignored.
///
/// # Errors
///
/// The file cannot be read, or has a line that is not a key. The error has the number of the line, not its text.
pub fn read(path: &Path) -> Result<Vec<Credentials>, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
    let lines = text.lines().enumerate();
    let lines = lines.map(|(number, line)| (number + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let keys: Result<Vec<Credentials>, String> = lines
        .map(|(number, line)| {
            let mut words = line.split_whitespace();
            match (words.next(), words.next(), words.next()) {
                (Some(id), Some(secret), None) => Ok(Credentials::new(id, secret)),
                _ => Err(format!(
                    "{shown}, line {number}: expected ACCESS_KEY_ID SECRET_ACCESS_KEY"
                )),
            }
        })
        .collect();
    keys.and_then(|keys| match keys.is_empty() {
        false => Ok(keys),
        true => Err(format!("{shown}: expected at least one access key")),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn files() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys");
        std::fs::write(&path, "# of tests\nAKIDEXAMPLE  secret\n\nOTHER b\n").unwrap();
        let keys = read(&path).unwrap();
        assert_eq!((keys.len(), keys[0].access_key_id()), (2, "AKIDEXAMPLE"));
        for (text, expected) in [
            ("", "at least one"),
            ("a\n", "line 1"),
            ("a b\na b c", "line 2"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = read(&path).unwrap_err();
            assert!(
                error.contains(expected) && !error.contains("a b c"),
                "{error}"
            );
        }
    }
}
