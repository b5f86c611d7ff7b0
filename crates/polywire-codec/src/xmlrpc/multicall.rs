//! `system.multicall`: several calls in one message.
//!
//! It is defined by <https://mirrors.talideon.com/articles/multicall.html>. Its parameter is an array of
//! structs with the members `methodName` and `params`. Its result is an array with one item for each
//! call: an array with the result as its only item, or the struct of a fault.

use std::ops::Range;

use polywire_schema::{Decode, Decoder, Error, ErrorKind, LimitKind, Member, Text, Value};

use super::XmlRpcDecoder;
use super::value::Type;
use crate::keep;

/// A call in `system.multicall`.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct MulticallEntry {
    /// The name of the method.
    pub method: Text,
    /// The range of the parameters in the message, in bytes, for [`XmlRpcDecoder::parameters_of`].
    pub parameters: Range<usize>,
}

/// A result of `system.multicall`. No further variants will be added.
#[derive(Clone, Debug, PartialEq)]
pub enum MulticallResult {
    /// The range of the value in the message, in bytes, for [`XmlRpcDecoder::value`].
    Value(Range<usize>),
    /// The struct of a fault.
    Fault(Value),
}

impl<'de> XmlRpcDecoder<'de> {
    /// Reads the calls of `system.multicall`, and the end of the message. An item that is valid XML-RPC
    /// but not a call is an inner error; the other calls are read.
    ///
    /// # Errors
    ///
    /// The message is malformed, its only parameter is not an array, or there are more calls than
    /// [`Limits::calls`](polywire_schema::Limits::calls).
    ///
    /// ```
    /// use polywire_codec::xmlrpc::{self, XmlRpcDecoder, XmlRpcProfile};
    /// use polywire_schema::{Body, Limits, Map, Value};
    ///
    /// let one = Map::from_iter([
    ///     ("methodName", Value::from("add")),
    ///     ("params", Value::List(vec![1.into(), 2.into()])),
    /// ]);
    /// let calls = Value::List(vec![Value::Map(one), Value::from("not a call")]);
    /// let body = Body::from(xmlrpc::write_call("system.multicall", &[calls])?);
    ///
    /// let (profile, limits) = (XmlRpcProfile::DEFAULT, Limits::DEFAULT);
    /// let (_, mut decoder) = XmlRpcDecoder::call(&body, profile, &limits)?;
    /// let calls = decoder.multicall()?;
    /// assert!(calls[1].is_err());
    /// let add = calls[0].as_ref().unwrap();
    /// assert_eq!(add.method, "add");
    ///
    /// let part = Body::from(body.as_bytes()[add.parameters.clone()].to_vec());
    /// let mut decoder = XmlRpcDecoder::parameters_of(&part, 0, profile, &limits)?;
    /// assert!(decoder.parameter()?);
    /// # Ok::<(), polywire_schema::Error>(())
    /// ```
    pub fn multicall(&mut self) -> Result<Vec<Result<MulticallEntry, Error>>, Error> {
        if !self.parameter()? {
            let error = self.error(ErrorKind::Missing, "one parameter, an array of calls");
            return Err(error);
        }
        let mut seq = self.read_array_start(|| "an array")?;
        let most = self.budget.calls();
        let mut calls = Vec::new();
        while self.next_item(&mut seq)? {
            if calls.len() >= most as usize {
                return Err(self.limit_error(LimitKind::Calls(most)));
            }
            let call = self.multicall_entry(calls.len())?;
            calls.push(call);
        }
        self.finish()?;
        Ok(calls)
    }

    /// Reads one call. An outer error affects the whole message, an inner error this call.
    ///
    /// The paths of inner errors are formed here. Finding them by reading the message again would take
    /// quadratic time if all calls are wrong.
    fn multicall_entry(&mut self, index: usize) -> Result<Result<MulticallEntry, Error>, Error> {
        const EXPECTED: &str = "a struct of methodName and params";

        let start = self.cursor.at;
        let (kind, tag) = self.value_type()?;
        if kind != Type::Struct {
            self.cursor.at = start;
            let path = format!("[{index}]");
            let error = self
                .cursor
                .error_at_path(path, ErrorKind::WrongType, EXPECTED);
            self.skip_value()?;
            return Ok(Err(error));
        }
        let mut seq = self.begin_struct(tag.remaining_ends())?;
        let (mut method, mut parameters, mut wrong) = (None, None, None);
        while let Some(name) = self.next_member(&mut seq)? {
            self.count_item()?;
            let start = self.cursor.at;
            let (kind, _) = self.value_type()?;
            self.cursor.at = start;
            let is_duplicate = match &*name {
                "methodName" => method.is_some(),
                "params" => parameters.is_some(),
                _ => false,
            };
            match (&*name, kind) {
                _ if is_duplicate => {
                    wrong.get_or_insert_with(|| {
                        let (path, kind) = (format!("[{index}].{name}"), ErrorKind::Duplicate);
                        let error = self.cursor.error_at_path(path, kind, "each member once");
                        error.found(format!("`{name}`"))
                    });
                    self.skip_value()?;
                }
                ("methodName", Type::String | Type::Untyped) => {
                    method = Some(keep::text(self.body, self.string()?));
                }
                ("params", Type::Array) => {
                    self.skip_value()?;
                    parameters = Some(start..self.cursor.at);
                }
                ("methodName" | "params", _) => {
                    let expected = match &*name {
                        "params" => "an array of parameters",
                        _ => "the name of a method",
                    };
                    wrong.get_or_insert_with(|| {
                        let path = format!("[{index}].{name}");
                        self.cursor
                            .error_at_path(path, ErrorKind::WrongType, expected)
                    });
                    self.skip_value()?;
                }
                _ => self.skip_value()?,
            }
        }
        Ok(match (wrong, method, parameters) {
            (Some(error), _, _) => Err(error),
            (None, Some(method), Some(parameters)) => Ok(MulticallEntry { method, parameters }),
            (None, method, _) => {
                let missing = match method {
                    None => "`methodName`",
                    Some(_) => "`params`",
                };
                let path = format!("[{index}]");
                let error = self
                    .cursor
                    .error_at_path(path, ErrorKind::Missing, EXPECTED);
                Err(error.found(format!("no {missing}")))
            }
        })
    }

    /// Reads the results of `system.multicall`, which are the value of a response, and the end of the
    /// message.
    ///
    /// With [`Leniency::bare_multicall`](super::Leniency::bare_multicall), results need not be arrays
    /// with one item. A peer wraps all results or none: if any result is not such an array, none is
    /// unwrapped.
    ///
    /// # Errors
    ///
    /// The message is malformed, the value is not an array, or an item is neither an array with one
    /// item nor the struct of a fault.
    pub fn multicall_results(&mut self) -> Result<Vec<MulticallResult>, Error> {
        let mut seq = self.read_array_start(|| "an array")?;
        let mut found = Vec::new();
        while self.next_item(&mut seq)? {
            let result = self.multicall_result()?;
            found.push(result);
        }
        self.finish()?;
        let bare = found
            .iter()
            .any(|result| matches!(result, ResultItem::Bare(_)));
        let results = found.into_iter().map(|result| match result {
            ResultItem::Fault(fault) => MulticallResult::Fault(fault),
            ResultItem::Wrapped { inner, .. } if !bare => MulticallResult::Value(inner),
            ResultItem::Wrapped { whole, .. } | ResultItem::Bare(whole) => {
                MulticallResult::Value(whole)
            }
        });
        Ok(results.collect())
    }

    /// Reads one result.
    fn multicall_result(&mut self) -> Result<ResultItem, Error> {
        const EXPECTED: &str = "an array of one value, or the struct of a fault";

        let start = self.cursor.at;
        let (kind, tag) = self.value_type()?;
        match kind {
            Type::Array => {
                let mut seq = self.begin_array(tag.remaining_ends())?;
                let mut inner = None;
                while self.next_item(&mut seq)? {
                    let start = self.cursor.at;
                    self.skip_value()?;
                    inner = Some(start..self.cursor.at);
                }
                if let Some(inner) = inner
                    && seq.count == 1
                {
                    let whole = start..self.cursor.at;
                    return Ok(ResultItem::Wrapped { whole, inner });
                }
            }
            Type::Struct => {
                self.cursor.at = start;
                let value = Value::decode(Member::DOCUMENT, self)?;
                let is_fault = value.as_map().is_some_and(|map| {
                    map.contains_key("faultCode") && map.contains_key("faultString")
                });
                if is_fault {
                    return Ok(ResultItem::Fault(value));
                }
            }
            _ => {
                self.cursor.at = start;
                self.skip_value()?;
            }
        }
        match self.profile.leniency.bare_multicall() {
            true => Ok(ResultItem::Bare(start..self.cursor.at)),
            false => Err(self.wrong_type(start, EXPECTED)),
        }
    }
}

/// A result of `system.multicall`, before it is known whether the results are wrapped.
enum ResultItem {
    /// The struct of a fault.
    Fault(Value),
    /// An array with one item: a wrapped result, or a result that is such an array.
    Wrapped {
        whole: Range<usize>,
        inner: Range<usize>,
    },
    /// A result that is not wrapped.
    Bare(Range<usize>),
}
