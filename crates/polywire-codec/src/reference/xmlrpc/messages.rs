//! Messages without a schema.

use polywire_schema::{Decode, Encode, Error, ErrorKind, LimitKind, Limits, Member, Value};

use super::write::{document, element, escaped};
use super::{XmlRpcDecoder, XmlRpcEncoder, parse};
use crate::reference::node::{Data, Node, error};
use crate::xmlrpc::{Duplicates, Style, XmlRpcProfile};

/// A result, or the value of a fault.
pub type Response = Result<Value, Value>;

/// Reads a call: its method and its parameters.
///
/// # Errors
///
/// The text is not a call, or exceeds the limits.
pub fn read_call(
    text: &str,
    profile: XmlRpcProfile,
    limits: &Limits,
) -> Result<(String, Vec<Value>), Error> {
    let (method, parameters) = parse::call(text, profile, limits).map_err(named)?;
    let mut decoder = XmlRpcDecoder::of(Node::default(), profile, limits)?;
    Ok((method, values(parameters, &mut decoder)?))
}

fn named(error: Error) -> Error {
    error.in_format("XML-RPC")
}

/// The values of parameters, each of which is an item.
fn values(nodes: Vec<Node>, decoder: &mut XmlRpcDecoder) -> Result<Vec<Value>, Error> {
    let read = |node: Node| {
        decoder.count(&node)?;
        decoder.continue_with(node);
        Value::decode(Member::DOCUMENT, decoder)
    };
    nodes.into_iter().map(read).collect()
}

/// Reads a response.
///
/// # Errors
///
/// The text is not a response, or exceeds the limits.
pub fn read_response(
    text: &str,
    profile: XmlRpcProfile,
    limits: &Limits,
) -> Result<Response, Error> {
    let read = |node| {
        let mut decoder = XmlRpcDecoder::of(node, profile, limits)?;
        Value::decode(Member::DOCUMENT, &mut decoder)
    };
    Ok(
        match parse::response(text, profile, limits).map_err(named)? {
            Ok(result) => Ok(read(result)?),
            Err(fault) => Err(read(fault)?),
        },
    )
}

/// Reads the calls of a `system.multicall`: the method and the parameters of each, or `None` for an
/// invalid call.
///
/// # Errors
///
/// The text is not such a call, or exceeds the limits.
#[expect(clippy::type_complexity, reason = "for tests alone")]
pub fn read_multicall(
    text: &str,
    profile: XmlRpcProfile,
    limits: &Limits,
) -> Result<Vec<Option<(String, Vec<Value>)>>, Error> {
    let (_, parameters) = parse::call(text, profile, limits).map_err(named)?;
    let decoder = XmlRpcDecoder::of(Node::default(), profile, limits)?;
    for parameter in &parameters {
        decoder.count(parameter)?;
        decoder.skip(parameter)?;
    }
    let [
        Node {
            data: Data::List(calls),
            start,
            ..
        },
    ] = &parameters[..]
    else {
        let wrong = error(ErrorKind::Syntax, 0, "one parameter, an array of calls");
        return Err(named(wrong));
    };
    if calls.len() > limits.calls() as usize {
        let limit = LimitKind::Calls(limits.calls());
        return Err(named(error(ErrorKind::Limit(limit), *start, "")));
    }
    let call = |call: &Node| {
        let (Some(method), Some(parameters)) = (
            member(call, "methodName", profile.duplicates),
            member(call, "params", profile.duplicates),
        ) else {
            return Ok(None);
        };
        let (Data::Text(method), Data::List(parameters)) = (&method.data, &parameters.data) else {
            return Ok(None);
        };
        // The items of all calls were counted above.
        let mut decoder = XmlRpcDecoder::of(Node::default(), profile, limits)?;
        Ok(Some((
            method.clone(),
            values(parameters.clone(), &mut decoder)?,
        )))
    };
    calls.iter().map(call).collect()
}

/// A member of a call. A duplicate makes only this call invalid.
fn member<'n>(call: &'n Node, name: &str, duplicates: Duplicates) -> Option<&'n Node> {
    let Data::Map(entries) = &call.data else {
        return None;
    };
    let is = |key: &Node| matches!(&key.data, Data::Text(own) if own == name);
    let found = entries.iter().filter(|(key, _)| is(key));
    match (
        &found.map(|(_, value)| value).collect::<Vec<_>>()[..],
        duplicates,
    ) {
        ([], _) | ([_, _, ..], Duplicates::Reject) => None,
        ([.., last], Duplicates::Last) => Some(last),
        ([first, ..], _) => Some(first),
    }
}

/// Writes a call.
///
/// # Errors
///
/// Something cannot be written.
pub fn write_call(method: &str, parameters: &[Value], style: Style) -> Result<String, Error> {
    let mut params = String::new();
    for parameter in parameters {
        params += &element("param", &write_value(parameter, style)?);
    }
    let method = element("methodName", &escaped(method).map_err(named)?);
    Ok(document(
        "methodCall",
        &(method + &element("params", &params)),
    ))
}

/// Writes a response.
///
/// # Errors
///
/// Something cannot be written.
pub fn write_response(value: &Value, style: Style) -> Result<String, Error> {
    let params = element("params", &element("param", &write_value(value, style)?));
    Ok(document("methodResponse", &params))
}

/// Writes a fault.
///
/// # Errors
///
/// Something cannot be written.
pub fn write_fault(value: &Value, style: Style) -> Result<String, Error> {
    let fault = element("fault", &write_value(value, style)?);
    Ok(document("methodResponse", &fault))
}

/// Writes a value.
///
/// # Errors
///
/// Something cannot be written.
pub fn write_value(value: &Value, style: Style) -> Result<String, Error> {
    let mut encoder = XmlRpcEncoder::new(style, polywire_schema::Defaults::Server);
    value.encode(Member::DOCUMENT, &mut encoder);
    Ok(String::from_utf8_lossy(&encoder.finish()?).into_owned())
}
