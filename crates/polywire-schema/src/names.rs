//! Encodes the names of members for each wire format.
//!
//! The name of a member depends on the protocol: restJson1 uses `@jsonName` but awsJson ignores it,
//! ec2Query capitalizes names, and XML can add a namespace. The builder of a schema set encodes
//! each name once for each [`NameEncoding`]. Formats then compare and copy these bytes.

use polywire_text::escape::{self, Forbidden, XmlPlace};
use polywire_text::percent;

/// The source of a member name: which traits of the model apply.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum NameSource {
    /// The name in the model.
    Member = 0,
    /// `@jsonName`, or else the name in the model.
    Json = 1,
    /// `@xmlName` with its prefix, or else the name in the model.
    Xml = 2,
    /// awsQuery: `@xmlName`, or else the name in the model.
    Query = 3,
    /// ec2Query: `@ec2QueryName`, or else the capitalized `@xmlName`, or else the capitalized name
    /// in the model.
    Ec2 = 4,
}

impl NameSource {
    /// The number of sources.
    pub const COUNT: usize = 5;
    pub(crate) const ALL: [Self; Self::COUNT] =
        [Self::Member, Self::Json, Self::Xml, Self::Query, Self::Ec2];
}

/// An encoding of a member name. The encoded name is copied to the wire without changes.
///
/// | encoding | bytes of a member `cityId` |
/// |---|---|
/// | `JsonMember`, `JsonName` | `"cityId":` |
/// | `Cbor` | `66 63 69 74 79 49 64` (text string of six bytes) |
/// | `XmlRpc` | `<member><name>cityId</name><value>` |
/// | `XmlOpen` | `<cityId>` with its namespace, or ` cityId="` for an attribute |
/// | `XmlClose` | `</cityId>` |
/// | `Query`, `Ec2` | `cityId`, `CityId` (percent-encoded) |
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum NameEncoding {
    /// JSON string and colon, without `@jsonName` (awsJson).
    JsonMember = 0,
    /// JSON string and colon, with `@jsonName` (restJson1).
    JsonName = 1,
    /// CBOR text string with its head.
    Cbor = 2,
    /// XML-RPC member, up to and including the `<value>` tag.
    XmlRpc = 3,
    /// XML start tag, or the start of an attribute.
    XmlOpen = 4,
    /// XML end tag, or the end of an attribute.
    XmlClose = 5,
    /// Segment of an awsQuery key, percent-encoded.
    Query = 6,
    /// Segment of an ec2Query key, percent-encoded.
    Ec2 = 7,
}

impl NameEncoding {
    /// The number of encodings.
    pub const COUNT: usize = 8;
    pub(crate) const ALL: [Self; Self::COUNT] = [
        Self::JsonMember,
        Self::JsonName,
        Self::Cbor,
        Self::XmlRpc,
        Self::XmlOpen,
        Self::XmlClose,
        Self::Query,
        Self::Ec2,
    ];

    /// Returns the source of the encoded name.
    #[must_use]
    pub const fn source(self) -> NameSource {
        match self {
            Self::JsonMember | Self::Cbor | Self::XmlRpc => NameSource::Member,
            Self::JsonName => NameSource::Json,
            Self::XmlOpen | Self::XmlClose => NameSource::Xml,
            Self::Query => NameSource::Query,
            Self::Ec2 => NameSource::Ec2,
        }
    }
}

/// The traits of a member that determine its names.
pub(crate) struct NameParts<'a> {
    pub(crate) member: &'a str,
    pub(crate) json: Option<&'a str>,
    pub(crate) xml: Option<&'a str>,
    pub(crate) xml_namespace: Option<(Option<&'a str>, &'a str)>,
    pub(crate) xml_attribute: bool,
    pub(crate) ec2: Option<&'a str>,
}

impl NameParts<'_> {
    /// Returns the unencoded name from a source.
    pub(crate) fn plain(&self, source: NameSource) -> String {
        match source {
            NameSource::Member => self.member.to_owned(),
            NameSource::Json => self.json.unwrap_or(self.member).to_owned(),
            NameSource::Xml | NameSource::Query => self.xml.unwrap_or(self.member).to_owned(),
            NameSource::Ec2 => match self.ec2 {
                Some(name) => name.to_owned(),
                None => capitalize(self.xml.unwrap_or(self.member)),
            },
        }
    }

    /// Appends the encoded name to `out`.
    pub(crate) fn push(&self, out: &mut Vec<u8>, encoding: NameEncoding) {
        let name = self.plain(encoding.source());
        match encoding {
            NameEncoding::JsonMember | NameEncoding::JsonName => {
                escape::push_json_string(out, &name, *b"\":");
            }
            NameEncoding::Cbor => push_cbor_text(out, &name),
            NameEncoding::XmlRpc => {
                out.extend_from_slice(b"<member><name>");
                push_xml(out, &name, XmlPlace::Text);
                out.extend_from_slice(b"</name><value>");
            }
            NameEncoding::XmlOpen if self.xml_attribute => {
                out.push(b' ');
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b"=\"");
            }
            NameEncoding::XmlOpen => {
                out.push(b'<');
                out.extend_from_slice(name.as_bytes());
                if let Some((prefix, uri)) = self.xml_namespace {
                    out.extend_from_slice(b" xmlns");
                    if let Some(prefix) = prefix {
                        out.push(b':');
                        out.extend_from_slice(prefix.as_bytes());
                    }
                    out.extend_from_slice(b"=\"");
                    push_xml(out, uri, XmlPlace::Attribute);
                    out.push(b'"');
                }
                out.push(b'>');
            }
            NameEncoding::XmlClose if self.xml_attribute => out.push(b'"'),
            NameEncoding::XmlClose => {
                out.extend_from_slice(b"</");
                out.extend_from_slice(name.as_bytes());
                out.push(b'>');
            }
            NameEncoding::Query | NameEncoding::Ec2 => {
                percent::push_bytes(out, name.as_bytes(), &percent::UNRESERVED);
            }
        }
    }
}

fn capitalize(name: &str) -> String {
    let mut characters = name.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

/// Appends a CBOR text string: major type 3 in section 3.1 of RFC 8949.
fn push_cbor_text(out: &mut Vec<u8>, text: &str) {
    match text.len() {
        len @ ..24 => out.push(0x60 + len as u8),
        len @ 24..256 => out.extend_from_slice(&[0x78, len as u8]),
        len => {
            out.push(0x79);
            // The builder rejects names of 64 KiB or more.
            out.extend_from_slice(&(len as u16).to_be_bytes());
        }
    }
    out.extend_from_slice(text.as_bytes());
}

/// Appends escaped text. Omits characters that XML forbids: names of shapes cannot contain them.
fn push_xml(out: &mut Vec<u8>, text: &str, place: XmlPlace) {
    let written = escape::push_xml_bytes(out, text.as_bytes(), place, Forbidden::Strip);
    debug_assert!(written.is_ok(), "`Forbidden::Strip` does not fail");
}

/// Multiplier of Fibonacci hashing: 2^64 divided by the golden ratio.
pub(crate) const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Hashes the length, the first eight bytes and the last eight bytes of a name. Two loads are
/// enough to distinguish the members of most structures. A shape in which too many members share
/// all three uses [`hash_whole`].
#[inline]
pub(crate) fn hash(name: &[u8]) -> u64 {
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let ends = match (name.first_chunk::<8>(), name.last_chunk::<8>()) {
        (Some(first), Some(last)) => [word(first), word(last)],
        _ => [short_word(name), 0],
    };
    hash_of_ends(ends, name.len())
}

/// Like [`hash`], but takes the first and last eight bytes from
/// [`Text::inline_ends`](polywire_text::Text::inline_ends).
#[inline]
pub(crate) fn hash_of_ends([first, last]: [u64; 2], len: usize) -> u64 {
    let mixed = first ^ last.rotate_left(29) ^ (len as u64) << 56;
    mixed.wrapping_mul(MULTIPLIER)
}

/// Hashes all bytes of a name.
pub(crate) fn hash_whole(name: &[u8]) -> u64 {
    // A multiplication moves information only to higher bits. The shift moves it back before the
    // next word is added.
    let mix = |state: u64, word: u64| {
        let product = (state ^ word).wrapping_mul(MULTIPLIER);
        product ^ product >> 32
    };
    let (words, rest) = name.as_chunks::<8>();
    let state = words.iter().fold(name.len() as u64, |state, word| {
        mix(state, u64::from_le_bytes(*word))
    });
    mix(state, short_word(rest)).wrapping_mul(MULTIPLIER)
}

/// Converts up to seven bytes to a little-endian number.
#[inline]
fn short_word(name: &[u8]) -> u64 {
    let half = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
    if let (Some(first), Some(last)) = (name.first_chunk::<4>(), name.last_chunk::<4>()) {
        return half(first) | half(last) << (8 * (name.len() - 4));
    }
    let bytes = name.iter().rev();
    bytes.fold(0, |word, byte| word << 8 | u64::from(*byte))
}
