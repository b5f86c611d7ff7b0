//! Cases: which ran, which were skipped and why.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::moto::Moto;
use crate::nostr_tools::NostrTools;
use crate::peer::{Curl, Python};
use crate::script::{Script, XmlRpcC};

/// A case that is running.
#[derive(Debug)]
pub struct Case {
    name: &'static str,
}

/// What has become of the cases of this process.
#[derive(Debug, Default)]
struct Tally {
    running: u32,
    ran: u32,
    skipped: u32,
}

static TALLY: Mutex<Tally> = Mutex::new(Tally {
    running: 0,
    ran: 0,
    skipped: 0,
});

fn tally<T>(look: impl FnOnce(&mut Tally) -> T) -> T {
    // A case that failed has left the counts as they should be.
    let tally = TALLY.lock();
    look(&mut tally.unwrap_or_else(std::sync::PoisonError::into_inner))
}

impl Case {
    /// Begins a case. The name is that of the test.
    #[must_use]
    pub fn begin(name: &'static str) -> Self {
        tally(|tally| {
            tally.running += 1;
            tally.ran += 1;
        });
        Self { name }
    }

    /// Says that the case cannot run here.
    ///
    /// # Panics
    ///
    /// `CI` is `true`: there nothing may be missing.
    pub fn skip(&self, reason: &str) {
        let line = format!("skipped: {}: {reason}", self.name);
        say(&line);
        tally(|tally| {
            tally.ran -= 1;
            tally.skipped += 1;
        });
        assert!(
            !std::env::var("CI").is_ok_and(|value| value == "true"),
            "{line}: tests/interop/setup installs what is needed"
        );
    }

    /// Python with these modules; otherwise the case is skipped.
    #[must_use]
    pub fn python(&self, modules: &[&str]) -> Option<Python> {
        let found = Python::find(modules);
        found.map_err(|reason| self.skip(&reason)).ok()
    }

    /// moto's server; otherwise the case is skipped.
    #[must_use]
    pub fn moto(&self) -> Option<&'static Moto> {
        self.python(&["moto.server"])
            .map(|python| Moto::start(&python))
    }

    /// curl; otherwise the case is skipped.
    #[must_use]
    pub fn curl(&self) -> Option<Curl> {
        Curl::find().map_err(|reason| self.skip(&reason)).ok()
    }

    /// Perl with RPC::XML; otherwise the case is skipped.
    #[must_use]
    pub fn perl(&self) -> Option<Script> {
        Script::perl().map_err(|reason| self.skip(&reason)).ok()
    }

    /// Node with its `xmlrpc`; otherwise the case is skipped.
    #[must_use]
    pub fn node(&self) -> Option<Script> {
        Script::node().map_err(|reason| self.skip(&reason)).ok()
    }

    /// nostr-tools in a process of Node; otherwise the case is skipped.
    #[must_use]
    pub fn nostr_tools(&self) -> Option<NostrTools> {
        NostrTools::start()
            .map_err(|reason| self.skip(&reason))
            .ok()
    }

    /// Ruby with its `xmlrpc`; otherwise the case is skipped.
    #[must_use]
    pub fn ruby(&self) -> Option<Script> {
        Script::ruby().map_err(|reason| self.skip(&reason)).ok()
    }

    /// The program `xmlrpc` of xmlrpc-c; otherwise the case is skipped.
    #[must_use]
    pub fn xmlrpc_c(&self) -> Option<XmlRpcC> {
        XmlRpcC::find().map_err(|reason| self.skip(&reason)).ok()
    }

    /// A program of the system; otherwise the case is skipped.
    #[must_use]
    pub fn program(&self, name: &str, option: &str) -> Option<PathBuf> {
        match std::process::Command::new(name).arg(option).output() {
            Ok(_) => Some(name.into()),
            Err(error) => {
                self.skip(&format!("{name}: {error}"));
                None
            }
        }
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        tally(|tally| tally.running -= 1);
    }
}

/// Waits until no case is running and says how many ran and how many were
/// skipped.
pub fn summary() {
    let deadline = Instant::now() + Duration::from_secs(600);
    // A test may have been started and not have said so yet.
    let mut quiet = 0;
    while quiet < 5 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
        quiet = if tally(|tally| tally.running == 0) {
            quiet + 1
        } else {
            0
        };
    }
    let (ran, skipped) = tally(|tally| (tally.ran, tally.skipped));
    say(&format!("interop: {ran} cases ran, {skipped} skipped"));
}

/// Writes a line that the test runner does not hold back.
pub(crate) fn say(line: &str) {
    // Nobody reading it is no reason to fail.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
