//! What is sent, and what has to come back.

use std::error::Error;
use std::path::Path;

use polywire_codec::cbor;
use polywire_codec::xmlrpc::{XmlRpcDecoder, XmlRpcProfile};
use polywire_schema::{Body, Decode, Limits, Member, Value};

/// A request with its head, and the body of its answer.
pub(crate) struct Prepared {
    pub(crate) request: Vec<u8>,
    pub(crate) answer: Vec<u8>,
}

impl Prepared {
    pub(crate) fn new(
        stem: &Path,
        method: Option<&str>,
        cbor: bool,
    ) -> Result<Self, Box<dyn Error>> {
        let read = |side: &str| {
            let path = format!("{}.{side}.xml", stem.display());
            std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))
        };
        let (request, response) = (read("request")?, read("response")?);
        if cbor {
            return in_cbor(&request, method);
        }
        let request = match method {
            Some(method) => named(&request, method)?,
            None => request,
        };
        Ok(Self {
            request: post("/RPC2", "content-type: text/xml\r\n", request.as_bytes()),
            // A whole number has no need of a point.
            answer: response.replace(".0</double>", "</double>").into_bytes(),
        })
    }
}

/// A call of another method with the same parameters.
fn named(request: &str, method: &str) -> Result<String, Box<dyn Error>> {
    const OPEN: &str = "<methodName>";
    let (head, rest) = request.split_once(OPEN).ok_or("a call without a name")?;
    let (_, tail) = rest.split_once('<').ok_or("a name without an end")?;
    Ok(format!("{head}{OPEN}{method}<{tail}"))
}

/// The same call in CBOR: an array of its parameters.
fn in_cbor(request: &str, method: Option<&str>) -> Result<Prepared, Box<dyn Error>> {
    let body = Body::from(request.as_bytes().to_vec());
    let (own, mut decoder) = XmlRpcDecoder::call(&body, XmlRpcProfile::DEFAULT, &Limits::DEFAULT)?;
    let method = method.unwrap_or(&own);
    decoder.parameter()?;
    let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
    decoder.finish()?;
    let path = format!("/service/Echo/operation/{method}");
    let headers = "smithy-protocol: rpc-v2-cbor\r\ncontent-type: application/cbor\r\n";
    Ok(Prepared {
        answer: cbor::to_vec(&value)?,
        request: post(&path, headers, &cbor::to_vec(&Value::List(vec![value]))?),
    })
}

fn post(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\n{headers}content-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_gets_another_name() {
        let call = "<methodCall><methodName>echo</methodName><params/></methodCall>";
        let other = "<methodCall><methodName>echo.ints</methodName><params/></methodCall>";
        assert_eq!(named(call, "echo.ints").unwrap(), other);
    }

    #[test]
    fn cbor_is_an_array_of_the_parameters() {
        let call = "<methodCall><methodName>echo</methodName><params><param><value><int>7</int>\
                    </value></param></params></methodCall>";
        let prepared = in_cbor(call, None).unwrap();
        assert!(
            prepared
                .request
                .starts_with(b"POST /service/Echo/operation/echo HTTP/1.1\r\n")
        );
        assert!(
            prepared
                .request
                .ends_with(b"content-length: 2\r\n\r\n\x81\x07")
        );
        assert_eq!(prepared.answer, [7]);
    }
}
