//! A temporary folder for callgrind's files.

use std::path::{Path, PathBuf};

pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new() -> std::io::Result<Self> {
        let name = format!("polywire-gate-{:010}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A file that cannot be removed stays in the system's folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
