//! Names of servers in this process.
//!
//! A connection to a server of the same process is a pair of in-memory byte streams. Frames go over it as over a
//! socket.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::io;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use tokio::io::DuplexStream;
use tokio::sync::Notify;

use crate::connect::{PROCESS_NAME, is_process_name};

/// The listeners of this process, by name.
static NAMES: LazyLock<Mutex<HashMap<Box<str>, Arc<Backlog>>>> = LazyLock::new(Mutex::default);

/// Maximum number of connections that wait to be accepted, for one name.
const MAX_BACKLOG: usize = 1_024;

/// Capacity of the stream in each direction, in bytes. About as much as the buffers of a socket.
const BUFFER: usize = 256 << 10;

/// Connections that wait to be accepted.
#[derive(Debug, Default)]
struct Backlog {
    waiting: Mutex<VecDeque<DuplexStream>>,
    arrived: Notify,
}

/// A listener on a name. The name is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct InprocListener {
    name: Box<str>,
    backlog: Arc<Backlog>,
}

impl InprocListener {
    /// Takes a name.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if [`is_process_name`] is false, `AddrInUse` if another listener has the name.
    pub(crate) fn bind(name: &str) -> io::Result<Self> {
        if !is_process_name(name) {
            let message = format!("`{name}` is not a name: {PROCESS_NAME}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        match lock(&NAMES).entry(name.into()) {
            Entry::Occupied(_) => {
                let message = format!("inproc://{name}: a server of this process has this name");
                Err(io::Error::new(io::ErrorKind::AddrInUse, message))
            }
            Entry::Vacant(entry) => {
                let backlog = Arc::clone(entry.insert(Arc::default()));
                let name = name.into();
                Ok(Self { name, backlog })
            }
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Waits for the next connection.
    pub(crate) async fn accept(&self) -> DuplexStream {
        loop {
            // Created before the check, so that a connection in between is not missed.
            let arrived = self.backlog.arrived.notified();
            match self.next() {
                Some(stream) => return stream,
                None => arrived.await,
            }
        }
    }

    /// Takes a connection out of the backlog.
    pub(crate) fn next(&self) -> Option<DuplexStream> {
        lock(&self.backlog.waiting).pop_front()
    }

    /// Frees the name. Connections in the backlog stay there.
    pub(crate) fn close(&self) {
        let mut names = lock(&NAMES);
        // Another server may have bound the name since.
        let is_own = |backlog: &Arc<Backlog>| Arc::ptr_eq(backlog, &self.backlog);
        if names.get(&self.name).is_some_and(is_own) {
            names.remove(&self.name);
        }
    }
}

impl Drop for InprocListener {
    fn drop(&mut self) {
        self.close();
    }
}

/// Connects to the server of a name.
///
/// # Errors
///
/// `ConnectionRefused` if no server has the name, or its backlog is full.
pub(crate) fn connect(name: &str) -> io::Result<DuplexStream> {
    let refused = |message: &str| Err(io::Error::new(io::ErrorKind::ConnectionRefused, message));
    let Some(backlog) = lock(&NAMES).get(name).cloned() else {
        return refused("no server of this process has this name");
    };
    let mut waiting = lock(&backlog.waiting);
    if waiting.len() >= MAX_BACKLOG {
        return refused("the server takes no more connections at present");
    }
    let (client, server) = tokio::io::duplex(BUFFER);
    waiting.push_back(server);
    drop(waiting);
    backlog.arrived.notify_one();
    Ok(client)
}

/// Ignores poisoning: each critical section changes one value in one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
