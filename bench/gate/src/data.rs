//! The folder of the benchmark data.

use std::path::PathBuf;

/// The folder that contains `bench/xmlrpc`, `bench/smithy`, `models` and so on, as
/// `test_data` finds it.
#[derive(Clone, Debug)]
pub struct DataFolder {
    root: PathBuf,
}

impl DataFolder {
    /// The folder that the environment names, or the default.
    pub fn from_environment() -> Self {
        Self::at(test_data::data_folder())
    }

    /// A given folder.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The path of a file or folder of that name.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A file's bytes. They are leaked, so that closures can copy the reference and answers can
    /// borrow from them.
    pub fn read(&self, name: &str) -> Result<&'static [u8], String> {
        match std::fs::read(self.path(name)) {
            Ok(bytes) => Ok(bytes.leak()),
            Err(error) => Err(format!(
                "no data file {name} ({error}); POLYWIRE_DATA names its folder"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_there_and_names_what_is_not() {
        let folder = DataFolder::at(env!("CARGO_MANIFEST_DIR"));
        assert!(folder.read("Cargo.toml").is_ok());
        assert!(
            folder
                .read("none.xml")
                .unwrap_err()
                .starts_with("no data file none.xml")
        );
    }
}
