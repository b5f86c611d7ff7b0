//! The pages of doubles, below `/_polywire/`.
//!
//! | page | methods |
//! |---|---|
//! | `state` | GET: a dump. PUT: loads one. DELETE: removes all things |
//! | `state/operations` | GET: which operations remember what |
//! | `stubs` | GET: a list. POST: adds. DELETE: removes all |
//! | `calls` | GET: the last calls. DELETE: forgets them |
//! | `calls/count` | GET: how often an operation was called |
//! | `verify` | POST: checks how often an operation was called |
//! | `reset` | POST: removes things, stubs and calls |

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use polywire_codec::json;
use polywire_schema::{Map, Operation, Value};

use super::find::{add_stubs, find};
use super::stubs::Matcher;
use super::{Double, lock};

/// How many calls the page shows if the caller does not say it.
const SHOWN: usize = 100;

/// An answer that is not 200.
struct Problem(StatusCode, String);

type Answer = Result<Value, Problem>;

fn bad(reason: impl Into<String>) -> Problem {
    Problem(StatusCode::BAD_REQUEST, reason.into())
}

/// The page of a request to a server of these doubles. `None` if it is not one of a double. Bodies
/// and answers are JSON; an error is `{"error": "..."}` with status 400, 404, 405 or 409.
#[must_use]
pub fn page(doubles: &[Double], request: &Request<Bytes>) -> Option<Response<Bytes>> {
    let path = request.uri().path().strip_prefix("/_polywire/")?;
    let is_get = matches!(*request.method(), Method::GET | Method::HEAD);
    let method = match is_get {
        true => "GET",
        false => request.method().as_str(),
    };
    let pages = Pages { doubles, request };
    let answer = match (path, method) {
        ("state", "GET") => pages.dump(),
        ("state", "PUT") => pages.load(),
        ("state", "DELETE") => pages.clear_state(),
        ("state/operations", "GET") => {
            let texts = doubles.iter().map(Double::explain);
            let text: String = texts.collect();
            let mut response = Response::new(Bytes::from(text));
            let plain = HeaderValue::from_static("text/plain; charset=utf-8");
            response.headers_mut().insert(CONTENT_TYPE, plain);
            return Some(response);
        }
        ("stubs", "GET") => Ok(pages.stubs()),
        ("stubs", "POST") => pages.add_stubs(),
        ("stubs", "DELETE") => Ok(pages.each(|double| lock(&double.0.stubs).clear())),
        ("calls", "GET") => pages.calls(),
        ("calls", "DELETE") => Ok(pages.each(|double| lock(&double.0.calls).clear())),
        ("calls/count", "GET") => pages.count(),
        ("verify", "POST") => pages.verify(),
        ("reset", "POST") => pages.reset(),
        (
            "state" | "stubs" | "calls" | "calls/count" | "verify" | "reset" | "state/operations",
            _,
        ) => {
            let allow = match path {
                "state" => "GET, PUT, DELETE",
                "stubs" => "GET, POST, DELETE",
                "calls" => "GET, DELETE",
                "verify" | "reset" => "POST",
                _ => "GET",
            };
            let problem = Problem(StatusCode::METHOD_NOT_ALLOWED, format!("use {allow}"));
            let mut response = response(Err(problem));
            let headers = response.headers_mut();
            headers.insert(ALLOW, HeaderValue::from_static(allow));
            return Some(response);
        }
        _ => return None,
    };
    Some(response(answer))
}

fn response(answer: Answer) -> Response<Bytes> {
    let (status, value) = match answer {
        Ok(value) => (StatusCode::OK, value),
        Err(Problem(status, reason)) => {
            let error = Map::from_iter([("error", Value::from(reason))]);
            (status, Value::Map(error))
        }
    };
    let verified = value.get("verified").and_then(Value::as_bool);
    let status = match verified {
        Some(false) => StatusCode::CONFLICT,
        _ => status,
    };
    let mut body = json::write_value(&value).unwrap_or_default();
    body.push(b'\n');
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

struct Pages<'a> {
    doubles: &'a [Double],
    request: &'a Request<Bytes>,
}

impl<'a> Pages<'a> {
    /// Does something with each double.
    fn each(&self, action: impl Fn(&Double)) -> Value {
        self.doubles.iter().for_each(action);
        Value::Map(Map::new())
    }

    fn dump(&self) -> Answer {
        let mut map = Map::new();
        for double in self.doubles {
            if let Some(state) = &double.0.state {
                let dump = lock(state).dump().map_err(|fault| internal(&fault))?;
                map.insert(double.0.service.service().id(), dump);
            }
        }
        Ok(Value::Map(map))
    }

    fn load(&self) -> Answer {
        let body = self.body()?;
        let dumps = body.as_map();
        let dumps = dumps.ok_or_else(|| bad("expected an object of services"))?;
        // All are read before one changes.
        let mut loaded = Vec::new();
        for (id, dump) in dumps.iter() {
            let mut doubles = self.doubles.iter();
            let double = doubles.find(|double| double.0.service.service().id() == id);
            let state = double.and_then(|double| double.0.state.as_ref());
            let state = state.ok_or_else(|| bad(format!("{id}: no such service remembers")))?;
            let things = lock(state).read_dump(dump);
            loaded.push((
                state,
                things.map_err(|error| bad(format!("{id}: {error}")))?,
            ));
        }
        for (state, things) in loaded {
            lock(state)
                .replace(things)
                .map_err(|fault| internal(&fault))?;
        }
        Ok(Value::Map(Map::new()))
    }

    fn clear_state(&self) -> Answer {
        for state in self
            .doubles
            .iter()
            .filter_map(|double| double.0.state.as_ref())
        {
            lock(state).reset().map_err(|fault| internal(&fault))?;
        }
        Ok(Value::Map(Map::new()))
    }

    fn reset(&self) -> Answer {
        for double in self.doubles {
            double.reset().map_err(|fault| internal(&fault))?;
        }
        Ok(Value::Map(Map::new()))
    }

    fn stubs(&self) -> Value {
        let stubs = self.doubles.iter();
        Value::List(
            stubs
                .flat_map(|double| lock(&double.0.stubs).list())
                .collect(),
        )
    }

    fn add_stubs(&self) -> Answer {
        let text = std::str::from_utf8(self.request.body());
        let text = text.map_err(|_| bad("expected JSON in UTF-8"))?;
        add_stubs(self.doubles, text).map_err(|error| bad(error.to_string()))?;
        Ok(Value::Map(Map::new()))
    }

    fn calls(&self) -> Answer {
        let limit = match self.query("limit") {
            None => SHOWN,
            Some(limit) => limit
                .parse()
                .map_err(|_| bad("limit: expected an integer"))?,
        };
        let wanted = match self.query("operation") {
            Some(name) => Some(self.find(self.query("service").as_deref(), &name)?),
            None => None,
        };
        let mut found = Vec::new();
        let mut total = 0;
        for (at, double) in self.doubles.iter().enumerate() {
            if wanted.as_ref().is_some_and(|(own, ..)| *own != at) {
                continue;
            }
            let service = double.0.service.service();
            let operation = wanted.as_ref().map(|(.., operation)| operation.index());
            let calls = lock(&double.0.calls);
            total += match operation {
                Some(operation) => calls.count(operation, None).matched,
                None => calls.total(),
            };
            let last = calls.of(operation).rev().take(limit);
            found.extend(last.map(|call| {
                let operation = double.0.service.operation(call.operation);
                (call.time, call.to_value(service.id(), operation))
            }));
        }
        found.sort_by_key(|(time, _)| (time.seconds(), time.nanoseconds()));
        let skipped = found.len().saturating_sub(limit);
        let calls = found.into_iter().skip(skipped).map(|(_, call)| call);
        Ok(Value::Map(Map::from_iter([
            ("total", number(total)),
            ("calls", Value::List(calls.collect())),
        ])))
    }

    fn count(&self) -> Answer {
        let name = self.query("operation");
        let name = name.ok_or_else(|| bad("expected ?operation=NAME"))?;
        let (_, double, operation) = self.find(self.query("service").as_deref(), &name)?;
        let count = lock(&double.0.calls).count(operation.index(), None);
        Ok(Value::Map(Map::from_iter([(
            "count",
            number(count.matched),
        )])))
    }

    /// Checks how often an operation was called.
    fn verify(&self) -> Answer {
        const KNOWN: [&str; 7] = [
            "operation",
            "service",
            "match",
            "times",
            "at_least",
            "at_most",
            "never",
        ];
        let body = self.body()?;
        let map = body.as_map().ok_or_else(|| bad("expected an object"))?;
        if let Some(name) = map.keys().find(|name| !KNOWN.contains(name)) {
            return Err(bad(format!("{name}: expected one of {}", KNOWN.join(", "))));
        }
        let name = map.get("operation").and_then(Value::as_str);
        let name = name.ok_or_else(|| bad("operation: expected the name of an operation"))?;
        let (_, double, operation) = self.find(map.get("service").and_then(Value::as_str), name)?;
        let matcher = map.get("match").map(|value| {
            let own = Matcher::of_input(value, operation.input());
            own.map_err(|(path, reason)| {
                bad(format!("{}: {reason}", super::stubs::below("match", &path)))
            })
        });
        let matcher = matcher.transpose()?;
        let (least, most) = bounds(map)?;
        let calls = lock(&double.0.calls);
        let count = calls.count(operation.index(), matcher.as_ref());
        // Forgotten calls could match: a check passes only if it does either way.
        let verified = count.matched >= least && count.matched + count.unknown <= most;
        let mut answer = Map::from_iter([
            ("verified", Value::Boolean(verified)),
            ("count", number(count.matched)),
        ]);
        if count.unknown > 0 {
            answer.insert("forgotten", number(count.unknown));
        }
        if !verified {
            answer.insert("expected", expectation(least, most));
            if let Some(matcher) = &matcher {
                let others = calls.of(Some(operation.index())).rev();
                let others = others.filter(|call| !matcher.accepts(Some(&call.input)));
                let misses = others.take(10).map(|call| {
                    let mut differences = Vec::new();
                    matcher.differences(Some(&call.input), "", &mut differences);
                    let differences = differences.into_iter().map(Value::from);
                    Value::Map(Map::from_iter([
                        ("input", call.input.clone()),
                        ("differs", Value::List(differences.collect())),
                    ]))
                });
                answer.insert("near_misses", Value::List(misses.collect()));
            }
        }
        Ok(Value::Map(answer))
    }

    /// The double and the operation of a name.
    fn find(
        &self,
        service: Option<&str>,
        operation: &str,
    ) -> Result<(usize, &'a Double, Operation<'a>), Problem> {
        find(self.doubles, service, operation).map_err(bad)
    }

    /// The body as JSON.
    fn body(&self) -> Answer {
        let text = std::str::from_utf8(self.request.body());
        let text = text.map_err(|_| bad("expected JSON in UTF-8"))?;
        json::read_value(text).map_err(|error| bad(error.to_string()))
    }

    /// A parameter of the query.
    fn query(&self, name: &str) -> Option<String> {
        let pairs = self.request.uri().query()?.split('&');
        let mut pairs = pairs.filter_map(|pair| pair.split_once('='));
        let (_, value) = pairs.find(|(own, _)| *own == name)?;
        // `#` and `.` of names need no percent-encoding, except `#`.
        Some(value.replace("%23", "#"))
    }
}

/// The least and the most calls that a check accepts: `never`, `times`, `at_least`, `at_most`, or
/// at least one.
fn bounds(map: &Map) -> Result<(u64, u64), Problem> {
    let number = |name: &str| {
        let value = map.get(name);
        let number = value.map(|value| value.as_i64().and_then(|own| u64::try_from(own).ok()));
        match number {
            Some(None) => Err(bad(format!("{name}: expected an integer of at least 0"))),
            Some(number) => Ok(number),
            None => Ok(None),
        }
    };
    let never = match map.get("never").map(Value::as_bool) {
        None | Some(Some(false)) => false,
        Some(Some(true)) => true,
        Some(None) => return Err(bad("never: expected a boolean")),
    };
    match (
        never,
        number("times")?,
        number("at_least")?,
        number("at_most")?,
    ) {
        (true, None, None, None) => Ok((0, 0)),
        (false, Some(times), None, None) => Ok((times, times)),
        (false, None, None, None) => Ok((1, u64::MAX)),
        (false, None, least, most) => Ok((least.unwrap_or(0), most.unwrap_or(u64::MAX))),
        _ => Err(bad(
            "expected one of `never`, `times`, and `at_least` or `at_most`",
        )),
    }
}

fn expectation(least: u64, most: u64) -> Value {
    Value::from(match (least, most) {
        (0, 0) => "never called".to_owned(),
        (least, u64::MAX) => format!("at least {least} calls"),
        (least, most) if least == most => format!("{least} calls"),
        (0, most) => format!("at most {most} calls"),
        (least, most) => format!("{least} to {most} calls"),
    })
}

fn number(count: u64) -> Value {
    Value::Integer(i64::try_from(count).unwrap_or(i64::MAX))
}

fn internal(fault: &polywire_protocol::Fault) -> Problem {
    let reason = std::error::Error::source(fault).map(ToString::to_string);
    let reason = reason.unwrap_or_else(|| fault.message().to_owned());
    Problem(StatusCode::INTERNAL_SERVER_ERROR, reason)
}
