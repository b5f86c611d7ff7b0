//! Contents in TLV form: types, lengths and values.

use super::bech32::{self, Name};
use super::{AddressPointer, EventPointer, Nip19Error, Nip19Reason, ProfilePointer};
use crate::{EventId, PublicKey};

const SPECIAL: u8 = 0;
const RELAY: u8 = 1;
const AUTHOR: u8 = 2;
const KIND: u8 = 3;

/// A value and its offset in the contents.
type Value<'a> = (usize, &'a [u8]);

/// The values of the known types.
#[derive(Default)]
struct Values<'a> {
    special: Option<Value<'a>>,
    relays: Vec<Value<'a>>,
    author: Option<Value<'a>>,
    kind: Option<Value<'a>>,
}

impl<'a> Values<'a> {
    fn read(name: &Name<'_>, contents: &'a [u8]) -> Result<Self, Nip19Error> {
        let mut values = Self::default();
        // `nprofile` and `nrelay` do not define these types.
        let has_author = matches!(name.prefix(), "nevent" | "naddr");
        let mut rest = contents;
        while let [kind, after @ ..] = rest {
            let at = contents.len() - rest.len();
            let truncated = || name.error(Nip19Reason::Truncated, at);
            let (len, after) = after.split_first().ok_or_else(truncated)?;
            let (value, after) = after
                .split_at_checked(usize::from(*len))
                .ok_or_else(truncated)?;
            rest = after;
            let known = match *kind {
                SPECIAL => &mut values.special,
                AUTHOR if has_author => &mut values.author,
                KIND if has_author => &mut values.kind,
                RELAY => {
                    values.relays.push((at + 2, value));
                    continue;
                }
                // Unknown types must be ignored (NIP-19).
                _ => continue,
            };
            if known.replace((at + 2, value)).is_some() {
                return Err(name.error(Nip19Reason::Repeated(*kind), at));
            }
        }
        Ok(values)
    }
}

/// Decodes values.
struct Reader<'n> {
    name: &'n Name<'n>,
    /// The length of the contents, which is the offset of errors about missing values.
    len: usize,
}

impl Reader<'_> {
    fn some<'v>(&self, value: Option<Value<'v>>, kind: u8) -> Result<Value<'v>, Nip19Error> {
        value.ok_or_else(|| self.name.error(Nip19Reason::Missing(kind), self.len))
    }

    fn array<const LEN: usize>(&self, (at, bytes): Value<'_>) -> Result<[u8; LEN], Nip19Error> {
        let array = bytes.try_into();
        array.map_err(|_| self.name.error(Nip19Reason::Length, at))
    }

    fn kind(&self, value: Value<'_>) -> Result<u16, Nip19Error> {
        let kind = u32::from_be_bytes(self.array(value)?);
        kind.try_into()
            .map_err(|_| self.name.error(Nip19Reason::Kind, value.0))
    }

    fn url(&self, (at, bytes): Value<'_>) -> Result<String, Nip19Error> {
        let text = std::str::from_utf8(bytes)
            .ok()
            .filter(|text| text.is_ascii());
        match text {
            Some(text) => Ok(text.to_owned()),
            None => Err(self.name.error(Nip19Reason::Text, at)),
        }
    }

    fn relays(&self, relays: &[Value<'_>]) -> Result<Vec<String>, Nip19Error> {
        relays.iter().map(|relay| self.url(*relay)).collect()
    }
}

pub(super) fn read_profile(name: &Name<'_>) -> Result<ProfilePointer, Nip19Error> {
    let contents = name.contents();
    let (values, reader) = read(name, &contents)?;
    let public_key = reader.array(reader.some(values.special, SPECIAL)?)?;
    Ok(ProfilePointer {
        public_key: PublicKey::from_bytes(public_key),
        relays: reader.relays(&values.relays)?,
    })
}

pub(super) fn read_event(name: &Name<'_>) -> Result<EventPointer, Nip19Error> {
    let contents = name.contents();
    let (values, reader) = read(name, &contents)?;
    let id = reader.array(reader.some(values.special, SPECIAL)?)?;
    let author = values
        .author
        .map(|author| reader.array(author))
        .transpose()?;
    Ok(EventPointer {
        id: EventId::from_bytes(id),
        relays: reader.relays(&values.relays)?,
        author: author.map(PublicKey::from_bytes),
        kind: values.kind.map(|kind| reader.kind(kind)).transpose()?,
    })
}

pub(super) fn read_address(name: &Name<'_>) -> Result<AddressPointer, Nip19Error> {
    let contents = name.contents();
    let (values, reader) = read(name, &contents)?;
    let (at, identifier) = reader.some(values.special, SPECIAL)?;
    let identifier = std::str::from_utf8(identifier);
    let author = reader.array(reader.some(values.author, AUTHOR)?)?;
    Ok(AddressPointer {
        identifier: identifier
            .map_err(|_| name.error(Nip19Reason::Text, at))?
            .to_owned(),
        author: PublicKey::from_bytes(author),
        kind: reader.kind(reader.some(values.kind, KIND)?)?,
        relays: reader.relays(&values.relays)?,
    })
}

pub(super) fn read_relay(name: &Name<'_>) -> Result<String, Nip19Error> {
    let contents = name.contents();
    let (values, reader) = read(name, &contents)?;
    reader.url(reader.some(values.special, SPECIAL)?)
}

fn read<'a>(
    name: &'a Name<'a>,
    contents: &'a [u8],
) -> Result<(Values<'a>, Reader<'a>), Nip19Error> {
    let values = Values::read(name, contents)?;
    let len = contents.len();
    Ok((values, Reader { name, len }))
}

/// Writes contents.
struct Writer {
    prefix: &'static str,
    contents: Vec<u8>,
}

impl Writer {
    fn new(prefix: &'static str) -> Self {
        Self {
            prefix,
            contents: Vec::new(),
        }
    }

    fn value(mut self, kind: u8, value: &[u8]) -> Result<Self, Nip19Error> {
        let at = self.contents.len();
        let Ok(len) = value.len().try_into() else {
            return Err(bech32::error_at(self.prefix.len(), Nip19Reason::Length, at));
        };
        self.contents.extend([kind, len]);
        self.contents.extend(value);
        Ok(self)
    }

    fn url(self, kind: u8, url: &str) -> Result<Self, Nip19Error> {
        let at = self.contents.len();
        match url.is_ascii() {
            true => self.value(kind, url.as_bytes()),
            false => Err(bech32::error_at(self.prefix.len(), Nip19Reason::Text, at)),
        }
    }

    fn relays(self, relays: &[String]) -> Result<Self, Nip19Error> {
        let mut writer = self;
        for relay in relays {
            writer = writer.url(RELAY, relay)?;
        }
        Ok(writer)
    }

    fn kind(self, kind: u16) -> Result<Self, Nip19Error> {
        self.value(KIND, &u32::from(kind).to_be_bytes())
    }

    fn finish(self) -> Result<String, Nip19Error> {
        bech32::write(self.prefix, &self.contents)
    }
}

pub(super) fn write_profile(profile: &ProfilePointer) -> Result<String, Nip19Error> {
    Writer::new("nprofile")
        .value(SPECIAL, profile.public_key.as_bytes())?
        .relays(&profile.relays)?
        .finish()
}

pub(super) fn write_event(event: &EventPointer) -> Result<String, Nip19Error> {
    let mut writer = Writer::new("nevent")
        .value(SPECIAL, event.id.as_bytes())?
        .relays(&event.relays)?;
    if let Some(author) = &event.author {
        writer = writer.value(AUTHOR, author.as_bytes())?;
    }
    if let Some(kind) = event.kind {
        writer = writer.kind(kind)?;
    }
    writer.finish()
}

pub(super) fn write_address(address: &AddressPointer) -> Result<String, Nip19Error> {
    Writer::new("naddr")
        .value(SPECIAL, address.identifier.as_bytes())?
        .relays(&address.relays)?
        .value(AUTHOR, address.author.as_bytes())?
        .kind(address.kind)?
        .finish()
}

pub(super) fn write_relay(relay: &str) -> Result<String, Nip19Error> {
    Writer::new("nrelay").url(SPECIAL, relay)?.finish()
}
