//! What the command line says of a run.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ValueEnum, value_parser};

use super::expected::Expectation;
use super::plan::{Load, Plan};
use super::schedule::Schedule;
use super::threshold::Threshold;
use super::words::rate;
use crate::Failure;
use crate::call::{ServiceArguments, seconds};
use crate::output::Overwrite;

/// Call a service again and again, and measure: over any wire, in a closed or an open loop.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// The service: tcp://HOST:PORT, unix:///SOCKET or udp://HOST:PORT over frames; http://,
    /// https://, http+unix://, scgi:// or scgi+unix:// over a protocol of HTTP, as for
    /// `polywire call`. With --protocol unix:// is HTTP.
    #[arg(required_unless_present = "json_schema")]
    pub(super) url: Option<String>,
    /// The operation, or a method without a model. By default the operation of the
    /// model that is easiest to call, with an input for it.
    pub(super) operation: Option<String>,
    /// The input as JSON; `-` reads it from standard input. For a method the list of
    /// its parameters, such as [1, 2].
    #[arg(value_name = "JSON")]
    pub(super) input: Option<String>,
    #[command(flatten)]
    pub(super) service: ServiceArguments,
    /// Call a method over XML-RPC, without a model, as `polywire xmlrpc` does.
    #[arg(long, conflicts_with_all = ["protocol", "files", "service"], requires = "operation")]
    pub(super) xmlrpc: bool,

    /// Threads, each with its own runtime.
    #[arg(long, short, value_name = "N", default_value_t = 1,
        value_parser = value_parser!(u32).range(1..=64), help_heading = "Load")]
    threads: u32,
    /// Clients of each thread, each with its own connection, or over HTTP its own
    /// pool of connections.
    #[arg(long, short, value_name = "N", default_value_t = 1,
        value_parser = value_parser!(u32).range(1..=100), help_heading = "Load")]
    clients: u32,
    /// Concurrency of a closed loop: the calls that each client has open, or with -i
    /// those that it sends every interval.
    #[arg(long = "concurrency", short = 'b', value_name = "N", default_value_t = 100,
        value_parser = value_parser!(u32).range(1..=1000), conflicts_with = "rate",
        help_heading = "Load")]
    concurrency: u32,
    /// Milliseconds between the batches of each client; 0 sends the next call as soon
    /// as one has ended.
    #[arg(long, short, value_name = "MS", default_value_t = 0,
        value_parser = value_parser!(u64).range(0..=100), conflicts_with = "rate",
        help_heading = "Load")]
    interval: u64,
    /// The measured time in milliseconds.
    #[arg(long, short, value_name = "MS", default_value_t = 3_000,
        value_parser = value_parser!(u64).range(100..=86_400_000), help_heading = "Load")]
    duration: u64,
    /// The time before it, in milliseconds: its calls do not count.
    #[arg(long, value_name = "MS", default_value_t = 500,
        value_parser = value_parser!(u64).range(0..=600_000), help_heading = "Load")]
    warm_up: u64,
    /// Open loop: send so many calls a second, by all threads together, however long
    /// they take. Latency counts from when a call was due.
    #[arg(long, value_name = "CALLS/S", value_parser = rate_argument, help_heading = "Load")]
    rate: Option<f64>,
    /// How the rate goes: const; step or ramp from --rate to --rate-to; burst, calls
    /// --burst at a time.
    #[arg(
        long,
        value_enum,
        default_value = "const",
        requires = "rate",
        help_heading = "Load"
    )]
    schedule: Form,
    /// Where step and ramp end.
    #[arg(long, value_name = "CALLS/S", value_parser = rate_argument, requires = "rate",
        help_heading = "Load")]
    rate_to: Option<f64>,
    /// The steps of step, each as long.
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = value_parser!(u32).range(2..=1000), requires = "rate",
        help_heading = "Load")]
    steps: u32,
    /// The calls of each burst.
    #[arg(long, value_name = "N", default_value_t = 100,
        value_parser = value_parser!(u32).range(1..=1_000_000), requires = "rate",
        help_heading = "Load")]
    burst: u32,
    /// Calls that a client may have open in an open loop; more are skipped.
    #[arg(long, value_name = "N", default_value_t = 10_000,
        value_parser = value_parser!(u32).range(1..=1_000_000), requires = "rate",
        help_heading = "Load")]
    most_open: u32,
    /// Seconds until a call is given up.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 10.0,
        allow_negative_numbers = true,
        help_heading = "Load"
    )]
    deadline: f64,
    /// Look for the highest rate that is sustained, from --rate on: with 95% of the
    /// calls asked for, 99.9% success, all --threshold kept, and without one for
    /// latency a p99 of at most 100 ms. Each step takes --duration.
    #[arg(long, requires = "rate", conflicts_with_all = ["rate_to", "hdr_log"],
        help_heading = "Load")]
    pub(super) find_knee: bool,

    /// The right reply, as JSON. By default all replies have to be as the first, if an
    /// operation is named.
    #[arg(long, value_name = "JSON", help_heading = "Report")]
    expect: Option<String>,
    /// Take any reply that can be read for right.
    #[arg(long, conflicts_with = "expect", help_heading = "Report")]
    any_reply: bool,
    /// Print the report as JSON.
    #[arg(long, help_heading = "Report")]
    pub(super) json: bool,
    /// Write the report as JSON to a file, too.
    #[arg(long, short, value_name = "FILE", help_heading = "Report")]
    pub(super) output: Option<PathBuf>,
    /// Print the JSON Schema of the report, and do nothing else.
    #[arg(long, help_heading = "Report")]
    pub(super) json_schema: bool,
    /// Write a histogram of latencies a second, as the tools of HdrHistogram read it.
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(super) hdr_log: Option<PathBuf>,
    #[command(flatten)]
    pub(super) overwrite: Overwrite,
    /// Print the report beside an older one.
    #[arg(long, value_name = "OLD.json", help_heading = "Report")]
    pub(super) compare: Option<PathBuf>,
    /// What has to be reached, or the exit status is 4: METRIC<VALUE, with <, <=, > or
    /// >=. See below.
    #[arg(long, value_name = "CONDITION", help_heading = "Report")]
    pub(super) threshold: Vec<Threshold>,
    /// The server's process, if it is on this machine: the report tells its memory.
    #[arg(long, value_name = "PID", help_heading = "Report")]
    pub(super) server_pid: Option<u32>,
    /// Show nothing while it runs.
    #[arg(long, short, help_heading = "Report")]
    pub(super) quiet: bool,
}

const AFTER_HELP: &str = "\
Closed loop: -t threads x -c clients x -b calls. Without -i each client has -b calls open all the \
time. With -i each client sends a batch of -b calls every -i ms, if it has no more than -b open: \
it never has more than twice -b, and what would go beyond is skipped and counted. So \
`-t 2 -c 2 -b 100 -i 2 -d 3000` asks for 2 x 2 x 100 calls every 2 ms, 200,000 calls/s, for 3 s.

Open loop: --rate. A server that falls behind is not spared, and the calls that it keeps waiting \
count as long as they wait.

Thresholds: rate, knee (calls/s), success_rate (0.999 or 99.9%), failed, skipped (counts), mean, \
p50, p90, p99, p99.9, max (500us, 5ms, 1s). With --compare a value such as 1.1x is so many times \
the older report's. --threshold 'p99<5ms' --threshold 'rate>=0.9x'

Exit status: 0 with a report; 2 when what was asked for makes no sense; 3 when the service cannot \
be reached, or no call at all had a right reply; 4 when a threshold was missed. Ctrl-C ends the \
run with a report of what was measured. A run in which every call fails, with a fault or a wrong \
reply, ends after a second.";

/// How the rate of an open loop goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Form {
    Const,
    Step,
    Ramp,
    Burst,
}

fn rate_argument(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (0.001..=1e8).contains(&rate) => Ok(rate),
        _ => Err("expected calls a second, from 0.001 to 100000000".to_owned()),
    }
}

impl Arguments {
    /// The run, and its schedule in words if it has one.
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

    /// The same run at a constant rate.
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

    /// Where the search for the knee begins.
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
            (Form::Step | Form::Ramp, Some(last)) => last,
            (Form::Step | Form::Ramp, None) => {
                return Err(Failure::usage("--schedule step and ramp need --rate-to"));
            }
            (_, Some(_)) => {
                let message = "--rate-to is for --schedule step and ramp";
                return Err(Failure::usage(message));
            }
            (_, None) => first,
        };
        if self.find_knee && self.schedule != Form::Const {
            let message = "--find-knee makes a schedule of its own: leave --schedule out";
            return Err(Failure::usage(message));
        }
        let to = rate(last);
        Ok(match self.schedule {
            Form::Const => (Schedule::constant(first), format!("{shown} calls/s")),
            Form::Ramp => (
                Schedule::ramp(first, last, warm_up, duration),
                format!("a ramp from {shown} to {to} calls/s"),
            ),
            Form::Step => (
                Schedule::steps((first, last), self.steps, warm_up, duration),
                format!("{} steps from {shown} to {to} calls/s", self.steps),
            ),
            Form::Burst => (
                Schedule::bursts(first, u64::from(self.burst)),
                format!("{shown} calls/s in bursts of {}", self.burst),
            ),
        })
    }

    pub(super) fn expectation(&self) -> Expectation<'_> {
        match &self.expect {
            _ if self.any_reply => Expectation::Any,
            // Without an operation it is unknown whether all replies are equal.
            None if self.operation.is_none() => Expectation::Any,
            Some(json) => Expectation::This(json),
            None => Expectation::First,
        }
    }
}
