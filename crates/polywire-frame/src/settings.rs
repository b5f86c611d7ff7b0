//! What a side takes: the body of `HELLO`.

use crate::broken::Broken;
use crate::header::header;
use crate::{Flags, HEADER, Header, Kind, Output};

/// What a side takes, as its `HELLO` says. They hold for the whole connection.
///
/// ```
/// use polywire_frame::Settings;
///
/// let settings = Settings::default().with_calls(256);
/// assert_eq!((settings.calls(), settings.frame()), (256, 16 << 20));
/// ```
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
    /// Compressed payloads. Over datagrams nobody offers it.
    pub const DEFLATE: Self = Self(2);
    /// Nothing more.
    pub const NONE: Self = Self(0);

    /// Whether all of `other` are there.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These and those of `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The flags that may stand on a frame to somebody with these features.
    pub(crate) const fn flags(self) -> Flags {
        let mut flags = Flags::EXTENSION.with(Flags::OPEN).with(Flags::UNSTARTED);
        if self.has(Self::DEFLATE) {
            flags = flags.with(Flags::DEFLATE);
        }
        flags
    }
}

/// A setting: its key, its name, and what it may be.
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

/// The key that will never mean anything.
const PADDING: u16 = 0xffff;

/// Bytes of a setting: its key and its value.
const SETTING: usize = 6;

impl Settings {
    /// What a side offers that was told nothing else.
    ///
    /// | setting | value | why |
    /// |---|--:|---|
    /// | frame | 16 MiB | as the limit of all other messages |
    /// | calls | 1,024 | what one client may have open; beyond it queues do not help |
    /// | bytes | 32 MiB | two of the largest frames |
    /// | window | 256 KiB | a gigabyte a second at a round trip of 0.2 ms |
    /// | names | 1,024 | services have fewer operations |
    /// | ping | 10 s | cheap, and more often than any middlebox forgets |
    /// | features | none | |
    /// | items | 4 MiB | sixteen windows that nobody reads |
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

    /// What holds before a side's `HELLO` has come.
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

    /// The most calls that are open at once.
    #[must_use]
    pub const fn calls(&self) -> u32 {
        self.calls
    }

    /// The most bytes of bodies in calls that are open at once.
    #[must_use]
    pub const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The bytes of items that may be sent on a stream before there is credit.
    #[must_use]
    pub const fn window(&self) -> u32 {
        self.window
    }

    /// The most operations that may have a number.
    #[must_use]
    pub const fn names(&self) -> u32 {
        self.names
    }

    /// The least milliseconds between two pings.
    #[must_use]
    pub const fn ping(&self) -> u32 {
        self.ping
    }

    /// What can be read.
    #[must_use]
    pub const fn features(&self) -> Features {
        self.features
    }

    /// The bytes of items that may be sent on all streams together before there is credit.
    #[must_use]
    pub const fn items(&self) -> u32 {
        self.items
    }

    /// Sets the most bytes of a body, from 64 KiB to 1 GiB; what is beyond is taken as that.
    #[must_use]
    pub fn with_frame(self, frame: u32) -> Self {
        self.with(FRAME, frame)
    }

    /// Sets the most calls that are open at once, from 64 to 65,535.
    #[must_use]
    pub fn with_calls(self, calls: u32) -> Self {
        self.with(CALLS, calls)
    }

    /// Sets the most bytes of open calls, from 1 MiB on.
    #[must_use]
    pub fn with_bytes(self, bytes: u32) -> Self {
        self.with(BYTES, bytes)
    }

    /// Sets the window of streams, from 64 KiB to 2 GiB.
    #[must_use]
    pub fn with_window(self, window: u32) -> Self {
        self.with(WINDOW, window)
    }

    /// Sets the window of all streams of a connection together, from 1 MiB to 2 GiB.
    #[must_use]
    pub fn with_items(self, items: u32) -> Self {
        self.with(ITEMS, items)
    }

    /// Sets the most operations with a number, from 64 to 65,535.
    #[must_use]
    pub fn with_names(self, names: u32) -> Self {
        self.with(NAMES, names)
    }

    /// Sets the least milliseconds between two pings.
    #[must_use]
    pub fn with_ping(self, ping: u32) -> Self {
        self.with(PING, ping)
    }

    /// Sets what can be read.
    #[must_use]
    pub const fn with_features(mut self, features: Features) -> Self {
        self.features = features;
        self
    }

    /// Without what there is not over datagrams.
    pub(crate) const fn for_datagrams(mut self) -> Self {
        self.features.0 &= !Features::DEFLATE.0;
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

    /// Reads the settings of a `HELLO`, whose first byte of them is at `offset` of the stream.
    pub(crate) fn read(bytes: &[u8], offset: u64) -> Result<Self, Broken> {
        let mut settings = Self::INITIAL;
        let (pairs, rest) = bytes.as_chunks::<SETTING>();
        if !rest.is_empty() {
            let found = format!("{} bytes", bytes.len());
            return Err(Broken::new(offset, "settings of 6 bytes each").found(found));
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
                return Err(Broken::new(at, "each setting once").found(found));
            }
            seen |= 1 << key;
            if !(rule.least..=rule.most).contains(&value) {
                let expected = format!(
                    "a setting `{}` from {} to {}",
                    rule.name, rule.least, rule.most
                );
                return Err(Broken::new(at, expected).found(value.to_string()));
            }
            *settings.field(key) = value;
        }
        Ok(settings)
    }

    /// Appends the `HELLO` that says them in a datagram: with a number for the answer to bear, how often it was sent
    /// before, and padding until it has at least so many bytes.
    pub(crate) fn write_datagram(
        self,
        output: &mut Output,
        nonce: u64,
        again: Flags,
        least: usize,
    ) {
        let start = output.bytes.len();
        self.write(output);
        while output.bytes.len() - start < least {
            output.bytes.extend_from_slice(&PADDING.to_le_bytes());
            output.bytes.extend_from_slice(&[0; SETTING - 2]);
        }
        let length = (output.bytes.len() - start - HEADER) as u32;
        let header = Header {
            id: nonce as u32,
            value: (nonce >> 32) as u32,
            flags: again,
            length,
            ..header(Kind::HELLO, 0)
        };
        output.bytes[start..start + HEADER].copy_from_slice(&header.bytes());
    }

    /// Appends the `HELLO` that says them; those that are as if it did not are left out.
    pub(crate) fn write(mut self, output: &mut Output) {
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
            kind: Kind::HELLO,
            flags: Flags::NONE,
            code: 0,
            id: 0,
            value: 0,
        };
        output.bytes.reserve(HEADER + len);
        output.bytes.extend_from_slice(&header.bytes());
        output.bytes.extend_from_slice(&body[..len]);
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
    fn written_and_read() {
        let settings = Settings::DEFAULT
            .with_frame(1)
            .with_names(70)
            .with_ping(0)
            .with_features(Features::DEFLATE);
        let mut output = Output::default();
        settings.write(&mut output);
        let body = &output.bytes[HEADER..];
        assert_eq!(body.len() % SETTING, 0);
        assert_eq!(Settings::read(body, 0), Ok(settings));
        assert_eq!(settings.frame(), 65_536);
    }

    #[test]
    fn wrong_ones() {
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
        // What nobody knows yet.
        assert_eq!(
            Settings::read(&[9, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9], 0),
            Ok(Settings::INITIAL)
        );
    }
}
