//! The host prefix of a call: `@endpoint` and `@hostLabel`.
//!
//! <https://smithy.io/2.0/spec/endpoint-traits.html>

use bytes::Bytes;
use polywire_codec::Message;
use polywire_schema::{
    BigDecimal, BigInteger, Encoder, Error, ErrorKind, Member, MemberFlags, Operation, Timestamp,
};

use crate::HostPrefix;

/// Adds the host prefix to a request, with the labels from the input, if the operation has the
/// trait `@endpoint`. REST protocols take the labels from `HeadEncoder` and call [`fill`] instead.
pub(crate) fn add_host_prefix(
    request: &mut http::Request<Bytes>,
    operation: Operation<'_>,
    input: &dyn Message,
) -> Result<(), Error> {
    let prefix = operation.host_prefix();
    if prefix.is_empty() {
        return Ok(());
    }
    let mut labels = LabelCollector::default();
    if prefix.contains('{') {
        input.encode_any(operation.input().root(), &mut labels);
    }
    if let Some(error) = labels.error {
        return Err(error);
    }
    let prefix = HostPrefix(fill(prefix, &labels.found)?);
    request.extensions_mut().insert(prefix);
    Ok(())
}

/// Replaces the labels of a host prefix with their values. A value must be a valid label (RFC 1123,
/// section 2.1), because other characters could change the host.
pub(crate) fn fill(prefix: &str, labels: &[(String, String)]) -> Result<String, Error> {
    let mut host = String::new();
    let mut rest = prefix;
    while let Some((before, (name, after))) = rest
        .split_once('{')
        .and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    {
        let value = labels.iter().find(|(own, _)| own == name);
        let value = value.map_or("", |(_, value)| value);
        let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if !(1..=63).contains(&value.len())
            || !value.bytes().all(is_valid)
            || value.starts_with('-')
            || value.ends_with('-')
        {
            return Err(Error::new(ErrorKind::Unwritable)
                .in_format("HTTP")
                .expected("a host label of 1 to 63 letters, digits and hyphens, without hyphens at its ends")
                .found(format!("{value:?}"))
                .at_path(format!("host label {name}")));
        }
        host.push_str(before);
        host.push_str(value);
        rest = after;
    }
    host.push_str(rest);
    Ok(host)
}

/// Collects the host labels of an input. They are strings, and members of the top-level structure.
#[derive(Default)]
struct LabelCollector {
    found: Vec<(String, String)>,
    depth: u32,
    error: Option<Error>,
}

impl Encoder for LabelCollector {
    fn begin_structure(&mut self, _: Member<'_>, _: usize) {
        self.depth += 1;
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        self.depth == 1 && at.has(MemberFlags::HOST_LABEL)
    }

    fn is_head(&self) -> bool {
        true
    }

    fn end_structure(&mut self, _: Member<'_>) {
        self.depth -= 1;
    }

    fn string(&mut self, at: Member<'_>, value: &str) {
        self.found.push((at.name().to_owned(), value.to_owned()));
    }

    fn begin_list(&mut self, _: Member<'_>, _: usize) {}

    fn end_list(&mut self, _: Member<'_>) {}

    fn begin_map(&mut self, _: Member<'_>, _: usize) {}

    fn key(&mut self, _: Member<'_>, _: &str) {}

    fn end_map(&mut self, _: Member<'_>) {}

    fn boolean(&mut self, _: Member<'_>, _: bool) {}

    fn integer(&mut self, _: Member<'_>, _: i64) {}

    fn float(&mut self, _: Member<'_>, _: f32) {}

    fn double(&mut self, _: Member<'_>, _: f64) {}

    fn big_integer(&mut self, _: Member<'_>, _: &BigInteger) {}

    fn big_decimal(&mut self, _: Member<'_>, _: &BigDecimal) {}

    fn blob(&mut self, _: Member<'_>, _: &[u8]) {}

    fn timestamp(&mut self, _: Member<'_>, _: Timestamp) {}

    fn null(&mut self, _: Member<'_>) {}

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}
