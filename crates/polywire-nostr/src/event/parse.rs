//! Parsing of events.

use polywire_text::utf8;

use super::{EventRef, Fields};
use crate::json::{Reader, Spelling};
use crate::{Error, EventId, Limits, Member, Profile, PublicKey, Reason, Signature};

/// The largest integer that JavaScript represents exactly.
pub(super) const MAX_CREATED_AT: u64 = (1 << 53) - 1;

/// Parses an event. Text after it is an error.
pub(super) fn event<'a>(
    json: &'a [u8],
    profile: Profile,
    limits: &Limits,
) -> Result<EventRef<'a>, Error> {
    whole(json, profile, limits, SignatureRule::Required)
}

/// As [`event`], but `sig` is optional. Without it, the signature is all zeros.
pub(super) fn unsigned<'a>(
    json: &'a [u8],
    profile: Profile,
    limits: &Limits,
) -> Result<EventRef<'a>, Error> {
    whole(json, profile, limits, SignatureRule::Optional)
}

/// Whether an event must have a signature.
#[derive(Clone, Copy, Eq, PartialEq)]
enum SignatureRule {
    Required,
    Optional,
}

fn whole<'a>(
    json: &'a [u8],
    profile: Profile,
    limits: &Limits,
    signature: SignatureRule,
) -> Result<EventRef<'a>, Error> {
    let most = limits.bytes.min(u32::MAX as usize);
    if json.len() > most {
        return Err(Error::new(Reason::TooManyBytes, most));
    }
    let text = utf8::validate(json).map_err(|error| Error::new(Reason::NotUtf8, error.offset))?;
    let mut reader = Reader::new(text, profile);
    reader.skip_space();
    let event = read_with(&mut reader, limits, signature)?;
    reader.end()?;
    Ok(event)
}

/// Reads only the id.
pub(super) fn id(json: &[u8]) -> Result<EventId, Error> {
    // The text after the id may be truncated or not UTF-8.
    let text = match utf8::validate(json) {
        Ok(text) => text,
        Err(error) => utf8::validate(&json[..error.offset])
            .map_err(|error| Error::new(Reason::NotUtf8, error.offset))?,
    };
    let mut reader = Reader::new(text, Profile::STRICT);
    reader.skip_space();
    begin(&mut reader)?;
    let mut more = !reader.take(b'}');
    while more {
        let key = reader.key()?;
        if crate::json::decode(key.text) == "id" {
            let id = reader.hex().map_err(|error| error.in_member(Member::Id))?;
            return Ok(EventId::from_bytes(id));
        }
        reader.skip_value(Limits::DEFAULT.depth)?;
        more = reader.next_item(b'}')?;
    }
    Err(reader.error(Reason::Missing).in_member(Member::Id))
}

fn begin(reader: &mut Reader<'_>) -> Result<(), Error> {
    if !reader.take(b'{') {
        return Err(reader.wrong_type());
    }
    reader.skip_space();
    Ok(())
}

/// The members parsed so far. They may be in any order.
#[derive(Default)]
struct Partial {
    id: Option<[u8; 32]>,
    pubkey: Option<[u8; 32]>,
    sig: Option<[u8; 64]>,
    created_at: Option<u64>,
    kind: Option<u16>,
    tags: Option<(u32, u32, u32)>,
    content: Option<(u32, u32)>,
    tags_spelling: Option<Spelling>,
    content_spelling: Option<Spelling>,
}

/// Parses an event at the cursor.
pub(crate) fn read<'a>(reader: &mut Reader<'a>, limits: &Limits) -> Result<EventRef<'a>, Error> {
    read_with(reader, limits, SignatureRule::Required)
}

fn read_with<'a>(
    reader: &mut Reader<'a>,
    limits: &Limits,
    signature: SignatureRule,
) -> Result<EventRef<'a>, Error> {
    let start = reader.at();
    begin(reader)?;
    let mut partial = Partial::default();
    let mut more = !reader.take(b'}');
    while more {
        let key_at = reader.at();
        let key = reader.key()?;
        let known = match key.text.as_bytes() {
            b"id" => Some(Member::Id),
            b"pubkey" => Some(Member::Pubkey),
            b"created_at" => Some(Member::CreatedAt),
            b"kind" => Some(Member::Kind),
            b"tags" => Some(Member::Tags),
            b"content" => Some(Member::Content),
            b"sig" => Some(Member::Sig),
            other if !other.contains(&b'\\') => None,
            _ => escaped_key(key.text),
        };
        match known {
            Some(member) => {
                let result = partial.read(reader, member, start, key_at, limits);
                result.map_err(|error| error.in_member(member))?;
            }
            None => reader.skip_value(limits.depth)?,
        }
        more = reader.next_item(b'}')?;
    }
    let missing = |member| Error::new(Reason::Missing, reader.at()).in_member(member);
    let (tags_start, tags_end, tag_count) = partial.tags.ok_or_else(|| missing(Member::Tags))?;
    let sig = match partial.sig {
        Some(sig) => sig,
        None if signature == SignatureRule::Optional => [0; 64],
        None => return Err(missing(Member::Sig)),
    };
    let spellings = [partial.tags_spelling, partial.content_spelling];
    let spelling = spellings
        .into_iter()
        .flatten()
        .fold(Spelling::PLAIN, Spelling::and);
    let fields = Fields {
        id: EventId::from_bytes(partial.id.ok_or_else(|| missing(Member::Id))?),
        pubkey: PublicKey::from_bytes(partial.pubkey.ok_or_else(|| missing(Member::Pubkey))?),
        sig: Signature::from_bytes(sig),
        created_at: partial
            .created_at
            .ok_or_else(|| missing(Member::CreatedAt))?,
        kind: partial.kind.ok_or_else(|| missing(Member::Kind))?,
        tags: (tags_start, tags_end),
        tag_count,
        content: partial.content.ok_or_else(|| missing(Member::Content))?,
        canonical: spelling.canonical,
        lone_surrogates: spelling.lone_surrogate,
    };
    let json = reader.text_from(start);
    Ok(EventRef { json, fields })
}

/// Returns the member whose key is written with escapes.
#[cold]
fn escaped_key(raw: &str) -> Option<Member> {
    let key = crate::json::decode(raw);
    let members = [
        Member::Id,
        Member::Pubkey,
        Member::CreatedAt,
        Member::Kind,
        Member::Tags,
        Member::Content,
        Member::Sig,
    ];
    members.into_iter().find(|member| member.name() == key)
}

impl Partial {
    /// Reads the value of a member. `start` is the offset of the event, `key_at` that of the key.
    #[inline(always)]
    fn read(
        &mut self,
        reader: &mut Reader<'_>,
        member: Member,
        start: usize,
        key_at: usize,
        limits: &Limits,
    ) -> Result<(), Error> {
        let duplicate = match member {
            Member::Id => self.id.is_some(),
            Member::Pubkey => self.pubkey.is_some(),
            Member::CreatedAt => self.created_at.is_some(),
            Member::Kind => self.kind.is_some(),
            Member::Tags => self.tags.is_some(),
            Member::Content => self.content.is_some(),
            _ => self.sig.is_some(),
        };
        if duplicate && !reader.profile().duplicate_keys {
            return Err(Error::new(Reason::DuplicateKey, key_at));
        }
        match member {
            Member::Id => self.id = Some(reader.hex()?),
            Member::Pubkey => self.pubkey = Some(reader.hex()?),
            Member::CreatedAt => self.created_at = Some(reader.unsigned(MAX_CREATED_AT)?.0),
            Member::Kind => {
                let (kind, _) = reader.unsigned(u64::from(u16::MAX))?;
                self.kind = Some(kind as u16);
            }
            Member::Tags => {
                let from = reader.at() - start;
                let (count, spelling) = tags(reader, limits)?;
                self.tags = Some((from as u32, (reader.at() - start) as u32, count));
                self.tags_spelling = Some(spelling);
            }
            Member::Content => {
                let from = reader.at() - start + 1;
                let content = reader.string()?;
                self.content = Some((from as u32, (from + content.text.len()) as u32));
                self.content_spelling = Some(content.spelling);
            }
            _ => self.sig = Some(reader.hex()?),
        }
        Ok(())
    }
}

/// Reads an array of tags. Returns their number and spelling. White space is not canonical.
fn tags(reader: &mut Reader<'_>, limits: &Limits) -> Result<(u32, Spelling), Error> {
    if !reader.take(b'[') {
        return Err(reader.wrong_type());
    }
    let mut spelling = Spelling::PLAIN;
    spelling.canonical = !reader.skip_space();
    let mut count = 0;
    if reader.take(b']') {
        return Ok((count, spelling));
    }
    let most = limits.tags.min(u32::MAX as usize);
    loop {
        if count as usize == most {
            return Err(reader.error(Reason::TooManyTags));
        }
        count += 1;
        spelling = spelling.and(tag(reader)?);
        spelling.canonical &= !reader.skip_space();
        if !reader.take(b',') {
            break;
        }
        spelling.canonical &= !reader.skip_space();
    }
    if !reader.take(b']') {
        return Err(reader.unexpected());
    }
    Ok((count, spelling))
}

/// Reads a tag. Returns its spelling.
#[inline(always)]
fn tag(reader: &mut Reader<'_>) -> Result<Spelling, Error> {
    if !reader.take(b'[') {
        return Err(wrong_type(reader, Reason::TagNotArray));
    }
    let mut spelling = Spelling::PLAIN;
    spelling.canonical = !reader.skip_space();
    if reader.peek() == Some(b']') {
        if !reader.profile().empty_tags {
            return Err(reader.error(Reason::EmptyTag));
        }
        reader.take(b']');
        return Ok(spelling);
    }
    loop {
        if !reader.take(b'"') {
            return Err(wrong_type(reader, Reason::TagNotString));
        }
        spelling = spelling.and(reader.skip_string()?);
        spelling.canonical &= !reader.skip_space();
        if !reader.take(b',') {
            break;
        }
        spelling.canonical &= !reader.skip_space();
    }
    if !reader.take(b']') {
        return Err(reader.unexpected());
    }
    Ok(spelling)
}

/// An error for a value of the wrong type. Tags have more specific reasons than `WrongType`.
#[cold]
fn wrong_type(reader: &Reader<'_>, reason: Reason) -> Error {
    match reader.wrong_type() {
        error if error.reason == Reason::WrongType => reader.error(reason),
        error => error,
    }
}
