//! Reading of events.

use polywire_text::utf8;

use super::{EventRef, Fields};
use crate::json::Reader;
use crate::{Error, EventId, Limits, Member, Profile, PublicKey, Reason, Signature};

/// Above this, JavaScript does not write integers exactly.
const MAX_CREATED_AT: u64 = (1 << 53) - 1;

/// Reads an event and nothing behind it.
pub(super) fn event<'a>(
    json: &'a [u8],
    profile: Profile,
    limits: &Limits,
) -> Result<EventRef<'a>, Error> {
    let most = limits.bytes.min(u32::MAX as usize);
    if json.len() > most {
        return Err(Error::new(Reason::TooManyBytes, most));
    }
    let text = utf8::validate(json).map_err(|error| Error::new(Reason::NotUtf8, error.offset))?;
    let mut reader = Reader::new(text, profile);
    reader.skip_space();
    let event = read(&mut reader, limits)?;
    reader.end()?;
    Ok(event)
}

/// Reads the id alone.
pub(super) fn id(json: &[u8]) -> Result<EventId, Error> {
    // What follows the id need not be UTF-8, or be there at all.
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
            return Ok(EventId::from_bytes(id.0));
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

/// What has been read of an event, whose members may come in any order.
#[derive(Default)]
struct Partial {
    id: Option<[u8; 32]>,
    pubkey: Option<[u8; 32]>,
    sig: Option<[u8; 64]>,
    created_at: Option<u64>,
    kind: Option<u16>,
    tags: Option<(u32, u32, u32)>,
    content: Option<(u32, u32)>,
    /// Whether tags and content are canonical, as far as they have been read.
    tags_canonical: bool,
    content_canonical: bool,
}

/// Reads an event at the cursor.
pub(crate) fn read<'a>(reader: &mut Reader<'a>, limits: &Limits) -> Result<EventRef<'a>, Error> {
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
    let (tags_start, tags_end, tag_count) = partial.tags.ok_or(missing(Member::Tags))?;
    let fields = Fields {
        id: EventId::from_bytes(partial.id.ok_or(missing(Member::Id))?),
        pubkey: PublicKey::from_bytes(partial.pubkey.ok_or(missing(Member::Pubkey))?),
        sig: Signature::from_bytes(partial.sig.ok_or(missing(Member::Sig))?),
        created_at: partial.created_at.ok_or(missing(Member::CreatedAt))?,
        kind: partial.kind.ok_or(missing(Member::Kind))?,
        tags: (tags_start, tags_end),
        tag_count,
        content: partial.content.ok_or(missing(Member::Content))?,
        canonical: partial.tags_canonical && partial.content_canonical,
    };
    let json = reader.text_from(start);
    Ok(EventRef { json, fields })
}

/// The member that a key with escapes names.
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
    /// Reads the value of a member. `start` is where the event begins, `key_at` the member.
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
            Member::Id => self.id = Some(reader.hex()?.0),
            Member::Pubkey => self.pubkey = Some(reader.hex()?.0),
            Member::CreatedAt => self.created_at = Some(reader.unsigned(MAX_CREATED_AT)?.0),
            Member::Kind => {
                let (kind, _) = reader.unsigned(u64::from(u16::MAX))?;
                self.kind = Some(kind as u16);
            }
            Member::Tags => {
                let from = reader.at() - start;
                let (count, canonical) = tags(reader, limits)?;
                self.tags = Some((from as u32, (reader.at() - start) as u32, count));
                self.tags_canonical = canonical;
            }
            Member::Content => {
                let from = reader.at() - start + 1;
                let content = reader.string()?;
                self.content = Some((from as u32, (from + content.text.len()) as u32));
                self.content_canonical = content.spelling.canonical;
            }
            _ => self.sig = Some(reader.hex()?.0),
        }
        Ok(())
    }
}

/// Reads an array of tags. Returns their number, and whether they are spelled canonically.
fn tags(reader: &mut Reader<'_>, limits: &Limits) -> Result<(u32, bool), Error> {
    if !reader.take(b'[') {
        return Err(reader.wrong_type());
    }
    let mut canonical = !reader.skip_space();
    let mut count = 0;
    if reader.take(b']') {
        return Ok((count, canonical));
    }
    let most = limits.tags.min(u32::MAX as usize);
    loop {
        if count as usize == most {
            return Err(reader.error(Reason::TooManyTags));
        }
        count += 1;
        canonical &= tag(reader)?;
        canonical &= !reader.skip_space();
        if !reader.take(b',') {
            break;
        }
        canonical &= !reader.skip_space();
    }
    if !reader.take(b']') {
        return Err(reader.unexpected());
    }
    Ok((count, canonical))
}

/// Reads a tag. Returns whether it is spelled canonically.
#[inline(always)]
fn tag(reader: &mut Reader<'_>) -> Result<bool, Error> {
    if !reader.take(b'[') {
        return Err(match reader.wrong_type() {
            error if error.reason == Reason::WrongType => reader.error(Reason::TagNotArray),
            error => error,
        });
    }
    let mut canonical = !reader.skip_space();
    if reader.peek() == Some(b']') {
        if !reader.profile().empty_tags {
            return Err(reader.error(Reason::EmptyTag));
        }
        reader.take(b']');
        return Ok(canonical);
    }
    loop {
        if !reader.take(b'"') {
            return Err(match reader.wrong_type() {
                error if error.reason == Reason::WrongType => reader.error(Reason::TagNotString),
                error => error,
            });
        }
        canonical &= reader.skip_string()?.canonical;
        canonical &= !reader.skip_space();
        if !reader.take(b',') {
            break;
        }
        canonical &= !reader.skip_space();
    }
    if !reader.take(b']') {
        return Err(reader.unexpected());
    }
    Ok(canonical)
}
