//! The loader: reads files, folders and JARs into a model.

mod content;
mod files;
#[cfg(feature = "jar")]
mod jar;
mod progress;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::assemble::assemble;
use crate::ast;
use crate::bundled::bundled;
use crate::diagnostic::{Diagnostic, ModelError, Problem, Problems};
use crate::fragment::Fragment;
use crate::idl;
use crate::model::Model;
use crate::severity::Severity;
use crate::source::{MAX_FILE_BYTES, Sources};
use crate::validate::validate;

use self::progress::Observer;
pub use self::progress::{Progress, Step};

/// Collects the files of a model and assembles them.
///
/// A model can consist of files in IDL (`.smithy`) and JSON AST (`.json`), folders of them, and
/// JARs, in any order. A file that is added twice is read once, even under different paths.
/// [`assemble`](Self::assemble) reports files that cannot be read, together with all other errors.
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
    /// JSON files that were found in folders: they are skipped if they are not models.
    optional: HashSet<usize>,
    /// The index of each file on disk, if it has one.
    added: HashMap<PathBuf, Option<usize>>,
    /// Findings about files that were added.
    unreadable: Vec<Problem>,
    denies_unknown_traits: bool,
    observer: Observer,
}

/// A model and the findings about it.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The model.
    pub model: Model,
    /// The findings below the severity error.
    pub warnings: Vec<Diagnostic>,
    /// Findings that the model suppresses, with `@suppress` or with the metadata
    /// `suppressions`; the first 1000.
    pub suppressed: Vec<Diagnostic>,
}

impl Loader {
    /// A loader without files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a path: a folder as by [`add_dir`](Self::add_dir), a file as by
    /// [`add_file`](Self::add_file).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use polywire_model::Loader;
    ///
    /// let mut loader = Loader::new();
    /// loader.add_path("model").add_path("lib/smithy-aws-traits.jar");
    /// let model = loader.assemble()?.model;
    /// # Ok::<(), polywire_model::ModelError>(())
    /// ```
    pub fn add_path(&mut self, path: impl AsRef<Path>) -> &mut Self {
        let path = path.as_ref();
        if files::is_folder(path) {
            self.add_dir(path)
        } else {
            self.add_file(path)
        }
    }

    /// Adds a file: IDL, JSON AST or a JAR with models. The contents decide which.
    pub fn add_file(&mut self, path: impl AsRef<Path>) -> &mut Self {
        self.add_from_disk(path.as_ref(), false);
        self
    }

    /// Adds every `.smithy` and `.json` file of a folder and its subfolders, sorted by path. JSON
    /// files without the key `smithy` belong to other programs and are skipped, as are JARs. A
    /// folder without any model is an error.
    ///
    /// Symbolic links are followed to files and folders within the folder. A model
    /// file that is a link out of it, or that is not a regular file, is an error. A
    /// folder that is a link out of it is a warning and is not searched.
    pub fn add_dir(&mut self, path: impl AsRef<Path>) -> &mut Self {
        let path = path.as_ref();
        let problems = self.unreadable.len();
        let files = files::find(path, &mut self.unreadable);
        let mut found = self.unreadable[problems..].iter();
        let has_error = found.any(|problem| problem.severity == Severity::Error);
        if files.is_empty() && !has_error {
            let problem = files::unreadable(path.display(), "the folder has no model")
                .expected("files with the extension `.smithy` or `.json`");
            self.unreadable.push(problem);
        }
        for file in files {
            self.add_from_disk(&file, true);
        }
        self
    }

    /// Adds the models of a JAR, or of a ZIP archive with the same layout: the files that
    /// `META-INF/smithy/manifest` lists, or without a manifest every `.smithy` and `.json` file
    /// below `META-INF/smithy`. A file that is not an archive is an error. A JAR without models is
    /// a warning.
    ///
    /// Locations in findings have names such as `lib/traits.jar!/META-INF/smithy/traits.smithy`.
    /// The models of one JAR can have 256 MiB together, and each a hundred times its compressed
    /// size.
    ///
    /// Without the feature `jar` of this crate every JAR is an error.
    pub fn add_jar(&mut self, path: impl AsRef<Path>) -> &mut Self {
        let path = path.as_ref();
        if self.is_new(path, false) {
            match files::read(path) {
                Ok(bytes) => self.add_archive(&path.display().to_string(), &bytes),
                Err(problem) => self.unreadable.push(*problem),
            }
        }
        self
    }

    /// Adds the contents of a file under a name: IDL, JSON AST or a JAR, as by
    /// [`add_file`](Self::add_file).
    ///
    /// # Examples
    ///
    /// ```
    /// use polywire_model::Loader;
    ///
    /// let error = Loader::new().add_bytes("model.smithy", b"%PDF-1.7").assemble().unwrap_err();
    /// assert!(error.to_string().contains("`model.smithy` cannot be read: it is a PDF document"));
    /// ```
    pub fn add_bytes(&mut self, name: &str, bytes: impl Into<Vec<u8>>) -> &mut Self {
        self.add_content(name, bytes.into(), false);
        self
    }

    /// Adds a text under a name, whose extension is that of the format. Text that starts with a
    /// brace is JSON under any name.
    pub fn add_text(&mut self, name: &str, text: impl Into<Arc<str>>) -> &mut Self {
        let text = text.into();
        if text.len() > MAX_FILE_BYTES {
            self.unreadable.push(content::too_large(name));
        } else {
            self.sources.add(name, text);
        }
        self
    }

    /// Whether unknown traits are errors. By default they are warnings, and the traits are kept.
    ///
    /// # Examples
    ///
    /// ```
    /// use polywire_model::Loader;
    ///
    /// let text = "$version: \"2\"\nnamespace a\n@other.traits#color(\"red\")\nstring S\n";
    /// let mut loader = Loader::new();
    /// loader.add_text("a.smithy", text);
    /// assert_eq!(loader.assemble().unwrap().warnings.len(), 1);
    /// assert!(loader.deny_unknown_traits(true).assemble().is_err());
    /// ```
    pub fn deny_unknown_traits(&mut self, deny: bool) -> &mut Self {
        self.denies_unknown_traits = deny;
        self
    }

    /// Sets a function that reports the progress of [`assemble`](Self::assemble). It is called
    /// before each file is read, and before the model is joined and checked. It replaces an earlier
    /// one.
    ///
    /// # Examples
    ///
    /// ```
    /// use polywire_model::Loader;
    ///
    /// let mut loader = Loader::new();
    /// loader.add_text("a.smithy", "$version: \"2\"\nnamespace a\nstring S\n");
    /// loader.on_progress(|progress| {
    ///     eprintln!("{} of {} bytes", progress.bytes_done, progress.bytes);
    /// });
    /// loader.assemble().unwrap();
    /// ```
    pub fn on_progress(
        &mut self,
        function: impl FnMut(Progress<'_>) + Send + 'static,
    ) -> &mut Self {
        self.observer = Observer::new(function);
        self
    }

    /// Reads, joins and checks all files. The loader keeps them.
    ///
    /// # Errors
    ///
    /// All errors in the files. After a syntax error in one file, other files are still read, but
    /// the model as a whole is not checked.
    // The error is created once, so its size does not matter.
    pub fn assemble(&mut self) -> Result<Assembly, ModelError> {
        let mut problems = Problems::default();
        problems.deny_unknown_traits(self.denies_unknown_traits);
        for problem in &self.unreadable {
            problems.push(problem.clone());
        }
        let files = self.sources.files();
        let bytes = files.iter().map(|file| file.text().len()).sum();
        let fragments = self.read_all(bytes, &mut problems);
        let has_syntax_errors = problems.has_errors();
        self.report_step(Step::Join, bytes);
        let (shapes, index, metadata) = assemble(fragments, Some(bundled()), &mut problems);
        let model = Model::new(shapes, index, metadata, self.sources.clone(), bundled());
        // After a syntax error many shapes may be missing, and findings about the others would be
        // misleading.
        if !has_syntax_errors {
            self.report_step(Step::Check, bytes);
            validate(&model, &mut problems);
        }
        let failed = problems.has_errors();
        let suppressed = problems.take_suppressed(&self.sources);
        let diagnostics = problems.into_diagnostics(&self.sources);
        if failed {
            Err(ModelError::new(diagnostics))
        } else {
            Ok(Assembly {
                model,
                warnings: diagnostics,
                suppressed,
            })
        }
    }

    fn add_from_disk(&mut self, path: &Path, is_optional: bool) {
        if self.is_new(path, is_optional) {
            let index = self.sources.files().len();
            match files::read(path) {
                Ok(bytes) => self.add_content(&path.display().to_string(), bytes, is_optional),
                Err(problem) => self.unreadable.push(*problem),
            }
            if let Some(identity) = files::identity(path) {
                let added = self.sources.files().len() > index;
                self.added.insert(identity, added.then_some(index));
            }
        }
    }

    /// Whether a file was not added yet. A file that was found in a folder and is now added by name
    /// must be a model.
    fn is_new(&mut self, path: &Path, is_optional: bool) -> bool {
        let Some(identity) = files::identity(path) else {
            return true;
        };
        match self.added.get(&identity) {
            None => {
                self.added.insert(identity, None);
                true
            }
            Some(index) => {
                if let Some(index) = index.filter(|_| !is_optional) {
                    self.optional.remove(&index);
                }
                false
            }
        }
    }

    fn add_content(&mut self, name: &str, bytes: Vec<u8>, is_optional: bool) {
        if !is_optional && content::is_archive(name, &bytes) {
            self.add_archive(name, &bytes);
        } else {
            self.add_model(name, bytes, is_optional);
        }
    }

    fn add_model(&mut self, name: &str, bytes: Vec<u8>, is_optional: bool) {
        match content::text(name, bytes) {
            Ok(text) => {
                let index = self.sources.add(name, Arc::from(text));
                if is_optional {
                    self.optional.insert(index as usize);
                }
            }
            Err(problem) => self.unreadable.push(*problem),
        }
    }

    #[cfg(feature = "jar")]
    fn add_archive(&mut self, name: &str, bytes: &[u8]) {
        if bytes.len() > MAX_FILE_BYTES {
            self.unreadable.push(content::too_large(name));
            return;
        }
        let models = match jar::read(bytes) {
            Ok(models) => models,
            Err(message) => return self.unreadable.push(files::unreadable(name, &message)),
        };
        if models.is_empty() {
            // Only a warning: users often add all JARs of a folder.
            let message = format!("`{name}` has no model");
            let problem = files::without_place(crate::rules::NO_MODEL, message)
                .expected("files below `META-INF/smithy` that its manifest lists");
            self.unreadable.push(problem);
        }
        for model in models {
            let name = format!("{name}!/{}", model.path);
            match model.bytes {
                Ok(bytes) => self.add_model(&name, bytes, !model.is_listed),
                Err(message) => self.unreadable.push(files::unreadable(name, &message)),
            }
        }
    }

    #[cfg(not(feature = "jar"))]
    fn add_archive(&mut self, name: &str, _bytes: &[u8]) {
        let problem = files::unreadable(name, "this program was built without support for JARs")
            .hint("build it with the feature `jar` of polywire-model");
        self.unreadable.push(problem);
    }

    fn read_all(&mut self, bytes: usize, problems: &mut Problems) -> Vec<Fragment> {
        let mut fragments = Vec::new();
        let mut trees = Vec::new();
        let mut bytes_done = 0;
        for (file, source) in self.sources.files().iter().enumerate() {
            let (name, text) = (source.name(), source.text());
            self.observer.tell(Progress {
                step: Step::Read,
                file: Some(name),
                files_done: file,
                files: self.sources.files().len(),
                bytes_done,
                bytes,
            });
            bytes_done += text.len();
            if name.ends_with(".json") || text.trim_start().starts_with('{') {
                let is_optional = self.optional.contains(&file);
                fragments.push(ast::reader::read(text, file as u32, is_optional, problems));
            } else {
                trees.push(idl::parse(text, file as u32, problems));
            }
        }
        let lowered = idl::lower(trees, &fragments, Some(bundled()), problems);
        fragments.extend(lowered);
        fragments
    }

    /// Reports a step after all files are read.
    fn report_step(&mut self, step: Step, bytes: usize) {
        let files = self.sources.files().len();
        self.observer.tell(Progress {
            step,
            file: None,
            files_done: files,
            files,
            bytes_done: bytes,
            bytes,
        });
    }
}
