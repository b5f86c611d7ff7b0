//! Converts documents in encodings other than UTF-8.

use polywire_schema::{Body, Error, ErrorKind, Limits};

use super::Leniency;
use crate::checks;
use crate::xml_tokens::declaration::{EXPECTED_ENCODING, non_utf8_encoding};

/// Converts a document to UTF-8. Returns `None` if the document needs no conversion, or
/// [`Leniency::foreign_encodings`] is off.
///
/// The encoding is that of the byte order mark, or else `charset` (the parameter of the media type), or
/// else that of the XML declaration. The declaration is replaced by spaces in the result. Offsets of
/// later errors are relative to the result.
///
/// Without the feature `encodings`, the result is always `None`, and decoders then reject encodings
/// other than UTF-8.
///
/// # Errors
///
/// The encoding is unknown, the document contains bytes that are invalid in it, or the document or the
/// result is longer than [`Limits::bytes`].
///
/// ```
/// # #[cfg(feature = "encodings")] {
/// use polywire_codec::xmlrpc::{Leniency, XmlRpcDecoder, XmlRpcProfile, to_utf8};
/// use polywire_schema::{Body, Limits};
///
/// // As PHP sends it.
/// let sent = b"<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><methodResponse><params><param>\
///     <value>Z\xfcrich</value></param></params></methodResponse>";
/// let leniency = Leniency::STRICT.with_foreign_encodings(true);
/// let limits = Limits::DEFAULT;
/// let body = to_utf8(&Body::from(&sent[..]), None, leniency, &limits)?.unwrap();
/// let (_, mut decoder) = XmlRpcDecoder::response(&body, XmlRpcProfile::DEFAULT, &limits)?;
/// # #[cfg(feature = "serde")]
/// assert_eq!(decoder.deserialize::<String>()?, "Zürich");
/// # let _ = &mut decoder;
/// # }
/// # Ok::<(), polywire_schema::Error>(())
/// ```
pub fn to_utf8(
    body: &Body,
    charset: Option<&str>,
    leniency: Leniency,
    limits: &Limits,
) -> Result<Option<Body>, Error> {
    if !leniency.foreign_encodings() {
        return Ok(None);
    }
    checks::message_len(body.len(), limits, "XML-RPC")?;
    transcode(body, charset, leniency, limits)
}

/// The error for bytes that are not UTF-8. It names the encoding, if a byte order mark or the
/// declaration has another one. Otherwise it is `error`.
#[cold]
pub(super) fn not_utf8(body: &Body, error: Error) -> Error {
    let bytes = body.as_bytes();
    let encoding = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16".to_owned()),
        _ => declaration(bytes).and_then(non_utf8_encoding),
    };
    match encoding {
        None => error,
        Some(encoding) => unsupported(&encoding),
    }
}

/// The error for an encoding that is not supported. Its offset is 0, where a byte order mark or the
/// declaration is.
#[cold]
fn unsupported(encoding: &str) -> Error {
    Error::new(ErrorKind::Encoding)
        .in_format("XML-RPC")
        .expected(EXPECTED_ENCODING)
        .found(format!("`{encoding}`"))
        .at_offset(0)
}

/// The content of the XML declaration, if the document begins with one.
fn declaration(bytes: &[u8]) -> Option<&str> {
    let declaration = bytes.strip_prefix(b"<?xml")?;
    let end = memchr::memmem::find(declaration, b"?>")?;
    std::str::from_utf8(&declaration[..end]).ok()
}

#[cfg(not(feature = "encodings"))]
fn transcode(_: &Body, _: Option<&str>, _: Leniency, _: &Limits) -> Result<Option<Body>, Error> {
    Ok(None)
}

#[cfg(feature = "encodings")]
fn transcode(
    body: &Body,
    charset: Option<&str>,
    leniency: Leniency,
    limits: &Limits,
) -> Result<Option<Body>, Error> {
    use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
    use polywire_text::scan;

    use crate::snippet;
    use crate::xml_tokens::declaration::{is_utf8_compatible, pseudo_attribute};

    let bytes = body.as_bytes();
    // The offset at which a declaration may begin.
    let begin = |bytes: &[u8]| match leniency.leading_space() {
        true => scan::white_space(bytes),
        false => 0,
    };
    let declared = || pseudo_attribute(declaration(&bytes[begin(bytes)..])?, "encoding");
    let refuse = |label: &str| {
        let shown: String = label.chars().take(24).map(snippet::printable).collect();
        unsupported(&shown)
    };
    // Without a byte order mark, a document in UTF-16 begins with the encoded `<?`.
    let (encoding, mark) = match Encoding::for_bom(bytes) {
        Some((encoding, len)) => (encoding, len),
        None if bytes.starts_with(b"<\0?\0") => (UTF_16LE, 0),
        None if bytes.starts_with(b"\0<\0?") => (UTF_16BE, 0),
        None => match charset.or_else(declared) {
            None => return Ok(None),
            // Includes ASCII, which `encoding_rs` would read as windows-1252, as browsers do.
            Some(label) if is_utf8_compatible(label) => return Ok(None),
            Some(label) => match Encoding::for_label(label.as_bytes()) {
                Some(encoding) => (encoding, 0),
                None => return Err(refuse(label)),
            },
        },
    };
    if encoding == UTF_8 {
        return Ok(None);
    }
    let text = encoding
        .decode_without_bom_handling_and_without_replacement(&bytes[mark..])
        .ok_or_else(|| {
            Error::new(ErrorKind::Characters)
                .in_format("XML-RPC")
                .expected("UTF-8")
                .found(format!("bytes that {} does not have", encoding.name()))
                .at_offset(mark + malformed_at(encoding, &bytes[mark..]))
        })?;
    let mut text = text.into_owned();
    checks::message_len(text.len(), limits, "XML-RPC")?;
    if text[begin(text.as_bytes())..].starts_with("<?xml")
        && let Some(end) = text.find("?>")
    {
        text.replace_range(..end + 2, &" ".repeat(end + 2));
    }
    Ok(Some(Body::from(text.into_bytes())))
}

/// The offset of the first sequence that is invalid in `encoding`, or `bytes.len()`.
#[cfg(feature = "encodings")]
#[cold]
fn malformed_at(encoding: &'static encoding_rs::Encoding, bytes: &[u8]) -> usize {
    use encoding_rs::DecoderResult;

    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut unused = [0; 1024];
    let mut read = 0;
    loop {
        let rest = &bytes[read..];
        let (result, count, _) =
            decoder.decode_to_utf8_without_replacement(rest, &mut unused, true);
        read += count;
        match result {
            DecoderResult::OutputFull => {}
            DecoderResult::InputEmpty => return read,
            DecoderResult::Malformed(sequence, after) => {
                return read.saturating_sub(usize::from(sequence) + usize::from(after));
            }
        }
    }
}
