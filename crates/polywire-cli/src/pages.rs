//! The pages of the server below `/_polywire/`.

use std::fmt::Write;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use polywire::double::{self, Double};
use polywire::model::{Model, ast};
use polywire::prelude::*;

use crate::offers::Offer;

/// `/_polywire/` is for people, `health` for load balancers, `model.json` and `protocols.json` for
/// `polywire call` and other programs.
pub(crate) fn pages(
    model: Arc<Model>,
    services: Vec<ServiceHandle>,
    wires: Vec<String>,
    offers: Vec<Offer>,
    doubles: Vec<Double>,
) -> impl Fn(&Request<Bytes>) -> Response<Bytes> + Send + Sync + 'static {
    // Serialized on the first request: large models take time, and most servers never get a
    // request.
    let json: OnceLock<Bytes> = OnceLock::new();
    move |request| {
        if let Some(page) = double::page(&doubles, request) {
            return page;
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return page(
                StatusCode::METHOD_NOT_ALLOWED,
                TEXT,
                "method not allowed; use GET\n".to_owned().into(),
            );
        }
        match request.uri().path() {
            "/_polywire/" => page(
                StatusCode::OK,
                TEXT,
                index(&services, &wires, !doubles.is_empty()).into(),
            ),
            "/_polywire/health" => page(StatusCode::OK, TEXT, "ok\n".to_owned().into()),
            "/_polywire/model.json" => {
                let json = json.get_or_init(|| ast::write(&model).to_json().into());
                page(StatusCode::OK, JSON, json.clone())
            }
            "/_polywire/protocols.json" => {
                // Serializing names and mounts cannot fail.
                let json = serde_json::to_vec(&offers).unwrap_or_default();
                page(StatusCode::OK, JSON, json.into())
            }
            path => page(
                StatusCode::NOT_FOUND,
                TEXT,
                format!("page not found: {path}\n").into(),
            ),
        }
    }
}

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

fn page(status: StatusCode, kind: HeaderValue, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

fn index(services: &[ServiceHandle], wires: &[String], has_doubles: bool) -> String {
    let mut text = String::new();
    for service in services {
        let service = service.service();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{} {} over {}\n",
            service.id(),
            service.version(),
            wires.join(", ")
        );
        for operation in service.operations() {
            let http = operation
                .http()
                .map_or(String::new(), |(method, uri, _)| format!("{method} {uri}"));
            let _ = writeln!(text, "  {:<24} {http}", operation.name());
        }
        text.push('\n');
    }
    text.push_str("/_polywire/health\n/_polywire/model.json\n/_polywire/protocols.json\n");
    if has_doubles {
        text.push_str(
            "/_polywire/state\n/_polywire/state/operations\n/_polywire/stubs\n\
             /_polywire/calls\n/_polywire/verify\n",
        );
    }
    text
}
