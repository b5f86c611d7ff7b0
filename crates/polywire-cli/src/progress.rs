//! How far reading has come, for those who wait for it at a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use polywire::model::{Loader, Progress, Step};

/// Below this a bar would only flicker.
const PATIENCE: Duration = Duration::from_millis(300);

/// From so many bytes on it will take a while for sure.
const LONG: usize = 16 << 20;

/// Shows a bar on standard error while the loader works, when that is a terminal
/// and the model is a long one.
pub(crate) fn show(loader: &mut Loader) {
    let start = Instant::now();
    let mut bar: Option<Bar> = None;
    loader.on_progress(move |progress| {
        if bar.is_none() && (progress.bytes > LONG || start.elapsed() > PATIENCE) {
            bar = Bar::new();
        }
        if let Some(bar) = &bar {
            bar.tell(progress);
        }
    });
}

/// A bar that leaves nothing behind.
struct Bar(ProgressBar);

impl Bar {
    fn new() -> Option<Self> {
        let style = ProgressStyle::with_template("{msg} {bar:30} {bytes} of {total_bytes}").ok()?;
        let target = ProgressDrawTarget::stderr();
        let bar = ProgressBar::with_draw_target(None, target).with_style(style);
        Some(Self(bar))
    }

    fn tell(&self, progress: Progress<'_>) {
        let (done, files) = (progress.files_done, progress.files);
        self.0.set_message(match progress.step {
            Step::Read => format!("reading file {} of {files}", (done + 1).min(files)),
            Step::Join => "joining the files".to_owned(),
            _ => "checking the model".to_owned(),
        });
        self.0.set_length(progress.bytes as u64);
        self.0.set_position(progress.bytes_done as u64);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A bar for the bytes that a command has read. Shown if it takes a while, on a terminal alone.
pub(crate) struct Bytes {
    verb: &'static str,
    total: Option<u64>,
    done: u64,
    start: Instant,
    /// Whether a bar may be shown.
    wanted: bool,
    bar: Option<Bar>,
}

impl Bytes {
    /// `verb` says what is done with the bytes, of which there are `total` if that is known.
    pub(crate) fn new(verb: &'static str, total: Option<u64>, wanted: bool) -> Self {
        Self {
            verb,
            total,
            done: 0,
            start: Instant::now(),
            wanted,
            bar: None,
        }
    }

    pub(crate) fn advance(&mut self, bytes: u64) {
        self.done += bytes;
        if self.wanted && self.bar.is_none() && self.start.elapsed() > PATIENCE {
            self.bar = self.draw();
            self.wanted = self.bar.is_some();
        }
        if let Some(Bar(bar)) = &self.bar {
            bar.set_position(self.done);
        }
    }

    fn draw(&self) -> Option<Bar> {
        let template = match self.total {
            Some(_) => "{msg} {bar:30} {bytes} of {total_bytes}, {bytes_per_sec}",
            None => "{msg} {bytes}, {bytes_per_sec}",
        };
        let style = ProgressStyle::with_template(template).ok()?;
        let bar = ProgressBar::with_draw_target(self.total, ProgressDrawTarget::stderr());
        bar.set_message(self.verb);
        Some(Bar(bar.with_style(style)))
    }

    /// Takes the bar away while something else is written to standard error.
    pub(crate) fn pause(&self, write: impl FnOnce()) {
        match &self.bar {
            Some(Bar(bar)) => bar.suspend(write),
            None => write(),
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&mut self) {
        self.bar = None;
    }
}
