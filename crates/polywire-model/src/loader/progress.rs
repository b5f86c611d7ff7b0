//! How far a loader is, for those who show it.

use std::fmt;

/// How far [`Loader::assemble`](crate::Loader::assemble) is.
///
/// Given to the function that [`Loader::on_progress`](crate::Loader::on_progress)
/// sets: before each file, and at the start of each later step.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress<'l> {
    /// What is being done.
    pub step: Step,
    /// The file that is read next; `None` when all are read.
    pub file: Option<&'l str>,
    /// How many files are read.
    pub files_done: usize,
    /// How many files there are.
    pub files: usize,
    /// How many bytes the files hold that are read.
    pub bytes_done: usize,
    /// How many bytes all files hold.
    pub bytes: usize,
}

/// The steps of assembling a model, in their order.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Step {
    /// The files are read, one by one: about half of the time.
    Read,
    /// The shapes of all files are joined.
    Join,
    /// The model is checked.
    Check,
}

type Function = Box<dyn FnMut(Progress<'_>) + Send>;

/// The function that is told, if there is one.
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
