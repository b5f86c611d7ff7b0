//! Who is where, and how much is in flight.

use core_affinity::CoreId;

/// The threads of a load, the same for each subject.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Threads of clients.
    pub(super) threads: u32,
    /// Connections of each.
    pub(super) clients: u32,
    /// Calls in flight on each.
    pub(super) window: u32,
    one_core: bool,
    one_thread: bool,
}

impl Layout {
    /// Two threads that the system puts where it likes.
    pub(super) const fn new(clients: u32, window: u32) -> Self {
        Self {
            threads: 1,
            clients,
            window,
            one_core: false,
            one_thread: false,
        }
    }

    /// The same clients on each of several threads.
    pub(super) const fn on_threads(mut self, threads: u32) -> Self {
        self.threads = threads;
        self
    }

    /// Two threads on one processor. With one call at a time only one of them ever has work, and
    /// what it takes to wake another processor would be most of what is measured.
    pub(super) const fn on_one_core(mut self) -> Self {
        self.one_core = true;
        self
    }

    /// The server on the thread of its clients.
    pub(super) const fn on_one_thread(mut self) -> Self {
        self.one_thread = true;
        self
    }

    pub(super) const fn is_one_thread(&self) -> bool {
        self.one_thread
    }

    pub(super) fn words(&self) -> String {
        let (clients, window) = (self.clients, self.window);
        let threads = match self.threads {
            1 => "a thread".to_owned(),
            threads => format!("{threads} threads, each"),
        };
        let cores = match self.one_core {
            true => "all on one processor",
            false => "on any processor",
        };
        if self.one_thread {
            return format!(
                "layout: a thread with a current-thread runtime for the server and for {clients} clients \
                 of {window} calls in flight each"
            );
        }
        format!(
            "layout: a thread for the server, {threads} for {clients} connections of {window} calls \
             in flight each, {cores}; each thread has a current-thread runtime"
        )
    }

    /// Puts the calling thread where it belongs.
    pub(super) fn settle(&self) -> Result<(), String> {
        if !self.one_core {
            return Ok(());
        }
        let core = core_affinity::get_core_ids().and_then(|cores| cores.first().copied());
        let core: CoreId = core.ok_or("the processors that there are cannot be listed")?;
        match core_affinity::set_for_current(core) {
            true => Ok(()),
            false => Err("the thread cannot be pinned to a processor".to_owned()),
        }
    }
}
