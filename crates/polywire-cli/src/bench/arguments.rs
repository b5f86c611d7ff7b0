//! The arguments of `polywire bench`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ValueEnum, value_parser};

use super::numbers::rate;
use super::plan::{Load, Plan};
use super::reply::Expectation;
use super::schedule::Schedule;
use super::threshold::Threshold;
use crate::Failure;
use crate::call::{ServiceArguments, seconds};
use crate::output::Overwrite;

/// Measure the latency and throughput of a service, with a closed or an open loop
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// The URL of the service. Frames: tcp://HOST:PORT, unix:///SOCKET or udp://HOST:PORT. HTTP:
    /// http://, https://, http+unix://, scgi:// or scgi+unix://, as for `polywire call`. With
    /// --protocol, unix:// is for HTTP
    #[arg(required_unless_present = "json_schema")]
    pub(super) url: Option<String>,
    /// The operation, or a method without a model [default: the operation that is easiest to call,
    /// with an input for it]
    pub(super) operation: Option<String>,
    /// The input as JSON, or `-` for standard input. For methods, a list of parameters, such as [1,
    /// 2]
    #[arg(value_name = "JSON")]
    pub(super) input: Option<String>,
    #[command(flatten)]
    pub(super) service: ServiceArguments,
    /// Call a method over XML-RPC without a model, like `polywire xmlrpc`
    #[arg(long, conflicts_with_all = ["protocol", "files", "service"], requires = "operation")]
    pub(super) xmlrpc: bool,

    /// The number of threads, each with its own runtime
    #[arg(long, short, value_name = "N", default_value_t = 1,
        value_parser = value_parser!(u32).range(1..=64), help_heading = "Load")]
    threads: u32,
    /// The number of clients per thread, each with its own connection, or over HTTP its own pool
    #[arg(long, short, value_name = "N", default_value_t = 1,
        value_parser = value_parser!(u32).range(1..=100), help_heading = "Load")]
    clients: u32,
    /// Closed loop: the number of open calls per client, or with -i the number of calls per
    /// interval
    #[arg(long = "concurrency", short = 'b', value_name = "N", default_value_t = 100,
        value_parser = value_parser!(u32).range(1..=1000), conflicts_with = "rate",
        help_heading = "Load")]
    concurrency: u32,
    /// Closed loop: the interval between batches of a client, in milliseconds. 0 sends the next
    /// call as soon as one ends
    #[arg(long, short, value_name = "MS", default_value_t = 0,
        value_parser = value_parser!(u64).range(0..=100), conflicts_with = "rate",
        help_heading = "Load")]
    interval: u64,
    /// The duration of the measurement, in milliseconds
    #[arg(long, short, value_name = "MS", default_value_t = 3_000,
        value_parser = value_parser!(u64).range(100..=86_400_000), help_heading = "Load")]
    duration: u64,
    /// The duration of the warm-up, in milliseconds. Its calls are not measured
    #[arg(long, value_name = "MS", default_value_t = 500,
        value_parser = value_parser!(u64).range(0..=600_000), help_heading = "Load")]
    warm_up: u64,
    /// Open loop: send this many calls per second, in total, regardless of how long they take.
    /// Latency is measured from the scheduled time of a call
    #[arg(long, value_name = "CALLS/S", value_parser = rate_argument, help_heading = "Load")]
    rate: Option<f64>,
    /// Open loop: how the rate changes. const; step or ramp from --rate to --rate-to; burst of
    /// --burst calls
    #[arg(
        long,
        value_enum,
        default_value = "const",
        requires = "rate",
        help_heading = "Load"
    )]
    schedule: ScheduleKind,
    /// The last rate of step and ramp, in calls per second
    #[arg(long, value_name = "CALLS/S", value_parser = rate_argument, requires = "rate",
        help_heading = "Load")]
    rate_to: Option<f64>,
    /// The number of steps of step, all of the same length
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = value_parser!(u32).range(2..=1000), requires = "rate",
        help_heading = "Load")]
    steps: u32,
    /// The number of calls per burst
    #[arg(long, value_name = "N", default_value_t = 100,
        value_parser = value_parser!(u32).range(1..=1_000_000), requires = "rate",
        help_heading = "Load")]
    burst: u32,
    /// Open loop: the maximum number of open calls per client. Further calls are skipped
    #[arg(long, value_name = "N", default_value_t = 10_000,
        value_parser = value_parser!(u32).range(1..=1_000_000), requires = "rate",
        help_heading = "Load")]
    most_open: u32,
    /// The timeout of a call in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 10.0,
        allow_negative_numbers = true,
        help_heading = "Load"
    )]
    deadline: f64,
    /// Search for the highest sustained rate, starting with --rate. A rate is sustained if at least
    /// 95% of the requested calls get a reply, 99.9% of the calls succeed, and all --threshold
    /// conditions hold. Without a condition for latency, the p99 must be at most 100 ms. Each step
    /// takes --duration
    #[arg(long, requires = "rate", conflicts_with_all = ["rate_to", "hdr_log"],
        help_heading = "Load")]
    pub(super) find_knee: bool,

    /// The expected reply, as JSON [default: the first reply, if an operation is given]
    #[arg(long, value_name = "JSON", help_heading = "Report")]
    expect: Option<String>,
    /// Accept any valid reply
    #[arg(long, conflicts_with = "expect", help_heading = "Report")]
    any_reply: bool,
    /// Print the report as JSON
    #[arg(long, help_heading = "Report")]
    pub(super) json: bool,
    /// Write the report as JSON to this file
    #[arg(long, short, value_name = "FILE", help_heading = "Report")]
    pub(super) output: Option<PathBuf>,
    /// Print the JSON Schema of the report and exit
    #[arg(long, help_heading = "Report")]
    pub(super) json_schema: bool,
    /// Write a latency histogram per second to this file, in the log format of HdrHistogram
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(super) hdr_log: Option<PathBuf>,
    #[command(flatten)]
    pub(super) overwrite: Overwrite,
    /// Compare the report with an older one
    #[arg(long, value_name = "OLD.json", help_heading = "Report")]
    pub(super) compare: Option<PathBuf>,
    /// Exit with status 4 unless METRIC<VALUE holds, with <, <=, > or >=. Can be repeated. See
    /// below
    #[arg(long, value_name = "CONDITION", help_heading = "Report")]
    pub(super) threshold: Vec<Threshold>,
    /// The process ID of the server, to report its memory usage. Must be on this machine
    #[arg(long, value_name = "PID", help_heading = "Report")]
    pub(super) server_pid: Option<u32>,
    /// Do not show progress
    #[arg(long, short, help_heading = "Report")]
    pub(super) quiet: bool,
}

const AFTER_HELP: &str = "\
Closed loop: -t threads x -c clients x -b calls. Without -i, each client always has -b open calls. \
 With -i, each client sends a batch of -b calls every -i ms. A client never has more than twice -b \
open calls; calls beyond that are skipped and counted. For example, `-t 2 -c 2 -b 100 -i 2 -d 3000` \
sends 2 x 2 x 100 calls every 2 ms, which is 200,000 calls/s, for 3 s.

Open loop: --rate. Calls are sent on schedule even if the server falls behind, and their latency \
includes the time for which they were delayed.

Thresholds: rate, knee (calls/s), success_rate (0.999 or 99.9%), failed, skipped (counts), mean, \
p50, p90, p99, p99.9, max (500us, 5ms, 1s). With --compare, a value such as 1.1x is a multiple of \
the value in the older report. Example: --threshold 'p99<5ms' --threshold 'rate>=0.9x'

Exit status: 0 if there is a report; 2 for invalid arguments; 3 if the service cannot be reached or \
no call had an expected reply; 4 if a threshold was missed. Ctrl-C ends the run and prints a report. \
If every call fails with a fault or an unexpected reply, the run ends after one second.";

/// How the rate of an open loop changes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum ScheduleKind {
    Const,
    Step,
    Ramp,
    Burst,
}

fn rate_argument(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (0.001..=1e8).contains(&rate) => Ok(rate),
        _ => Err("expected calls per second, from 0.001 to 100000000".to_owned()),
    }
}

impl Arguments {
    /// Returns the run, and the description of its schedule, if it has one.
    pub(super) fn plan(&self) -> Result<(Plan, Option<String>), Failure> {
        let warm_up = Duration::from_millis(self.warm_up);
        let duration = Duration::from_millis(self.duration);
        let (load, words) = match self.rate {
            Some(first) => {
                let (schedule, words) = self.schedule(first, warm_up, duration)?;
                let most_open = self.most_open;
                let load = Load::Open {
                    schedule,
                    most_open,
                };
                (load, Some(words))
            }
            None if self.interval == 0 => {
                let concurrency = self.concurrency;
                (Load::Closed { concurrency }, None)
            }
            None => {
                let load = Load::Paced {
                    concurrency: self.concurrency,
                    interval: Duration::from_millis(self.interval),
                };
                (load, None)
            }
        };
        let plan = Plan {
            threads: self.threads,
            clients: self.clients,
            load,
            warm_up,
            duration,
            deadline: seconds(self.deadline)?,
        };
        Ok((plan, words))
    }

    /// Returns the same run at a constant rate.
    pub(super) fn plan_at(&self, asked: f64) -> Result<(Plan, Option<String>), Failure> {
        let (plan, _) = self.plan()?;
        let load = Load::Open {
            schedule: Schedule::constant(asked),
            most_open: self.most_open,
        };
        Ok((
            Plan { load, ..plan },
            Some(format!("{} calls/s", rate(asked))),
        ))
    }

    /// Returns the first rate of the search.
    pub(super) fn first_rate(&self) -> f64 {
        self.rate.unwrap_or(1_000.0)
    }

    fn schedule(
        &self,
        first: f64,
        warm_up: Duration,
        duration: Duration,
    ) -> Result<(Schedule, String), Failure> {
        let shown = rate(first);
        let last = match (self.schedule, self.rate_to) {
            (ScheduleKind::Step | ScheduleKind::Ramp, Some(last)) => last,
            (ScheduleKind::Step | ScheduleKind::Ramp, None) => {
                return Err(Failure::usage("--schedule step and ramp require --rate-to"));
            }
            (_, Some(_)) => {
                let message = "--rate-to requires --schedule step or ramp";
                return Err(Failure::usage(message));
            }
            (_, None) => first,
        };
        if self.find_knee && self.schedule != ScheduleKind::Const {
            let message = "--find-knee cannot be used with --schedule";
            return Err(Failure::usage(message));
        }
        let to = rate(last);
        Ok(match self.schedule {
            ScheduleKind::Const => (Schedule::constant(first), format!("{shown} calls/s")),
            ScheduleKind::Ramp => (
                Schedule::ramp(first, last, warm_up, duration),
                format!("a ramp from {shown} to {to} calls/s"),
            ),
            ScheduleKind::Step => (
                Schedule::steps((first, last), self.steps, warm_up, duration),
                format!("{} steps from {shown} to {to} calls/s", self.steps),
            ),
            ScheduleKind::Burst => (
                Schedule::bursts(first, u64::from(self.burst)),
                format!("{shown} calls/s in bursts of {}", self.burst),
            ),
        })
    }

    pub(super) fn expectation(&self) -> Expectation<'_> {
        match &self.expect {
            _ if self.any_reply => Expectation::Any,
            // Without an operation, replies may legitimately differ.
            None if self.operation.is_none() => Expectation::Any,
            Some(json) => Expectation::Json(json),
            None => Expectation::First,
        }
    }
}
