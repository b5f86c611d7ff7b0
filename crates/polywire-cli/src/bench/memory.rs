//! The memory usage of processes, where the system provides it.

use std::fs;

/// Resident memory of a process during a run, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Memory {
    /// At the start of the measured time.
    pub(super) begin: u64,
    /// At the end of the run, or at the last successful sample.
    pub(super) end: u64,
    /// The maximum of all samples.
    pub(super) peak: u64,
}

/// Samples the memory of a process.
#[derive(Debug)]
pub(super) struct MemorySampler {
    path: String,
    memory: Option<Memory>,
}

impl MemorySampler {
    pub(super) fn own() -> Self {
        Self::of("self")
    }

    /// Watches a process by its ID.
    pub(super) fn process(pid: u32) -> Self {
        Self::of(&pid.to_string())
    }

    fn of(process: &str) -> Self {
        Self {
            path: format!("/proc/{process}/status"),
            memory: None,
        }
    }

    /// Takes a sample. `reset` discards earlier samples.
    pub(super) fn sample(&mut self, reset: bool) {
        let Some(now) = self.resident() else {
            return;
        };
        self.memory = Some(match self.memory.filter(|_| !reset) {
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

    /// Whether the process exists and its memory can be read.
    pub(super) fn is_readable(&self) -> bool {
        self.resident().is_some()
    }
}

/// Parses the resident memory in bytes from the `status` file of a process.
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
    fn reads_own_process() {
        let mut watch = MemorySampler::own();
        assert!(watch.is_readable());
        watch.sample(false);
        watch.sample(false);
        let memory = watch.memory().unwrap();
        assert!(memory.peak >= memory.begin && memory.end > 0);
        assert!(!MemorySampler::process(u32::MAX).is_readable());
    }
}
