//! A report for tests.

use std::time::Duration;

use super::super::plan::{Load, Plan};
use super::{Generator, Latency, LoadReport, ProcessMemory, Report, Target, WarmUp};

impl Report {
    /// A report of one second with a thousand calls and no warnings.
    pub(in crate::bench) fn example() -> Self {
        let latency = Latency {
            min: 10.0,
            mean: 110.0,
            p50: 100.0,
            p90: 200.0,
            p99: 400.0,
            p99_9: 800.0,
            max: 1_000.0,
        };
        let second = Duration::from_secs(1);
        let plan = Plan {
            threads: 1,
            clients: 1,
            load: Load::Closed { concurrency: 1 },
            warm_up: Duration::ZERO,
            duration: second,
            deadline: second,
        };
        Self {
            success_rate: 1.0,
            format: super::FORMAT,
            calls_per_second: 1_000.0,
            asked_per_second: None,
            calls: 1_000,
            replies: 1_000,
            failed: 0,
            skipped_sends: 0,
            latency_us: latency,
            lateness_us: None,
            errors: Vec::new(),
            memory: ProcessMemory {
                client: None,
                server: None,
            },
            generator: Generator {
                busy: Some(0.5),
                waiting: Some(0.01),
                bottleneck: false,
            },
            measured_ms: 1_000.0,
            ended_early: false,
            warm_up: WarmUp {
                calls: 0,
                failed: 0,
            },
            target: Target {
                url: "tcp://127.0.0.1:9000".to_owned(),
                wire: "frames".to_owned(),
                operation: "Add".to_owned(),
            },
            load: LoadReport::of(&plan, None),
            seconds: Vec::new(),
            knee: None,
            thresholds: Vec::new(),
            warnings: Vec::new(),
            polywire: "0.1.0".to_owned(),
        }
    }
}
