//! The parameters of a query.

use std::borrow::Cow;

use polywire_text::{Malformed, form, percent};

/// A parameter of a query.
#[derive(Debug)]
pub(super) struct Parameter<'de> {
    pub(super) key: Cow<'de, str>,
    /// The value, or what the percent-decoder expected. An invalid parameter is an error only if a
    /// member is bound to it.
    pub(super) value: Result<Cow<'de, str>, &'static str>,
}

impl<'de> Parameter<'de> {
    /// A parameter that cannot be decoded.
    #[cold]
    fn malformed(text: &'de str, error: Malformed) -> Self {
        let key = text.split_once('=').map_or(text, |(key, _)| key);
        let decoded = percent::decode_query(key);
        Self {
            key: decoded.unwrap_or(Cow::Borrowed(key)),
            value: Err(error.expected),
        }
    }
}

/// Decodes the parameters of a query.
pub(super) fn parse(query: &str) -> Vec<Parameter<'_>> {
    let texts = query.split('&').filter(|text| !text.is_empty());
    let pairs = form::pairs(query).zip(texts);
    pairs
        .map(|(pair, text)| match pair {
            Ok(pair) => Parameter {
                key: pair.key,
                value: Ok(pair.value),
            },
            Err(error) => Parameter::malformed(text, error),
        })
        .collect()
}
