//! Documents in other encodings than UTF-8.

use polywire_schema::{Body, Error, ErrorKind, LimitKind, Limits};

use super::Leniency;
use crate::xml_tokens::declaration::{ENCODING, other_encoding};

/// The document in UTF-8, if the leniency reads others and it is in another; nothing
/// if it is to be read as it is.
///
/// What it is in says a byte order mark, else `charset`, that of the media type it
/// came with, else its declaration. The declaration is blanked, since it no longer is
/// true: offsets in errors count in what is returned.
///
/// Without the feature `encodings` nothing is read but UTF-8, which is then all that
/// readers say.
///
/// # Errors
///
/// The encoding is not known, the document is not in it, or it is longer than the
/// limit, before or after.
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
    if body.len() > limits.bytes() {
        return Err(too_long(limits));
    }
    transcoded(body, charset, leniency, limits)
}

/// The error of bytes that are not UTF-8: names their encoding, if a byte order mark or the
/// declaration says that it is another one.
#[cold]
pub(super) fn not_utf8(body: &Body, error: Error) -> Error {
    let bytes = body.as_bytes();
    let encoding = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16".to_owned()),
        _ => declaration(bytes).and_then(other_encoding),
    };
    match encoding {
        None => error,
        Some(encoding) => unsupported(&encoding),
    }
}

/// The error of an encoding that is not read. Its offset is that of the byte order mark or
/// of the declaration: the beginning of the document.
#[cold]
fn unsupported(encoding: &str) -> Error {
    Error::new(ErrorKind::Encoding)
        .in_format("XML-RPC")
        .expected(ENCODING)
        .found(format!("`{encoding}`"))
        .at_offset(0)
}

/// What stands between `<?xml` and `?>`, if the document begins so.
fn declaration(bytes: &[u8]) -> Option<&str> {
    let declaration = bytes.strip_prefix(b"<?xml")?;
    let end = memchr::memmem::find(declaration, b"?>")?;
    std::str::from_utf8(&declaration[..end]).ok()
}

#[cold]
fn too_long(limits: &Limits) -> Error {
    Error::new(ErrorKind::Limit(LimitKind::Bytes(limits.bytes()))).in_format("XML-RPC")
}

#[cfg(not(feature = "encodings"))]
fn transcoded(_: &Body, _: Option<&str>, _: Leniency, _: &Limits) -> Result<Option<Body>, Error> {
    Ok(None)
}

#[cfg(feature = "encodings")]
fn transcoded(
    body: &Body,
    charset: Option<&str>,
    leniency: Leniency,
    limits: &Limits,
) -> Result<Option<Body>, Error> {
    use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
    use polywire_text::scan;

    use crate::snippet;
    use crate::xml_tokens::declaration::{is_utf8, pseudo_attribute};

    let bytes = body.as_bytes();
    // Where the declaration is looked for.
    let begin = |bytes: &[u8]| match leniency.leading_space() {
        true => scan::white_space(bytes),
        false => 0,
    };
    let declared = || pseudo_attribute(declaration(&bytes[begin(bytes)..])?, "encoding");
    let refuse = |label: &str| {
        let shown: String = label.chars().take(24).map(snippet::printable).collect();
        unsupported(&shown)
    };
    // How a document in UTF-16 begins that has no byte order mark.
    let (encoding, mark) = match Encoding::for_bom(bytes) {
        Some((encoding, len)) => (encoding, len),
        None if bytes.starts_with(b"<\0?\0") => (UTF_16LE, 0),
        None if bytes.starts_with(b"\0<\0?") => (UTF_16BE, 0),
        None => match charset.or_else(declared) {
            None => return Ok(None),
            // ASCII is UTF-8 here, and not windows-1252, as which browsers take it.
            Some(label) if is_utf8(label) => return Ok(None),
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
    if text.len() > limits.bytes() {
        return Err(too_long(limits));
    }
    if text[begin(text.as_bytes())..].starts_with("<?xml")
        && let Some(end) = text.find("?>")
    {
        text.replace_range(..end + 2, &" ".repeat(end + 2));
    }
    Ok(Some(Body::from(text.into_bytes())))
}

/// Where the first sequence begins that is malformed in `encoding`; `bytes.len()` if there is
/// none.
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
            DecoderResult::Malformed(sequence, behind) => {
                return read.saturating_sub(usize::from(sequence) + usize::from(behind));
            }
        }
    }
}
