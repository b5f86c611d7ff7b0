//! Ranges of a body (RFC 9110, section 14).

use http::StatusCode;
use polywire_protocol::Fault;
use polywire_schema::{Location, Map, Member, Operation, Schema, ShapeKind, Value};

/// Cuts the body of an output to the range that the header `Range` of the input asks for. Several
/// ranges, other units and invalid ranges are ignored, as section 14.2 allows.
pub(super) fn apply(operation: Operation<'_>, input: &Map, output: &mut Map) -> Result<(), Fault> {
    let Some(range) = header(operation.input(), "range") else {
        return Ok(());
    };
    let Some(range) = input.get(range.name()).and_then(Value::as_str) else {
        return Ok(());
    };
    let mut members = operation.output().members();
    let payload = members
        .find(|member| member.location() == Location::Payload && member.kind() == ShapeKind::Blob);
    let Some(payload) = payload else {
        return Ok(());
    };
    let body = output.get(payload.name()).and_then(Value::as_blob);
    let body = body.unwrap_or_default();
    let length = body.len();
    let Some(range) = parse(range, length) else {
        return Ok(());
    };
    let Some((start, end)) = range else {
        let text = format!("the body has only {length} bytes");
        let status = StatusCode::RANGE_NOT_SATISFIABLE;
        return Err(Fault::named(status, "InvalidRange", text));
    };
    let part = body.get(start..end).unwrap_or_default().to_vec();
    if let Some(member) = header(operation.output(), "content-range") {
        let text = format!("bytes {start}-{}/{length}", end - 1);
        output.insert(member.name(), text);
    }
    if let Some(member) = header(operation.output(), "content-length") {
        let length = i64::try_from(part.len()).unwrap_or(i64::MAX);
        output.insert(member.name(), length);
    }
    output.insert(payload.name(), Value::Blob(part.into()));
    // What was remembered are sums of the whole body.
    for member in operation.output().members() {
        let name = member.name().to_ascii_lowercase();
        let is_sum = name.contains("checksum") || name.contains("md5");
        if is_sum && member.location() == Location::Header {
            output.remove(member.name());
        }
    }
    Ok(())
}

/// The member that is bound to a header.
fn header<'s>(shape: Schema<'s>, name: &str) -> Option<Member<'s>> {
    let mut members = shape.members();
    members.find(|member| {
        member.location() == Location::Header && member.location_name().eq_ignore_ascii_case(name)
    })
}

/// The start and the end of a range of so many bytes. `None` if it is to be ignored, and
/// `Some(None)` if no byte is in it.
fn parse(range: &str, length: usize) -> Option<Option<(usize, usize)>> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // More digits than a number has are past the end.
        is_number.then(|| text.parse().unwrap_or(usize::MAX))
    };
    if first.is_empty() {
        let count = number(last)?.min(length);
        return Some((count > 0).then(|| (length - count, length)));
    }
    let start = number(first)?;
    let end = match last.is_empty() {
        true => length,
        false => number(last)?.saturating_add(1),
    };
    if end <= start {
        // The last byte before the first one: invalid, except at the end of the body.
        return (last.is_empty()).then_some(None);
    }
    Some((start < length).then(|| (start, end.min(length))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        for (text, expected) in [
            ("bytes=0-0", Some(Some((0, 1)))),
            ("bytes=2-", Some(Some((2, 10)))),
            ("bytes=2-99999999999999999999999", Some(Some((2, 10)))),
            ("bytes=-3", Some(Some((7, 10)))),
            ("bytes=-30", Some(Some((0, 10)))),
            ("bytes=-0", Some(None)),
            ("bytes=10-", Some(None)),
            ("bytes=10-12", Some(None)),
            ("bytes=5-4", None),
            ("bytes=a-", None),
            ("bytes=+1-2", None),
            ("bytes=0-1,3-4", None),
            ("lines=0-1", None),
            ("bytes=", None),
        ] {
            assert_eq!(parse(text, 10), expected, "{text}");
        }
        assert_eq!(parse("bytes=0-", 0), Some(None));
    }
}
