//! The calls that the double has answered.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use polywire_codec::json;
use polywire_protocol::Fault;
use polywire_schema::{Map, Operation, Timestamp, Value};

use super::stubs::Matcher;
use super::tagged;

/// How many calls are remembered.
const MOST: usize = 1_000;

/// How many bytes of JSON they take at most, about.
const MOST_BYTES: usize = 16 << 20;

/// How a call ended.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// The output as JSON.
    Output(Value),
    Fault(Fault),
    /// The connection ended, or the caller left: `close`, `reset`, `cancelled`.
    Connection(&'static str),
}

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct CallRecord {
    pub(crate) time: Timestamp,
    pub(crate) protocol: &'static str,
    /// The index of the operation.
    pub(crate) operation: u32,
    /// As JSON.
    pub(crate) input: Value,
    pub(crate) outcome: Outcome,
    pub(crate) duration: Duration,
}

impl CallRecord {
    /// The call as an object.
    pub(crate) fn to_value(&self, service: &str, operation: Operation<'_>) -> Value {
        let time = tagged::date_time(self.time).unwrap_or_default();
        // Whole microseconds: more digits say nothing.
        let millis = (self.duration.as_secs_f64() * 1e6).round() / 1e3;
        let mut map = Map::from_iter([
            ("time", time),
            ("protocol", Value::from(self.protocol)),
            ("service", Value::from(service)),
            ("operation", Value::from(operation.name())),
            ("input", self.input.clone()),
        ]);
        let (name, outcome) = match &self.outcome {
            Outcome::Output(output) => ("output", output.clone()),
            Outcome::Fault(fault) => ("error", error(fault, operation)),
            Outcome::Connection(how) => ("connection", Value::from(*how)),
        };
        map.insert(name, outcome);
        map.insert("duration_ms", Value::Double(millis));
        Value::Map(map)
    }

    /// The call as a line of JSON.
    pub(crate) fn to_line(&self, service: &str, operation: Operation<'_>) -> Vec<u8> {
        // All of it has been read from JSON, except times, which are texts.
        let mut line = json::write_value(&self.to_value(service, operation)).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

/// An error as an object.
fn error(fault: &Fault, operation: Operation<'_>) -> Value {
    let name = Value::from(fault.name());
    match fault.shape_in(Some(operation)) {
        Some(shape) => {
            let members = super::json::value(fault.details(), shape).unwrap_or_default();
            Value::Map(Map::from_iter([("name", name), ("members", members)]))
        }
        None => {
            let status = i64::from(fault.status().as_u16());
            Value::Map(Map::from_iter([
                ("name", name),
                ("status", Value::Integer(status)),
                ("message", Value::from(fault.message())),
            ]))
        }
    }
}

/// The last calls of a service, the oldest first, and how many there were.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    last: VecDeque<(CallRecord, usize)>,
    bytes: usize,
    /// By operation: all calls, and those that are no longer in `last`.
    counts: HashMap<u32, (u64, u64)>,
}

/// How many calls there were.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Count {
    /// Those that match.
    pub(crate) matched: u64,
    /// Those of the operation that were dropped, so it is unknown whether they match.
    pub(crate) unknown: u64,
}

impl Calls {
    pub(crate) fn push(&mut self, call: CallRecord, bytes: usize) {
        self.counts.entry(call.operation).or_default().0 += 1;
        self.bytes += bytes;
        self.last.push_back((call, bytes));
        while self.last.len() > MOST || self.bytes > MOST_BYTES {
            let Some((call, bytes)) = self.last.pop_front() else {
                break;
            };
            self.bytes -= bytes;
            self.counts.entry(call.operation).or_default().1 += 1;
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The remembered calls, of one operation if it is given.
    pub(crate) fn of(
        &self,
        operation: Option<u32>,
    ) -> impl DoubleEndedIterator<Item = &CallRecord> {
        let calls = self.last.iter().map(|(call, _)| call);
        calls.filter(move |call| operation.is_none_or(|own| own == call.operation))
    }

    /// Counts the calls of an operation.
    pub(crate) fn count(&self, operation: u32, matcher: Option<&Matcher>) -> Count {
        let (all, forgotten) = self.counts.get(&operation).copied().unwrap_or_default();
        let Some(matcher) = matcher else {
            return Count {
                matched: all,
                unknown: 0,
            };
        };
        let calls = self.of(Some(operation));
        let matched = calls.filter(|call| matcher.accepts(Some(&call.input)));
        Count {
            matched: matched.count() as u64,
            unknown: forgotten,
        }
    }

    /// How many calls of any operation there were.
    pub(crate) fn total(&self) -> u64 {
        self.counts.values().map(|(all, _)| all).sum()
    }
}
