//! What a side accepts: the body of `HELLO`.

use super::{Flags, HEADER, Header, Kind, ProtocolError};

/// What a side accepts, as stated in its `HELLO`. Settings hold for the whole connection.
///
/// ```
/// use polywire_frame::Settings;
///
/// let settings = Settings::default().with_calls(256);
/// assert_eq!((settings.calls(), settings.frame()), (256, 16 << 20));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Settings {
    frame: u32,
    calls: u32,
    bytes: u32,
    window: u32,
    names: u32,
    ping: u32,
    features: Features,
    items: u32,
}

/// Optional abilities of a receiver. Bit 0 is reserved: it is sent as 0 and ignored.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Features(pub u32);

impl Features {
    /// Compressed payloads. Not used over datagrams.
    pub const DEFLATE: Self = Self(2);
    /// No feature.
    pub const NONE: Self = Self(0);

    /// Whether all of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The features that are in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The flags of frames that a receiver with these features can read.
    pub(super) const fn flags(self) -> Flags {
        let mut flags = Flags::EXTENSION.union(Flags::OPEN).union(Flags::UNSTARTED);
        if self.contains(Self::DEFLATE) {
            flags = flags.union(Flags::DEFLATE);
        }
        flags
    }
}

/// A setting: its key, its name, and its range.
struct Rule {
    key: u16,
    name: &'static str,
    least: u32,
    most: u32,
}

const FRAME: u16 = 1;
const CALLS: u16 = 2;
const BYTES: u16 = 3;
const WINDOW: u16 = 4;
const NAMES: u16 = 5;
const PING: u16 = 6;
const FEATURES: u16 = 7;
const ITEMS: u16 = 8;

/// In the order of their keys, which begin at 1.
const RULES: [Rule; 8] = {
    const fn rule(key: u16, name: &'static str, least: u32, most: u32) -> Rule {
        Rule {
            key,
            name,
            least,
            most,
        }
    }
    [
        rule(FRAME, "frame", 65_536, 1 << 30),
        rule(CALLS, "calls", 64, 65_535),
        rule(BYTES, "bytes", 1 << 20, u32::MAX),
        rule(WINDOW, "window", 65_536, i32::MAX as u32),
        rule(NAMES, "names", 64, 65_535),
        rule(PING, "ping", 0, u32::MAX),
        rule(FEATURES, "features", 0, u32::MAX),
        rule(ITEMS, "items", 1 << 20, i32::MAX as u32),
    ]
};

/// Bytes of a setting: its key and its value.
const SETTING: usize = 6;

impl Settings {
    /// The defaults of this implementation.
    ///
    /// | setting | value | why |
    /// |---|--:|---|
    /// | frame | 16 MiB | the limit of all other messages |
    /// | calls | 1,024 | beyond it, queues do not help a single client |
    /// | bytes | 32 MiB | two of the largest frames |
    /// | window | 256 KiB | a gigabyte a second at a round trip of 0.2 ms |
    /// | names | 1,024 | services have fewer operations |
    /// | ping | 10 s | cheap, and shorter than the idle timeout of middleboxes |
    /// | features | none | |
    /// | items | 4 MiB | sixteen windows of streams that are not read |
    pub const DEFAULT: Self = Self {
        frame: 16 << 20,
        calls: 1_024,
        bytes: 32 << 20,
        window: 256 << 10,
        names: 1_024,
        ping: 10_000,
        features: Features::NONE,
        items: 4 << 20,
    };

    /// What holds until a side's `HELLO` has arrived.
    pub const INITIAL: Self = Self {
        frame: 65_536,
        calls: 64,
        bytes: 1 << 20,
        window: 65_536,
        names: 64,
        ping: 10_000,
        features: Features::NONE,
        items: 1 << 20,
    };

    /// The most bytes of a body.
    #[must_use]
    pub const fn frame(&self) -> u32 {
        self.frame
    }

    /// The most calls open at once.
    #[must_use]
    pub const fn calls(&self) -> u32 {
        self.calls
    }

    /// The most bytes of bodies of calls open at once.
    #[must_use]
    pub const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The initial credit of a stream, in bytes.
    #[must_use]
    pub const fn window(&self) -> u32 {
        self.window
    }

    /// The most operations with a number.
    #[must_use]
    pub const fn names(&self) -> u32 {
        self.names
    }

    /// The least milliseconds between two pings of a client.
    #[must_use]
    pub const fn ping(&self) -> u32 {
        self.ping
    }

    /// Optional abilities.
    #[must_use]
    pub const fn features(&self) -> Features {
        self.features
    }

    /// The initial credit of all streams together, in bytes.
    #[must_use]
    pub const fn items(&self) -> u32 {
        self.items
    }

    /// Sets the most bytes of a body: 64 KiB to 1 GiB. Like all numbers here, it is clamped to its range.
    pub fn with_frame(self, frame: u32) -> Self {
        self.with(FRAME, frame)
    }

    /// Sets the most calls open at once: 64 to 65,535.
    pub fn with_calls(self, calls: u32) -> Self {
        self.with(CALLS, calls)
    }

    /// Sets the most bytes of open calls: at least 1 MiB.
    pub fn with_bytes(self, bytes: u32) -> Self {
        self.with(BYTES, bytes)
    }

    /// Sets the initial credit of a stream: 64 KiB to 2 GiB.
    pub fn with_window(self, window: u32) -> Self {
        self.with(WINDOW, window)
    }

    /// Sets the initial credit of all streams of a connection together: 1 MiB to 2 GiB.
    pub fn with_items(self, items: u32) -> Self {
        self.with(ITEMS, items)
    }

    /// Sets the most operations with a number: 64 to 65,535.
    pub fn with_names(self, names: u32) -> Self {
        self.with(NAMES, names)
    }

    /// Sets the least milliseconds between two pings of a client.
    pub fn with_ping(self, ping: u32) -> Self {
        self.with(PING, ping)
    }

    /// Sets the optional abilities.
    pub const fn with_features(mut self, features: Features) -> Self {
        self.features = features;
        self
    }

    fn with(mut self, key: u16, value: u32) -> Self {
        if let Some(rule) = rule(key) {
            *self.field(key) = value.clamp(rule.least, rule.most);
        }
        self
    }

    fn field(&mut self, key: u16) -> &mut u32 {
        match key {
            FRAME => &mut self.frame,
            CALLS => &mut self.calls,
            BYTES => &mut self.bytes,
            WINDOW => &mut self.window,
            NAMES => &mut self.names,
            PING => &mut self.ping,
            ITEMS => &mut self.items,
            _ => &mut self.features.0,
        }
    }

    /// Decodes the payload of a `HELLO`, which is at `offset` of the stream.
    ///
    /// # Errors
    ///
    /// A setting is incomplete, repeated or out of its range.
    pub fn read(bytes: &[u8], offset: u64) -> Result<Self, ProtocolError> {
        let mut settings = Self::INITIAL;
        let (pairs, rest) = bytes.as_chunks::<SETTING>();
        if !rest.is_empty() {
            let found = format!("{} bytes", bytes.len());
            return Err(ProtocolError::new(offset, "settings of 6 bytes each").found(found));
        }
        let mut seen = 0_u16;
        for (index, [a, b, c, d, e, f]) in pairs.iter().enumerate() {
            let at = offset + (index * SETTING) as u64;
            let (key, value) = (
                u16::from_le_bytes([*a, *b]),
                u32::from_le_bytes([*c, *d, *e, *f]),
            );
            let Some(rule) = rule(key) else { continue };
            if seen & 1 << key != 0 {
                let found = format!("`{}` again", rule.name);
                return Err(ProtocolError::new(at, "each setting once").found(found));
            }
            seen |= 1 << key;
            if !(rule.least..=rule.most).contains(&value) {
                let expected = format!(
                    "a setting `{}` from {} to {}",
                    rule.name, rule.least, rule.most
                );
                return Err(ProtocolError::new(at, expected).found(value.to_string()));
            }
            *settings.field(key) = value;
        }
        Ok(settings)
    }

    /// Appends a `HELLO` frame, without settings that have their initial value.
    pub fn write(mut self, bytes: &mut Vec<u8>) {
        let mut initial = Self::INITIAL;
        let mut body = [0; RULES.len() * SETTING];
        let mut len = 0;
        for rule in &RULES {
            let value = *self.field(rule.key);
            if value != *initial.field(rule.key) {
                let setting = &mut body[len..len + SETTING];
                setting[..2].copy_from_slice(&rule.key.to_le_bytes());
                setting[2..].copy_from_slice(&value.to_le_bytes());
                len += SETTING;
            }
        }
        let header = Header {
            length: len as u32,
            ..Header::new(Kind::HELLO, 0)
        };
        bytes.reserve(HEADER + len);
        bytes.extend_from_slice(&header.bytes());
        bytes.extend_from_slice(&body[..len]);
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

fn rule(key: u16) -> Option<&'static Rule> {
    RULES.get(usize::from(key).checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let settings = Settings::DEFAULT
            .with_frame(1)
            .with_names(70)
            .with_ping(0)
            .with_features(Features::DEFLATE);
        let mut bytes = Vec::new();
        settings.write(&mut bytes);
        let body = &bytes[HEADER..];
        assert_eq!(body.len() % SETTING, 0);
        assert_eq!(Settings::read(body, 0), Ok(settings));
        assert_eq!(settings.frame(), 65_536);
    }

    #[test]
    fn invalid_settings() {
        for (bytes, expected) in [
            (
                &[1, 0, 0, 0, 0][..],
                "frames: expected settings of 6 bytes each, found 5 bytes, at byte 9",
            ),
            (
                &[5, 0, 0, 1, 0, 0, 5, 0, 0, 1, 0, 0],
                "frames: expected each setting once, found `names` again, at byte 15",
            ),
            (
                &[2, 0, 1, 0, 1, 0],
                "frames: expected a setting `calls` from 64 to 65535, found 65537, at byte 9",
            ),
        ] {
            assert_eq!(Settings::read(bytes, 9).unwrap_err().to_string(), expected);
        }
        // Unknown keys are skipped.
        assert_eq!(
            Settings::read(&[9, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9], 0),
            Ok(Settings::INITIAL)
        );
    }
}
