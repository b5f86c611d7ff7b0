//! The reading half.
//!
//! The pairs of a form come in any order, so they are sorted once; what
//! belongs to a value is then a range of pairs that share a beginning.

use std::borrow::Cow;
use std::cmp::Ordering;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decoder, END, Error, ErrorKind, Event, Member, MemberFlags,
    NameSource, Schema, Seq, Text, Timestamp,
};
use polywire_text::{base64, form};

pub(crate) struct FormDecoder<'de> {
    pairs: Vec<(Cow<'de, str>, Cow<'de, str>)>,
    /// The pairs of the value that is read next, and how many bytes of their
    /// keys have led there.
    current: Range,
    at: usize,
}

#[derive(Clone, Copy, Default)]
struct Range {
    start: usize,
    end: usize,
    prefix: usize,
}

fn is_number(segment: &str) -> bool {
    segment.bytes().all(|byte| byte.is_ascii_digit())
}

/// Segment by segment; numbers by their value.
fn compare(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        match (left.next(), right.next()) {
            (Some(left), Some(right)) => {
                let order = left.cmp(right);
                let by_number = is_number(left) && is_number(right);
                let order = match by_number {
                    true => left.len().cmp(&right.len()).then(order),
                    false => order,
                };
                if order.is_ne() {
                    return order;
                }
            }
            (left, right) => return left.is_some().cmp(&right.is_some()),
        }
    }
}

impl<'de> FormDecoder<'de> {
    pub(crate) fn new(form: &'de str) -> Self {
        let mut pairs: Vec<_> = form::pairs(form)
            .map(|pair| pair.map(|pair| (pair.key, pair.value)).unwrap())
            .collect();
        pairs.sort_by(|left, right| compare(&left.0, &right.0));
        let current = Range {
            start: 0,
            end: pairs.len(),
            prefix: 0,
        };
        Self {
            pairs,
            current,
            at: 0,
        }
    }

    /// The next segment of the keys of a range, and the pairs that share it.
    fn group(&self, range: Range) -> Option<(&str, Range)> {
        let segment = |at: usize| self.pairs[at].0.get(range.prefix..)?.split('.').next();
        let start = (range.start..range.end).find(|at| segment(*at).is_some())?;
        let first = segment(start)?;
        let same = (start..range.end).take_while(|at| segment(*at) == Some(first));
        let group = Range {
            start,
            end: start + same.count(),
            prefix: range.prefix + first.len() + 1,
        };
        Some((first, group))
    }

    /// The pairs of a range whose keys go on with this segment.
    fn find(&self, mut range: Range, name: &str) -> Option<Range> {
        while let Some((segment, group)) = self.group(range) {
            if segment == name {
                return Some(group);
            }
            range.start = group.end;
        }
        None
    }

    fn begin(&self, at: Member<'_>, wrapper: &str) -> Seq {
        let range = match at.has(MemberFlags::XML_FLATTENED) {
            true => self.current,
            false => self.find(self.current, wrapper).unwrap_or_default(),
        };
        Seq {
            mark: range.start as u64,
            left: range.end as u64,
            state: range.prefix as u32,
            ..Seq::default()
        }
    }

    /// Goes to the next group of a sequence.
    fn next(&mut self, seq: &mut Seq) -> Option<(String, Range)> {
        let range = Range {
            start: seq.mark as usize,
            end: seq.left as usize,
            prefix: seq.state as usize,
        };
        let (segment, group) = self.group(range)?;
        let segment = segment.to_owned();
        seq.mark = group.end as u64;
        self.current = group;
        self.at = group.start;
        Some((segment, group))
    }
}

impl<'de> Decoder<'de> for FormDecoder<'de> {
    fn structure(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        Ok(Seq {
            mark: self.current.start as u64,
            left: self.current.end as u64,
            state: self.current.prefix as u32,
            ..Seq::default()
        })
    }

    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        while let Some((name, _)) = self.next(seq) {
            match shape.find(NameSource::Query, name.as_bytes()) {
                Some(ordinal) => return Ok(ordinal),
                None => seq.unknown = true,
            }
        }
        Ok(END)
    }

    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        Ok(self.begin(at, at.element().plain(NameSource::Query)))
    }

    fn item(&mut self, _: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        match self.next(seq) {
            Some((number, _)) if is_number(&number) => Ok(true),
            Some(_) => Err(self.error(ErrorKind::Syntax, "the number of an item")),
            None => Ok(false),
        }
    }

    fn map(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        Ok(self.begin(at, "entry"))
    }

    fn key(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<Option<Text>, Error> {
        let Some((_, entry)) = self.next(seq) else {
            return Ok(None);
        };
        let [key, value] = [0, 1].map(|ordinal| {
            let name = at.target().member(ordinal).plain(NameSource::Query);
            self.find(entry, name)
        });
        let (Some(key), Some(value)) = (key, value) else {
            return Err(self.error(ErrorKind::Missing, "the key and value of an entry"));
        };
        self.current = key;
        let key = self.text(at.target().member(0))?;
        self.current = value;
        Ok(Some(key))
    }

    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
        Ok(false)
    }

    fn str(&mut self, _: Member<'_>) -> Result<Cow<'de, str>, Error> {
        let Range { start, end, .. } = self.current;
        if end - start != 1 {
            return Err(self.error(ErrorKind::Duplicate, "each member once"));
        }
        Ok(self.pairs[start].1.clone())
    }

    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error> {
        let text = self.str(at)?;
        Timestamp::parse_date_time(&text)
            .map_err(|malformed| self.error(ErrorKind::InvalidValue, malformed.expected))
    }

    crate::scalars::text_values!("form");
}
