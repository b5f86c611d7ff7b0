//! Hints about options that would make a failed call succeed.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::Response;
use polywire::codec::xmlrpc::{
    Leniency, MulticallResult, Reply, XmlRpcDecoder, XmlRpcProfile, fault_parts, to_utf8,
};
use polywire::protocol::charset;
use polywire::rpc::client::Exchange;
use polywire::rpc::{CallError, CallErrorKind};
use polywire::schema::{Body, Decode, Error, Limits, Member, Value};

use crate::transport::TransportArguments;

/// The response and options of a call, used if it fails.
#[derive(Clone, Debug)]
pub(super) struct Advice {
    last: Arc<Mutex<Option<LastResponse>>>,
    leniency: Leniency,
    transport: TransportArguments,
}

#[derive(Debug)]
struct LastResponse {
    http: Response<Bytes>,
    /// Whether this is the response to `system.multicall`.
    is_multicall: bool,
}

impl Advice {
    pub(super) fn new(leniency: Leniency, transport: &TransportArguments) -> Self {
        Self {
            last: Arc::default(),
            leniency,
            transport: transport.clone(),
        }
    }

    /// Stores the response of an exchange. Shares its bytes.
    pub(super) fn keep(&self, exchange: &Exchange) {
        let Some(response) = exchange.response.clone() else {
            return;
        };
        let call = Body::new(exchange.request.body().clone());
        let call = XmlRpcDecoder::call(&call, XmlRpcProfile::DEFAULT, &Limits::DEFAULT);
        let is_multicall = call.is_ok_and(|(method, _)| method == "system.multicall");
        let response = LastResponse {
            http: response,
            is_multicall,
        };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(response);
    }

    /// Returns a hint with a leading line break, or an empty string.
    pub(super) fn line(&self, error: &CallError) -> String {
        if let Some(transport) = error.transport() {
            return self.transport.advice(transport).to_owned();
        }
        match error.kind() {
            CallErrorKind::Decode => {
                let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
                let names = last.as_ref().and_then(|response| self.names(response));
                names.map_or_else(String::new, |names| {
                    format!("\n--lenient={} accepts this response", names.join(","))
                })
            }
            _ => String::new(),
        }
    }

    /// Returns the fewest leniencies with which the response can be read, including those already
    /// given. `None` if none help or no others are needed.
    fn names(&self, response: &LastResponse) -> Option<Vec<&'static str>> {
        let reads = |names: &[&'static str]| reads(response, of_names(names)).is_ok();
        let is_own = |name: &&str| self.leniency.with_name(name) == Some(self.leniency);
        let mut names = Leniency::NAMES.to_vec();
        let own: Vec<&'static str> = names.iter().copied().filter(is_own).collect();
        if reads(&own) || !reads(&names) {
            return None;
        }
        for name in Leniency::NAMES {
            let mut without = names.clone();
            without.retain(|kept| kept != name || is_own(kept));
            if reads(&without) {
                names = without;
            }
        }
        Some(names)
    }
}

fn of_names(names: &[&str]) -> Leniency {
    let each = names.iter();
    each.fold(Leniency::STRICT, |all, name| {
        all.with_name(name).unwrap_or(all)
    })
}

/// Whether the client can read a response, whatever its result.
fn reads(response: &LastResponse, leniency: Leniency) -> Result<(), Error> {
    let limits = Limits::DEFAULT;
    let body = Body::new(response.http.body().clone());
    let other = to_utf8(&body, charset(response.http.headers()), leniency, &limits)?;
    let body = other.unwrap_or(body);
    let profile = XmlRpcProfile::DEFAULT.with_leniency(leniency);
    let (reply, mut decoder) = XmlRpcDecoder::response(&body, profile, &limits)?;
    if reply == Reply::Result && response.is_multicall {
        for result in decoder.multicall_results()? {
            if let MulticallResult::Fault(fault) = result {
                fault_parts(&fault, leniency)?;
            }
        }
        return decoder.finish();
    }
    let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
    if reply == Reply::Fault {
        fault_parts(&value, leniency)?;
    }
    decoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(body: &str, own: Leniency, is_multicall: bool) -> String {
        let advice = Advice::new(own, &TransportArguments::default());
        let response = LastResponse {
            http: Response::new(Bytes::copy_from_slice(body.as_bytes())),
            is_multicall,
        };
        advice.names(&response).unwrap_or_default().join(",")
    }

    fn result(value: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?><methodResponse><params><param><value>{value}</value></param>\
             </params></methodResponse>"
        )
    }

    #[test]
    fn suggests_fewest_leniencies() {
        let strict = Leniency::STRICT;
        let fault = "<methodResponse><fault><value><struct><member><name>faultCode</name><value>\
            AccessDenied</value></member><member><name>faultString</name><value>no</value>\
            </member></struct></value></fault></methodResponse>";
        for (body, names) in [
            (result("<string>\u{1b}[1m</string>"), "control_characters"),
            (result("<int>3000000000</int>"), "wide_ints"),
            (
                result("<int> 3000000000 </int>"),
                "padded_scalars,wide_ints",
            ),
            (format!("\n{}", result("x")), "leading_space"),
            (
                "<methodResponse><params/></methodResponse>".into(),
                "missing_params",
            ),
            (fault.to_owned(), "string_fault_codes"),
            // None help, or none are needed.
            (result("<int>x</int>"), ""),
            ("<html>".to_owned(), ""),
            (result("<int>1</int>"), ""),
        ] {
            assert_eq!(named(&body, strict, false), names, "{body}");
        }
        // Given leniencies are kept.
        let own = strict.with_odd_dates(true);
        let body = result("<int>3000000000</int>");
        assert_eq!(named(&body, own, false), "odd_dates,wide_ints");
        assert_eq!(named(&body, strict.with_wide_ints(true), false), "");
        let bare = result("<array><data><value>x</value></data></array>");
        assert_eq!(named(&bare, strict, true), "bare_multicall");
        assert_eq!(named(&bare, strict, false), "");
    }
}
