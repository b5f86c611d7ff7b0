//! `system.multicall`: several calls in one message.
//!
//! <https://mirrors.talideon.com/articles/multicall.html> is where it comes from: the
//! one parameter is an array of structs of `methodName` and `params`, the result an
//! array with an array of one, or a fault's struct, for each.

use std::ops::Range;

use polywire_schema::{Decode, Decoder, Error, ErrorKind, LimitKind, Member, Text, Value};

use super::XmlRpcDecoder;
use super::value::Type;
use crate::keep;

/// One of the calls in a `system.multicall`.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct MulticallEntry {
    /// The method.
    pub method: Text,
    /// Where in the message its parameters are: a part of it for
    /// [`XmlRpcDecoder::parameters_of`].
    pub parameters: Range<usize>,
}

/// One of the results of a `system.multicall`. It is one of these two, and there will be
/// no third.
#[derive(Clone, Debug, PartialEq)]
pub enum MulticallResult {
    /// Where in the message the value is: a part of it for
    /// [`XmlRpcDecoder::value`].
    Value(Range<usize>),
    /// The struct of a fault.
    Fault(Value),
}

impl<'de> XmlRpcDecoder<'de> {
    /// Reads the calls of a `system.multicall`, behind its method name. One that is
    /// none of the right form is an error of its own, and the others are read all
    /// the same.
    ///
    /// # Errors
    ///
    /// The call is malformed, has not one parameter that is an array, or holds more
    /// calls than the limit.
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
        let mut seq = self.begin_any_array()?;
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

    /// Reads one call. The outer error ends the message, the inner one the call.
    ///
    /// Where a call is wrong is known here: nothing is read again to find its path, so that
    /// a message of wrong calls costs what others do.
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
        let mut seq = self.begin_struct(tag.mark())?;
        let (mut method, mut parameters, mut wrong) = (None, None, None);
        while let Some(name) = self.next_member(&mut seq)? {
            self.count_item()?;
            let start = self.cursor.at;
            let (kind, _) = self.value_type()?;
            self.cursor.at = start;
            match (&*name, kind) {
                ("methodName" | "params", _)
                    if match &*name {
                        "params" => parameters.is_some(),
                        _ => method.is_some(),
                    } =>
                {
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

    /// Reads the results of a `system.multicall`, of which this is the response's
    /// value.
    ///
    /// With [`Leniency::bare_multicall`](super::Leniency::bare_multicall) results may be
    /// any values instead of arrays of one. A peer wraps all of its results or none: if
    /// one of them is no array of one, the others are not unwrapped either, and a result
    /// that is an array of one stays what it is.
    ///
    /// # Errors
    ///
    /// The value is malformed or no array, or an item is neither an array of one
    /// value nor a fault's struct.
    pub fn multicall_results(&mut self) -> Result<Vec<MulticallResult>, Error> {
        let mut seq = self.begin_any_array()?;
        let mut found = Vec::new();
        while self.next_item(&mut seq)? {
            let result = self.multicall_result()?;
            found.push(result);
        }
        self.finish()?;
        let bare = found.iter().any(|result| matches!(result, Found::Bare(_)));
        let results = found.into_iter().map(|result| match result {
            Found::Fault(fault) => MulticallResult::Fault(fault),
            Found::Wrapped { inner, .. } if !bare => MulticallResult::Value(inner),
            Found::Wrapped { whole, .. } | Found::Bare(whole) => MulticallResult::Value(whole),
        });
        Ok(results.collect())
    }

    fn multicall_result(&mut self) -> Result<Found, Error> {
        const EXPECTED: &str = "an array of one value, or the struct of a fault";

        let start = self.cursor.at;
        let (kind, tag) = self.value_type()?;
        match kind {
            Type::Array => {
                let mut seq = self.begin_array(tag.mark())?;
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
                    return Ok(Found::Wrapped { whole, inner });
                }
            }
            Type::Struct => {
                self.cursor.at = start;
                let value = Value::decode(Member::DOCUMENT, self)?;
                let is_fault = value.as_map().is_some_and(|map| {
                    map.contains_key("faultCode") && map.contains_key("faultString")
                });
                if is_fault {
                    return Ok(Found::Fault(value));
                }
            }
            _ => {
                self.cursor.at = start;
                self.skip_value()?;
            }
        }
        match self.profile.leniency.bare_multicall() {
            true => Ok(Found::Bare(start..self.cursor.at)),
            false => Err(self.wrong_type(start, EXPECTED)),
        }
    }
}

/// An item of a multicall's results, as it looks by itself.
enum Found {
    /// The struct of a fault.
    Fault(Value),
    /// An array of one value: a result in its wrapping, or a bare one that is such an
    /// array.
    Wrapped {
        whole: Range<usize>,
        inner: Range<usize>,
    },
    /// What can be nothing but a result without its wrapping.
    Bare(Range<usize>),
}
