//! What stands in front of a service: who may call, how often, and what every
//! answer says.
//!
//! | | what it does | how it is set |
//! |---|---|---|
//! | [`Firewall`] | connections in all and per address, requests per address | [`ServerBuilder::firewall`](crate::ServerBuilder::firewall) |
//! | [`Caller`] | requests per caller, by a key of your choice | [`ServerBuilder::rate_per_caller`](crate::ServerBuilder::rate_per_caller) |
//! | [`CrossOrigin`] | turns away what web pages of others call | [`ServerBuilder::cross_origin`](crate::ServerBuilder::cross_origin) |
//! | [`BasicAuth`] | names and passwords | [`ServerBuilder::http_layer`](crate::ServerBuilder::http_layer) |
//!
//! A server has none of them unless it is told to. The limit of calls in progress
//! is [`ServerBuilder::calls`](crate::ServerBuilder::calls).

mod basic;
#[cfg(feature = "cache")]
pub mod cache;
mod callers;
mod cross_origin;
mod firewall;

pub use basic::{BasicAuth, CheckFuture, Checker, User, same_secret};
pub use callers::Caller;
pub(crate) use callers::Callers;
pub use cross_origin::{CrossOrigin, OriginError};
pub use firewall::Firewall;
pub(crate) use firewall::{Connected, Refused};

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};

use crate::server::{HttpResponse, ResponseBody};

/// The value in the middle; 0 if there is none.
fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    let middle = values.len() / 2;
    match middle < values.len() {
        true => *values.select_nth_unstable(middle).1,
        false => 0,
    }
}

/// An answer in words, for people.
pub(crate) fn text(status: StatusCode, text: impl Into<Bytes>) -> HttpResponse {
    let mut response = Response::new(ResponseBody::from(text.into()));
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response
}
