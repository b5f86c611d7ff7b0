//! How much memory a process has, where the system tells.

use std::fs;

/// Resident memory of a process over a run, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Memory {
    /// When the measured time began.
    pub(super) begin: u64,
    /// At the end, or when it was last seen.
    pub(super) end: u64,
    /// The most that was seen since.
    pub(super) peak: u64,
}

/// Watches a process.
#[derive(Debug)]
pub(super) struct Watch {
    path: String,
    memory: Option<Memory>,
}

impl Watch {
    pub(super) fn own() -> Self {
        Self::of("self")
    }

    /// A process by its number.
    pub(super) fn process(pid: u32) -> Self {
        Self::of(&pid.to_string())
    }

    fn of(process: &str) -> Self {
        Self {
            path: format!("/proc/{process}/status"),
            memory: None,
        }
    }

    /// Looks; what was seen before is forgotten `anew`.
    pub(super) fn look(&mut self, anew: bool) {
        let Some(now) = self.resident() else {
            return;
        };
        self.memory = Some(match self.memory.filter(|_| !anew) {
            None => Memory {
                begin: now,
                end: now,
                peak: now,
            },
            Some(memory) => Memory {
                end: now,
                peak: memory.peak.max(now),
                ..memory
            },
        });
    }

    fn resident(&self) -> Option<u64> {
        resident(&fs::read_to_string(&self.path).ok()?)
    }

    pub(super) const fn memory(&self) -> Option<Memory> {
        self.memory
    }

    /// Whether there is anything to see.
    pub(super) fn sees(&self) -> bool {
        self.resident().is_some()
    }
}

/// Resident memory in bytes, of the file `status` of a process.
fn resident(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory() {
        let status = "Name:\tx\nVmHWM:\t  9000 kB\nVmRSS:\t    5632 kB\nThreads:\t1\n";
        assert_eq!(resident(status), Some(5_632 * 1_024));
        assert_eq!(resident("Name:\tkthreadd\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_own_process_is_seen() {
        let mut watch = Watch::own();
        assert!(watch.sees());
        watch.look(false);
        watch.look(false);
        let memory = watch.memory().unwrap();
        assert!(memory.peak >= memory.begin && memory.end > 0);
        assert!(!Watch::process(u32::MAX).sees());
    }
}
