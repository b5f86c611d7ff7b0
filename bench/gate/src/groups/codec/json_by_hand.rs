//! JSON code for this one shape, written by hand: member names are constants that are compared
//! and written together with the punctuation around them.

use polywire_schema::{Body, Limits, Text};
use polywire_text::number::{Integer, decimal_prefix, integer_prefix, json_number, parse_f64};
use polywire_text::{escape, number, scan, utf8};

use super::shapes::{Batch, Place, Reading};

pub(super) fn read(body: &Body) -> Option<Batch> {
    let text = utf8::validate(body.as_bytes()).ok()?;
    let limits = Limits::DEFAULT;
    let mut reader = Reader {
        text,
        at: 0,
        body,
        depth: limits.depth(),
        items: limits.items(),
        string: limits.string(),
    };
    let batch = reader.batch()?;
    reader.skip_space();
    (reader.at == text.len()).then_some(batch)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    body: &'a Body,
    depth: u32,
    items: u32,
    string: usize,
}

impl Reader<'_> {
    #[inline]
    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.at..]
    }

    #[inline]
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    fn skip_space(&mut self) {
        if self.peek() <= b' ' {
            self.at += scan::white_space(self.rest());
        }
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.skip_space();
        if self.peek() != byte {
            return None;
        }
        self.at += 1;
        Some(())
    }

    #[inline]
    fn skip(&mut self, run: &[u8]) -> bool {
        let found = self.rest().starts_with(run);
        if found {
            self.at += run.len();
        }
        found
    }

    /// Advances to the next element; `None` if neither a comma nor the end follows.
    #[inline]
    fn next(&mut self, first: &mut bool, close: u8) -> Option<bool> {
        self.skip_space();
        if self.peek() == close {
            self.at += 1;
            self.depth += 1;
            return Some(false);
        }
        if !*first {
            self.expect(b',')?;
            self.skip_space();
        }
        *first = false;
        Some(true)
    }

    /// Begins a list or an object.
    #[inline]
    fn enter(&mut self, open: u8) -> Option<()> {
        self.expect(open)?;
        self.depth = self.depth.checked_sub(1)?;
        Some(())
    }

    /// Counts an item of a list against the limit.
    #[inline]
    fn next_item(&mut self, first: &mut bool) -> Option<bool> {
        let more = self.next(first, b']')?;
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
        self.skip_space();
        self.skip(b"null")
    }

    /// Looks up a member that is not the expected one by its name.
    #[cold]
    fn find(&mut self, names: &[&str]) -> Option<usize> {
        let key = self.string()?;
        self.expect(b':')?;
        names.iter().position(|name| key == *name)
    }

    fn batch(&mut self) -> Option<Batch> {
        let mut batch = Batch::default();
        self.enter(b'{')?;
        let (mut first, mut expected, mut seen) = (true, 0, 0);
        while self.next(&mut first, b'}')? {
            let member = match expected {
                0 if self.skip(b"\"readings\":") => 0,
                1 if self.skip(b"\"next\":") => 1,
                _ => self.find(&["readings", "next"])?,
            };
            expected = member + 1;
            Self::once(&mut seen, member)?;
            if self.null() {
                continue;
            }
            match member {
                0 => {
                    self.enter(b'[')?;
                    let mut first = true;
                    while self.next_item(&mut first)? {
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
        self.enter(b'{')?;
        let (mut first, mut expected, mut seen) = (true, 0, 0);
        while self.next(&mut first, b'}')? {
            let member = match expected {
                0 if self.skip(b"\"station\":") => 0,
                1 if self.skip(b"\"sequence\":") => 1,
                2 if self.skip(b"\"temperature\":") => 2,
                3 if self.skip(b"\"valid\":") => 3,
                4 if self.skip(b"\"tags\":") => 4,
                5 if self.skip(b"\"place\":") => 5,
                6 if self.skip(b"\"remark\":") => 6,
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
                    self.enter(b'[')?;
                    let mut first = true;
                    while self.next_item(&mut first)? {
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
        self.enter(b'{')?;
        let (mut first, mut expected, mut seen) = (true, 0, 0);
        while self.next(&mut first, b'}')? {
            let member = match expected {
                0 if self.skip(b"\"city\":") => 0,
                1 if self.skip(b"\"height\":") => 1,
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
        self.expect(b'"')?;
        let len = scan::json_clean(self.rest());
        if self.rest().get(len) != Some(&b'"') || len > self.string {
            return self.escaped_string();
        }
        let window = &self.text[self.at..];
        let text = match Text::inline_prefix(window, len) {
            Some(text) => text,
            None => self.body.text(&window[..len]),
        };
        self.at += len + 1;
        Some(text)
    }

    #[cold]
    fn escaped_string(&mut self) -> Option<Text> {
        let mut text = String::new();
        loop {
            let len = scan::json_clean(self.rest());
            text.push_str(&self.text[self.at..self.at + len]);
            self.at += len;
            match self.peek() {
                b'"' => break,
                b'\\' => {
                    let (character, len) = escape::json_escape(&self.rest()[1..]).ok()?;
                    text.push(character);
                    self.at += 1 + len;
                }
                _ => return None,
            }
        }
        self.at += 1;
        Some(Text::from(text))
    }

    #[inline]
    fn integer(&mut self) -> Option<i64> {
        self.skip_space();
        match integer_prefix(self.rest()) {
            Integer::Small(value, len)
                if !matches!(self.rest().get(len), Some(b'.' | b'e' | b'E')) =>
            {
                self.at += len;
                Some(value)
            }
            _ => None,
        }
    }

    fn double(&mut self) -> Option<f64> {
        self.skip_space();
        if let Some((value, len)) = decimal_prefix(self.rest()) {
            self.at += len;
            return Some(value);
        }
        let (len, _) = json_number(self.rest()).ok()?;
        let value = parse_f64(&self.rest()[..len]).ok()?;
        self.at += len;
        Some(value)
    }

    fn boolean(&mut self) -> Option<bool> {
        self.skip_space();
        if self.skip(b"true") {
            return Some(true);
        }
        self.skip(b"false").then_some(false)
    }
}

pub(super) fn write(batch: &Batch, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"readings\":[");
    for (index, reading) in batch.readings.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_reading(reading, out);
    }
    out.push(b']');
    if let Some(next) = &batch.next {
        out.extend_from_slice(b",\"next\":");
        write_string(next, out);
    }
    out.push(b'}');
}

fn write_reading(reading: &Reading, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"station\":");
    write_string(&reading.station, out);
    out.extend_from_slice(b",\"sequence\":");
    number::push_i64(out, reading.sequence);
    if let Some(temperature) = reading.temperature {
        out.extend_from_slice(b",\"temperature\":");
        number::push_f64(out, temperature);
    }
    if let Some(valid) = reading.valid {
        out.extend_from_slice(if valid {
            b",\"valid\":true"
        } else {
            b",\"valid\":false"
        });
    }
    out.extend_from_slice(b",\"tags\":[");
    for (index, tag) in reading.tags.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_string(tag, out);
    }
    out.push(b']');
    if let Some(place) = &reading.place {
        out.extend_from_slice(b",\"place\":{\"city\":");
        write_string(&place.city, out);
        if let Some(height) = place.height {
            out.extend_from_slice(b",\"height\":");
            number::push_i64(out, i64::from(height));
        }
        out.push(b'}');
    }
    if let Some(remark) = &reading.remark {
        out.extend_from_slice(b",\"remark\":");
        write_string(remark, out);
    }
    out.push(b'}');
}

#[inline]
fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    escape::push_json(out, text);
    out.push(b'"');
}
