//! How a name is spelled on each wire, prepared once.
//!
//! Protocols disagree on names: restJson1 follows `@jsonName` where awsJson
//! ignores it, ec2Query capitalises, XML may add a namespace. And formats
//! compare and write them as runs of bytes. Both are settled here, when a
//! schema set is built: for each member and each [`Encoding`], one run of
//! bytes that stands on the wire as it is.

use polywire_text::escape::{self, Forbidden, XmlPlace};
use polywire_text::percent;

/// Where a name comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum NameSource {
    /// The member's own name.
    Member = 0,
    /// `@jsonName`, else the member's name.
    Json = 1,
    /// `@xmlName`, else the member's name; with its prefix, if it has one.
    Xml = 2,
    /// awsQuery: `@xmlName`, else the member's name.
    Query = 3,
    /// ec2Query: `@ec2QueryName`, else `@xmlName` or the member's name with
    /// its first letter in upper case.
    Ec2 = 4,
}

impl NameSource {
    /// How many there are.
    pub const COUNT: usize = 5;
}

/// A spelling of a member's name, ready for a wire.
///
/// | encoding | bytes of a member `cityId` |
/// |---|---|
/// | `JsonMember`, `JsonName` | `"cityId":` |
/// | `Cbor` | `66 63 69 74 79 49 64` (text string of six bytes) |
/// | `XmlRpc` | `<member><name>cityId</name><value>` |
/// | `XmlOpen` | `<cityId>`, with its namespace; of an attribute ` cityId="` |
/// | `XmlClose` | `</cityId>` |
/// | `Query`, `Ec2` | `cityId`, `CityId` (percent-encoded) |
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Encoding {
    /// JSON by the member's own name: awsJson.
    JsonMember = 0,
    /// JSON by `@jsonName`: restJson1.
    JsonName = 1,
    /// CBOR text string with its head.
    Cbor = 2,
    /// XML-RPC up to the value's tag.
    XmlRpc = 3,
    /// XML start tag.
    XmlOpen = 4,
    /// XML end tag.
    XmlClose = 5,
    /// awsQuery key segment.
    Query = 6,
    /// ec2Query key segment.
    Ec2 = 7,
}

impl Encoding {
    /// How many there are.
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

    /// Which of a member's names is encoded.
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

/// What a member's names are made of.
pub(crate) struct NameParts<'a> {
    pub(crate) member: &'a str,
    pub(crate) json: Option<&'a str>,
    pub(crate) xml: Option<&'a str>,
    pub(crate) xml_namespace: Option<(Option<&'a str>, &'a str)>,
    pub(crate) xml_attribute: bool,
    pub(crate) ec2: Option<&'a str>,
}

impl NameParts<'_> {
    /// The plain name of a source.
    pub(crate) fn plain(&self, source: NameSource) -> String {
        match source {
            NameSource::Member => self.member.to_owned(),
            NameSource::Json => self.json.unwrap_or(self.member).to_owned(),
            NameSource::Xml | NameSource::Query => self.xml.unwrap_or(self.member).to_owned(),
            NameSource::Ec2 => match self.ec2 {
                Some(name) => name.to_owned(),
                None => capitalised(self.xml.unwrap_or(self.member)),
            },
        }
    }

    /// Appends the run of an encoding.
    pub(crate) fn push(&self, out: &mut Vec<u8>, encoding: Encoding) {
        let name = self.plain(encoding.source());
        match encoding {
            Encoding::JsonMember | Encoding::JsonName => {
                escape::push_json_string(out, &name, *b"\":");
            }
            Encoding::Cbor => push_cbor_text(out, &name),
            Encoding::XmlRpc => {
                out.extend_from_slice(b"<member><name>");
                push_xml(out, &name, XmlPlace::Text);
                out.extend_from_slice(b"</name><value>");
            }
            Encoding::XmlOpen if self.xml_attribute => {
                out.push(b' ');
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b"=\"");
            }
            Encoding::XmlOpen => {
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
            Encoding::XmlClose if self.xml_attribute => out.push(b'"'),
            Encoding::XmlClose => {
                out.extend_from_slice(b"</");
                out.extend_from_slice(name.as_bytes());
                out.push(b'>');
            }
            Encoding::Query | Encoding::Ec2 => {
                percent::push_bytes(out, name.as_bytes(), &percent::UNRESERVED);
            }
        }
    }
}

fn capitalised(name: &str) -> String {
    let mut characters = name.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

/// A text string of CBOR: major type 3, RFC 8949, section 3.1.
fn push_cbor_text(out: &mut Vec<u8>, text: &str) {
    match text.len() {
        len @ ..24 => out.push(0x60 + len as u8),
        len @ 24..256 => out.extend_from_slice(&[0x78, len as u8]),
        len => {
            out.push(0x79);
            // Identifiers are far shorter than 64 KiB; the builder refuses others.
            out.extend_from_slice(&(len as u16).to_be_bytes());
        }
    }
    out.extend_from_slice(text.as_bytes());
}

/// Characters that XML forbids are left out: names of shapes cannot hold them.
fn push_xml(out: &mut Vec<u8>, text: &str, place: XmlPlace) {
    let written = escape::push_xml_bytes(out, text.as_bytes(), place, Forbidden::Strip);
    debug_assert!(written.is_ok(), "nothing is refused");
}

/// A hash of a name by its length, its first eight bytes and its last eight:
/// what tells the members of one structure apart, at the price of two loads.
/// Shapes with many members that share all three use [`hash_whole`].
#[inline]
pub(crate) fn hash(name: &[u8]) -> u64 {
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let ends = match (name.first_chunk::<8>(), name.last_chunk::<8>()) {
        (Some(first), Some(last)) => [word(first), word(last)],
        _ => [short_word(name), 0],
    };
    hash_of_ends(ends, name.len())
}

/// As [`hash`], of the first eight bytes of a name and its last eight, as
/// [`Text::inline_ends`](polywire_text::Text::inline_ends) has them.
#[inline]
pub(crate) fn hash_of_ends([first, last]: [u64; 2], len: usize) -> u64 {
    let mixed = first ^ last.rotate_left(29) ^ (len as u64) << 56;
    mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A hash of a name by all its bytes.
pub(crate) fn hash_whole(name: &[u8]) -> u64 {
    // What the words before make is mixed before the next comes in, since a
    // product alone carries no bit downwards.
    let mix = |state: u64, word: u64| {
        let product = (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        product ^ product >> 32
    };
    let (words, rest) = name.as_chunks::<8>();
    let state = words.iter().fold(name.len() as u64, |state, word| {
        mix(state, u64::from_le_bytes(*word))
    });
    mix(state, short_word(rest)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Up to seven bytes as a number, the first one lowest.
#[inline]
fn short_word(name: &[u8]) -> u64 {
    let half = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
    if let (Some(first), Some(last)) = (name.first_chunk::<4>(), name.last_chunk::<4>()) {
        return half(first) | half(last) << (8 * (name.len() - 4));
    }
    let bytes = name.iter().rev();
    bytes.fold(0, |word, byte| word << 8 | u64::from(*byte))
}
