//! Cases, and the counts of those that ran and were skipped.

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

/// The counts of the cases of this process.
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
    // A case that panicked cannot leave the counts inconsistent.
    let tally = TALLY.lock();
    look(&mut tally.unwrap_or_else(std::sync::PoisonError::into_inner))
}

impl Case {
    /// Begins a case. `name` is the name of the test.
    #[must_use]
    pub fn begin(name: &'static str) -> Self {
        tally(|tally| {
            tally.running += 1;
            tally.ran += 1;
        });
        Self { name }
    }

    /// Skips the case, and prints the reason.
    ///
    /// # Panics
    ///
    /// `CI` is `true`: no case may be skipped there.
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

    /// Returns Python with these modules, or skips the case.
    #[must_use]
    pub fn python(&self, modules: &[&str]) -> Option<Python> {
        let found = Python::find(modules);
        found.map_err(|reason| self.skip(&reason)).ok()
    }

    /// Returns moto's server, or skips the case.
    #[must_use]
    pub fn moto(&self) -> Option<&'static Moto> {
        self.python(&["moto.server"])
            .map(|python| Moto::start(&python))
    }

    /// Returns curl, or skips the case.
    #[must_use]
    pub fn curl(&self) -> Option<Curl> {
        Curl::find().map_err(|reason| self.skip(&reason)).ok()
    }

    /// Returns Perl with RPC::XML, or skips the case.
    #[must_use]
    pub fn perl(&self) -> Option<Script> {
        Script::perl().map_err(|reason| self.skip(&reason)).ok()
    }

    /// Returns Node with its `xmlrpc`, or skips the case.
    #[must_use]
    pub fn node(&self) -> Option<Script> {
        Script::node().map_err(|reason| self.skip(&reason)).ok()
    }

    /// Returns nostr-tools in a Node process, or skips the case.
    #[must_use]
    pub fn nostr_tools(&self) -> Option<NostrTools> {
        NostrTools::start()
            .map_err(|reason| self.skip(&reason))
            .ok()
    }

    /// Returns Ruby with its `xmlrpc`, or skips the case.
    #[must_use]
    pub fn ruby(&self) -> Option<Script> {
        Script::ruby().map_err(|reason| self.skip(&reason)).ok()
    }

    /// Returns the program `xmlrpc` of xmlrpc-c, or skips the case.
    #[must_use]
    pub fn xmlrpc_c(&self) -> Option<XmlRpcC> {
        XmlRpcC::find().map_err(|reason| self.skip(&reason)).ok()
    }

    /// Returns a program of the system, or skips the case.
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

/// Waits until no case is running. Prints how many cases ran and how many were skipped.
pub fn summary() {
    let deadline = Instant::now() + Duration::from_secs(600);
    // A test may have started without having counted its case.
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

/// Writes a line that the test runner does not capture.
pub(crate) fn say(line: &str) {
    // A closed standard error is not a failure.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
