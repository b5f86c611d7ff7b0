//! The threads of a load, and how many calls are in flight.

use core_affinity::CoreId;

/// The layout of a load: a thread for the server and one for the clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Connections.
    pub(super) clients: u32,
    /// Calls in flight on each connection.
    pub(super) window: u32,
    one_core: bool,
}

impl Layout {
    /// The system chooses the processors.
    pub(super) const fn new(clients: u32, window: u32) -> Self {
        Self {
            clients,
            window,
            one_core: false,
        }
    }

    /// Both threads on one processor. With one call at a time only one of them has work, and waking
    /// another processor would be most of the measured time.
    pub(super) const fn on_one_core(mut self) -> Self {
        self.one_core = true;
        self
    }

    /// The layout in words, for the table.
    pub(super) fn words(&self) -> String {
        let (clients, window) = (self.clients, self.window);
        let cores = match self.one_core {
            true => "all on one processor",
            false => "on any processor",
        };
        format!(
            "layout: a thread for the server, a thread for {clients} connections of {window} calls \
             in flight each, {cores}; each thread has a current-thread runtime"
        )
    }

    /// Pins the calling thread, if the layout has one processor.
    pub(super) fn settle(&self) -> Result<(), String> {
        if !self.one_core {
            return Ok(());
        }
        let core = core_affinity::get_core_ids().and_then(|cores| cores.first().copied());
        let core: CoreId = core.ok_or("the processors cannot be listed")?;
        match core_affinity::set_for_current(core) {
            true => Ok(()),
            false => Err("the thread cannot be pinned to a processor".to_owned()),
        }
    }
}
