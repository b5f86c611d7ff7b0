//! Reads stubs.

use std::time::Duration;

use polywire_model::Model;
use polywire_schema::{Map, Service, Value};

use super::matcher::{Matcher, below};
use super::reply::{Reply, throttling};
use super::{Rate, Stub, StubError};

const MEMBERS: [&str; 8] = [
    "operation",
    "match",
    "response",
    "responses",
    "delay_ms",
    "times",
    "rate",
    "service",
];

/// How long a stub waits at most.
const LONGEST: i64 = 3_600_000;

impl Stub {
    /// Reads one stub.
    pub(crate) fn read(
        model: &Model,
        service: Service<'_>,
        value: &Value,
        path: &str,
    ) -> Result<Self, StubError> {
        let map = value.as_map();
        let map = map.ok_or_else(|| StubError::new(path, "expected an object"))?;
        if let Some(name) = map.keys().find(|name| !MEMBERS.contains(name)) {
            let expected = format!("expected one of {}", MEMBERS.join(", "));
            return Err(StubError::new(below(path, name), expected));
        }
        let name = map.get("operation").and_then(Value::as_str);
        let expected = "expected the name of an operation";
        let name = name.ok_or_else(|| StubError::new(below(path, "operation"), expected))?;
        let operation = service.find_operation(name).ok_or_else(|| {
            let reason = format!("{} has no operation `{name}`", service.name());
            StubError::new(below(path, "operation"), reason)
        })?;
        let matcher = match map.get("match") {
            None => Matcher::Object(Vec::new()),
            Some(value) => {
                Matcher::of_input(value, operation.input()).map_err(|(inner, reason)| {
                    StubError::new(below(&below(path, "match"), &inner), reason)
                })?
            }
        };
        let mut replies = Vec::new();
        let mut reply = |value: &Value, path: &str| {
            let own = value.as_map();
            let own = own.ok_or_else(|| StubError::new(path, "expected an object"))?;
            let delay = milliseconds(own, path)?;
            replies.push((Reply::read(model, operation, own, path)?, delay));
            Ok::<_, StubError>(())
        };
        if let Some(value) = map.get("response") {
            reply(value, &below(path, "response"))?;
        }
        if let Some(value) = map.get("responses") {
            let at = below(path, "responses");
            let list = value.as_list();
            let list = list.ok_or_else(|| StubError::new(&*at, "expected a list"))?;
            for (index, value) in list.iter().enumerate() {
                reply(value, &format!("{at}[{index}]"))?;
            }
        }
        let times = match map.get("times") {
            None => None,
            Some(times) => Some(
                times
                    .as_i64()
                    .and_then(|times| u64::try_from(times).ok())
                    .filter(|times| *times > 0)
                    .ok_or_else(|| {
                        StubError::new(below(path, "times"), "expected a positive integer")
                    })?,
            ),
        };
        let rate = match map.get("rate") {
            None => None,
            Some(rate) => {
                let per_second = rate.as_f64().filter(|rate| *rate > 0.0 && rate.is_finite());
                let expected = "expected a positive number of calls per second";
                let per_second =
                    per_second.ok_or_else(|| StubError::new(below(path, "rate"), expected))?;
                Some(Rate {
                    per_second,
                    available: per_second.max(1.0).floor(),
                    at: None,
                    throttle: Reply::Fault(throttling(operation)),
                })
            }
        };
        let delay = milliseconds(map, path)?;
        if replies.is_empty() && rate.is_none() && delay.is_zero() {
            let expected = "expected `responses`, `rate` or `delay_ms`";
            return Err(StubError::new(path, expected));
        }
        Ok(Self {
            operation: operation.index(),
            matcher,
            replies,
            delay,
            left: times,
            rate,
            calls: 0,
            source: value.clone().into_owned(),
        })
    }
}

fn milliseconds(map: &Map, path: &str) -> Result<Duration, StubError> {
    let Some(value) = map.get("delay_ms") else {
        return Ok(Duration::ZERO);
    };
    let delay = value.as_i64().filter(|delay| (0..=LONGEST).contains(delay));
    let delay = delay.and_then(|delay| u64::try_from(delay).ok());
    let expected = format!("expected an integer from 0 to {LONGEST}");
    let delay = delay.ok_or_else(|| StubError::new(below(path, "delay_ms"), expected))?;
    Ok(Duration::from_millis(delay))
}
