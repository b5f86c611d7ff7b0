//! CBOR code for this one shape, written by hand: member names with their heads are constants.

use polywire_schema::{Body, Limits, Text};
use polywire_text::utf8;

use super::shapes::{Batch, Place, Reading};

pub(super) fn read(body: &Body) -> Option<Batch> {
    let limits = Limits::DEFAULT;
    let mut reader = Reader {
        bytes: body.as_bytes(),
        at: 0,
        body,
        depth: limits.depth(),
        items: limits.items(),
        string: limits.string(),
    };
    let batch = reader.batch()?;
    (reader.at == reader.bytes.len()).then_some(batch)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    body: &'a Body,
    depth: u32,
    items: u32,
    string: usize,
}

/// The argument in the head of a list or map of indefinite length.
const INDEFINITE: u64 = u64::MAX;

impl<'a> Reader<'a> {
    #[inline]
    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    #[inline]
    fn skip(&mut self, run: &[u8]) -> bool {
        let found = self.rest().starts_with(run);
        if found {
            self.at += run.len();
        }
        found
    }

    /// Reads a head of this major type and returns its argument.
    #[inline]
    fn head(&mut self, major: u8) -> Option<u64> {
        let (first, rest) = self.rest().split_first()?;
        if first >> 5 != major {
            return None;
        }
        let (argument, len) = match first & 0x1f {
            info @ 0..24 => (u64::from(info), 1),
            24 => (u64::from(*rest.first()?), 2),
            25 => (u64::from(u16::from_be_bytes(*rest.first_chunk()?)), 3),
            26 => (u64::from(u32::from_be_bytes(*rest.first_chunk()?)), 5),
            27 => (u64::from_be_bytes(*rest.first_chunk()?), 9),
            31 if matches!(major, 4 | 5) => (INDEFINITE, 1),
            _ => return None,
        };
        self.at += len;
        Some(argument)
    }

    /// Begins a list or map.
    #[inline]
    fn enter(&mut self, major: u8) -> Option<u64> {
        let left = self.head(major)?;
        self.depth = self.depth.checked_sub(1)?;
        Some(left)
    }

    /// Whether another element follows.
    #[inline]
    fn next(&mut self, left: &mut u64) -> Option<bool> {
        let more = if *left == INDEFINITE {
            !self.skip(&[0xff])
        } else {
            let more = *left > 0;
            *left -= u64::from(more);
            more
        };
        if !more {
            self.depth += 1;
        }
        Some(more)
    }

    /// Counts an item of a list against the limit.
    #[inline]
    fn next_item(&mut self, left: &mut u64) -> Option<bool> {
        let more = self.next(left)?;
        if more {
            self.items = self.items.checked_sub(1)?;
        }
        Some(more)
    }

    /// Marks a member as seen; `None` if it is a duplicate.
    #[inline]
    fn once(seen: &mut u32, member: usize) -> Option<()> {
        let bit = 1 << member;
        if *seen & bit != 0 {
            return None;
        }
        *seen |= bit;
        Some(())
    }

    #[inline]
    fn null(&mut self) -> bool {
        let null = matches!(self.bytes.get(self.at), Some(0xf6 | 0xf7));
        self.at += usize::from(null);
        null
    }

    #[cold]
    fn find(&mut self, names: &[&str]) -> Option<usize> {
        let key = self.string()?;
        names.iter().position(|name| key == *name)
    }

    fn batch(&mut self) -> Option<Batch> {
        let mut batch = Batch::default();
        let mut left = self.enter(5)?;
        let (mut expected, mut seen) = (0, 0);
        while self.next(&mut left)? {
            let member = match expected {
                0 if self.skip(b"\x68readings") => 0,
                1 if self.skip(b"\x64next") => 1,
                _ => self.find(&["readings", "next"])?,
            };
            expected = member + 1;
            Self::once(&mut seen, member)?;
            if self.null() {
                continue;
            }
            match member {
                0 => {
                    let mut left = self.enter(4)?;
                    while self.next_item(&mut left)? {
                        batch.readings.push(self.reading()?);
                    }
                }
                _ => batch.next = Some(self.string()?),
            }
        }
        Some(batch)
    }

    fn reading(&mut self) -> Option<Reading> {
        const NAMES: [&str; 7] = [
            "station",
            "sequence",
            "temperature",
            "valid",
            "tags",
            "place",
            "remark",
        ];
        let mut reading = Reading::default();
        let mut left = self.enter(5)?;
        let (mut expected, mut seen) = (0, 0);
        while self.next(&mut left)? {
            let member = match expected {
                0 if self.skip(b"\x67station") => 0,
                1 if self.skip(b"\x68sequence") => 1,
                2 if self.skip(b"\x6btemperature") => 2,
                3 if self.skip(b"\x65valid") => 3,
                4 if self.skip(b"\x64tags") => 4,
                5 if self.skip(b"\x65place") => 5,
                6 if self.skip(b"\x66remark") => 6,
                _ => self.find(&NAMES)?,
            };
            expected = member + 1;
            Self::once(&mut seen, member)?;
            if self.null() {
                continue;
            }
            match member {
                0 => reading.station = self.string()?,
                1 => reading.sequence = self.integer()?,
                2 => reading.temperature = Some(self.double()?),
                3 => reading.valid = Some(self.boolean()?),
                4 => {
                    let mut left = self.enter(4)?;
                    while self.next_item(&mut left)? {
                        reading.tags.push(self.string()?);
                    }
                }
                5 => reading.place = Some(self.place()?),
                _ => reading.remark = Some(self.string()?),
            }
        }
        Some(reading)
    }

    fn place(&mut self) -> Option<Place> {
        let mut place = Place::default();
        let mut left = self.enter(5)?;
        let (mut expected, mut seen) = (0, 0);
        while self.next(&mut left)? {
            let member = match expected {
                0 if self.skip(b"\x64city") => 0,
                1 if self.skip(b"\x66height") => 1,
                _ => self.find(&["city", "height"])?,
            };
            expected = member + 1;
            Self::once(&mut seen, member)?;
            if self.null() {
                continue;
            }
            match member {
                0 => place.city = self.string()?,
                _ => place.height = Some(i32::try_from(self.integer()?).ok()?),
            }
        }
        Some(place)
    }

    #[inline]
    fn string(&mut self) -> Option<Text> {
        let len = usize::try_from(self.head(3)?).ok()?;
        if len > self.string {
            return None;
        }
        let bytes = self.rest().get(..len)?;
        let text = utf8::validate(bytes).ok()?;
        self.at += len;
        Some(self.body.text(text))
    }

    #[inline]
    fn integer(&mut self) -> Option<i64> {
        match self.rest().first()? >> 5 {
            0 => i64::try_from(self.head(0)?).ok(),
            1 => i64::try_from(self.head(1)?).ok().map(|value| !value),
            _ => None,
        }
    }

    fn double(&mut self) -> Option<f64> {
        let (first, rest) = self.rest().split_first()?;
        let (value, len) = match first {
            0xfb => (f64::from_be_bytes(*rest.first_chunk()?), 9),
            0xfa => (f64::from(f32::from_be_bytes(*rest.first_chunk()?)), 5),
            _ => return Some(self.integer()? as f64),
        };
        self.at += len;
        Some(value)
    }

    fn boolean(&mut self) -> Option<bool> {
        if self.skip(&[0xf5]) {
            return Some(true);
        }
        self.skip(&[0xf4]).then_some(false)
    }
}

#[inline]
fn write_head(out: &mut Vec<u8>, major: u8, argument: u64) {
    let major = major << 5;
    match argument {
        0..24 => out.push(major | argument as u8),
        24..0x100 => out.extend_from_slice(&[major | 24, argument as u8]),
        0x100..0x1_0000 => {
            let [a, b] = (argument as u16).to_be_bytes();
            out.extend_from_slice(&[major | 25, a, b]);
        }
        0x1_0000..0x1_0000_0000 => {
            let [a, b, c, d] = (argument as u32).to_be_bytes();
            out.extend_from_slice(&[major | 26, a, b, c, d]);
        }
        _ => {
            out.push(major | 27);
            out.extend_from_slice(&argument.to_be_bytes());
        }
    }
}

#[inline]
fn write_integer(out: &mut Vec<u8>, value: i64) {
    if value >= 0 {
        write_head(out, 0, value as u64);
    } else {
        write_head(out, 1, !value as u64);
    }
}

#[inline]
fn write_string(out: &mut Vec<u8>, text: &str) {
    write_head(out, 3, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

pub(super) fn write(batch: &Batch, out: &mut Vec<u8>) {
    write_head(out, 5, 1 + u64::from(batch.next.is_some()));
    out.extend_from_slice(b"\x68readings");
    write_head(out, 4, batch.readings.len() as u64);
    for reading in &batch.readings {
        write_reading(reading, out);
    }
    if let Some(next) = &batch.next {
        out.extend_from_slice(b"\x64next");
        write_string(out, next);
    }
}

fn write_reading(reading: &Reading, out: &mut Vec<u8>) {
    let present = 3
        + u64::from(reading.temperature.is_some())
        + u64::from(reading.valid.is_some())
        + u64::from(reading.place.is_some())
        + u64::from(reading.remark.is_some());
    write_head(out, 5, present);
    out.extend_from_slice(b"\x67station");
    write_string(out, &reading.station);
    out.extend_from_slice(b"\x68sequence");
    write_integer(out, reading.sequence);
    if let Some(temperature) = reading.temperature {
        out.extend_from_slice(b"\x6btemperature\xfb");
        out.extend_from_slice(&temperature.to_be_bytes());
    }
    if let Some(valid) = reading.valid {
        out.extend_from_slice(if valid {
            b"\x65valid\xf5"
        } else {
            b"\x65valid\xf4"
        });
    }
    out.extend_from_slice(b"\x64tags");
    write_head(out, 4, reading.tags.len() as u64);
    for tag in &reading.tags {
        write_string(out, tag);
    }
    if let Some(place) = &reading.place {
        out.extend_from_slice(b"\x65place");
        write_head(out, 5, 1 + u64::from(place.height.is_some()));
        out.extend_from_slice(b"\x64city");
        write_string(out, &place.city);
        if let Some(height) = place.height {
            out.extend_from_slice(b"\x66height");
            write_integer(out, i64::from(height));
        }
    }
    if let Some(remark) = &reading.remark {
        out.extend_from_slice(b"\x66remark");
        write_string(out, remark);
    }
}
