//! Files to a model. The only file of this crate that reads the disk.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::assemble::assemble;
use crate::ast;
use crate::bundled::Bundled;
use crate::diagnostic::{Diagnostic, ModelError, Problem, Problems};
use crate::fragment::Fragment;
use crate::idl;
use crate::model::Model;
use crate::source::{MAX_FILE_BYTES, SourceLocation, Sources};
use crate::validate::validate;

/// Collects the files of a model and assembles them.
///
/// `.smithy` files are IDL, `.json` files are AST. Files that can't be read are
/// reported by [`assemble`](Self::assemble), with all that is wrong in the
/// others.
///
/// # Examples
///
/// ```
/// use polywire_model::Loader;
///
/// let mut loader = Loader::new();
/// loader.add_text("city.smithy", "$version: \"2\"\nnamespace a\nstructure City {}\n");
/// loader.add_text("apply.smithy", "$version: \"2\"\nnamespace b\napply a#City @sensitive\n");
/// let assembled = loader.assemble().unwrap();
/// assert!(assembled.model.get("a#City").unwrap().traits().is_sensitive());
/// assert!(assembled.warnings.is_empty());
///
/// let error = Loader::new().add_text("x.smithy", "$version: \"2\"\nnamespace").assemble().unwrap_err();
/// assert!(error.to_string().contains("x.smithy:2:10"));
/// ```
#[derive(Debug, Default)]
pub struct Loader {
    sources: Sources,
    /// Files that were found in folders, not asked for by name.
    found: HashSet<usize>,
    unreadable: Vec<Problem>,
}

/// A model, and what its author may want to know about it.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// The model.
    pub model: Model,
    /// Findings that are no errors.
    pub warnings: Vec<Diagnostic>,
    /// Findings that the model suppresses, with `@suppress` or with the metadata
    /// `suppressions`; the first thousand.
    pub suppressed: Vec<Diagnostic>,
}

/// How deep folders are searched; it ends a walk around links, too.
const MAX_FOLDER_DEPTH: usize = 32;

impl Loader {
    /// A loader without files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file from the disk.
    pub fn add_file(&mut self, path: impl AsRef<Path>) -> &mut Self {
        let path = path.as_ref();
        match read_text(path) {
            Ok(text) => {
                self.sources
                    .add(&path.display().to_string(), Arc::from(text));
            }
            Err(message) => self.unreadable(path, &message),
        }
        self
    }

    /// Adds a text under a name, which says by its ending what it holds; text
    /// that starts with a brace is JSON under any name.
    pub fn add_text(&mut self, name: &str, text: impl Into<Arc<str>>) -> &mut Self {
        let text = text.into();
        if text.len() > MAX_FILE_BYTES {
            self.unreadable(Path::new(name), &too_large());
        } else {
            self.sources.add(name, text);
        }
        self
    }

    /// Adds every `.smithy` and `.json` file of a folder and the folders in it,
    /// sorted by path. JSON files without the key `smithy` are other programs'
    /// files, and passed over.
    pub fn add_dir(&mut self, path: impl AsRef<Path>) -> &mut Self {
        let mut files = Vec::new();
        self.find_files(path.as_ref(), 0, &mut files);
        files.sort();
        for file in files {
            let index = self.sources.files().len();
            self.add_file(file);
            // A file that can't be read has no index.
            if self.sources.files().len() > index {
                self.found.insert(index);
            }
        }
        self
    }

    fn find_files(&mut self, folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
        if depth > MAX_FOLDER_DEPTH {
            self.unreadable(folder, "folders nest too deeply, or links lead around");
            return;
        }
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.unreadable(folder, &error.to_string()),
        };
        for entry in entries {
            match entry.map(|entry| entry.path()) {
                Ok(path) if path.is_dir() => self.find_files(&path, depth + 1, files),
                Ok(path) if is_model_file(&path) => files.push(path),
                Ok(_) => {}
                Err(error) => self.unreadable(folder, &error.to_string()),
            }
        }
    }

    #[cold]
    fn unreadable(&mut self, path: &Path, message: &str) {
        let message = format!("`{}` can't be read: {message}", path.display());
        self.unreadable
            .push(Problem::error("Unreadable", SourceLocation::NONE, message));
    }

    /// Reads, joins and checks all files. The loader keeps them.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the files, as far as it was found: syntax
    /// errors don't hide the errors of other files, but keep the model as a
    /// whole from being checked.
    // The error is made once a run, for people: its size doesn't matter.
    pub fn assemble(&mut self) -> Result<Assembled, ModelError> {
        let mut problems = Problems::default();
        for problem in &self.unreadable {
            problems.push(problem.clone());
        }
        let fragments = self.read_all(&mut problems);
        let has_syntax_errors = problems.has_errors();
        let (shapes, index, metadata) = assemble(fragments, Some(Bundled::get()), &mut problems);
        let model = Model::new(shapes, index, metadata, self.sources.clone());
        // After a syntax error half of the shapes may be missing: what would be
        // said about the other half is noise.
        if !has_syntax_errors {
            validate(&model, &mut problems);
        }
        let failed = problems.has_errors();
        let suppressed = problems.take_suppressed(&self.sources);
        let diagnostics = problems.into_diagnostics(&self.sources);
        if failed {
            Err(ModelError::new(diagnostics))
        } else {
            Ok(Assembled {
                model,
                warnings: diagnostics,
                suppressed,
            })
        }
    }

    fn read_all(&self, problems: &mut Problems) -> Vec<Fragment> {
        let mut fragments = Vec::new();
        let mut trees = Vec::new();
        for (file, source) in self.sources.files().iter().enumerate() {
            let (name, text) = (source.name(), source.text());
            if name.ends_with(".json") || text.trim_start().starts_with('{') {
                let is_optional = self.found.contains(&file);
                fragments.push(ast::reader::read(text, file as u32, is_optional, problems));
            } else {
                trees.push(idl::parse(text, file as u32, problems));
            }
        }
        let lowered = idl::lower(trees, &fragments, Some(Bundled::get()), problems);
        fragments.extend(lowered);
        fragments
    }
}

fn is_model_file(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "smithy" || extension == "json")
}

fn read_text(path: &Path) -> Result<String, String> {
    let length = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if length > MAX_FILE_BYTES as u64 {
        return Err(too_large());
    }
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes)
        .map_err(|error| format!("byte {} is not UTF-8", error.utf8_error().valid_up_to()))
}

fn too_large() -> String {
    format!("it is larger than {} MiB", MAX_FILE_BYTES >> 20)
}
