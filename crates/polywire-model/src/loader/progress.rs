//! The progress of a loader.

use std::fmt;

/// The progress of [`Loader::assemble`](crate::Loader::assemble).
///
/// Passed to the function that [`Loader::on_progress`](crate::Loader::on_progress) sets: before
/// each file, and at the start of each later step.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress<'l> {
    /// The current step.
    pub step: Step,
    /// The file that is read next. `None` if all are read.
    pub file: Option<&'l str>,
    /// The number of files that have been read.
    pub files_done: usize,
    /// The number of files.
    pub files: usize,
    /// The size of the files that have been read, in bytes.
    pub bytes_done: usize,
    /// The size of all files, in bytes.
    pub bytes: usize,
}

/// The steps of assembling a model, in their order.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Step {
    /// The files are read, one by one. This takes about half of the time.
    Read,
    /// The shapes of all files are joined.
    Join,
    /// The model is checked.
    Check,
}

type Function = Box<dyn FnMut(Progress<'_>) + Send>;

/// The function that is called, if there is one.
#[derive(Default)]
pub(super) struct Observer(Option<Function>);

impl Observer {
    pub(super) fn new(function: impl FnMut(Progress<'_>) + Send + 'static) -> Self {
        Self(Some(Box::new(function)))
    }

    pub(super) fn tell(&mut self, progress: Progress<'_>) {
        if let Some(function) = &mut self.0 {
            function(progress);
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "set" } else { "none" })
    }
}
