//! Progress bars on terminals.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use polywire::model::{Loader, Progress, Step};

/// The delay before a bar is shown. Shorter operations would make it flicker.
const DELAY: Duration = Duration::from_millis(300);

/// The size in bytes from which a bar is shown immediately.
const LARGE: usize = 16 << 20;

/// Shows a bar on standard error while the loader works, if it is a terminal and the model is
/// large.
pub(crate) fn show(loader: &mut Loader) {
    let start = Instant::now();
    let mut bar: Option<Bar> = None;
    loader.on_progress(move |progress| {
        if bar.is_none() && (progress.bytes > LARGE || start.elapsed() > DELAY) {
            bar = Bar::new();
        }
        if let Some(bar) = &bar {
            bar.tell(progress);
        }
    });
}

/// A progress bar that is cleared on drop.
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

/// A progress bar for bytes that a command has read. It is shown after a delay, and only on a
/// terminal.
pub(crate) struct Bytes {
    verb: &'static str,
    total: Option<u64>,
    done: u64,
    start: Instant,
    /// Whether the bar may be shown.
    wanted: bool,
    bar: Option<Bar>,
}

impl Bytes {
    /// `verb` describes the operation. `total` is the number of bytes, if known.
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
        if self.wanted && self.bar.is_none() && self.start.elapsed() > DELAY {
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

    /// Hides the bar while other output is written to standard error.
    pub(crate) fn pause(&self, write: impl FnOnce()) {
        match &self.bar {
            Some(Bar(bar)) => bar.suspend(write),
            None => write(),
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&mut self) {
        self.bar = None;
    }
}
