//! Integers and floating-point numbers, read and written.

use std::fmt::Display;
use std::rc::Rc;

use super::random;
use crate::{Group, same, same_bytes};
use polywire_text::number::{self, Integer};

/// How many numbers a case handles, all different.
pub const COUNT: usize = 1000;

/// Adds the cases.
pub fn cases(group: &mut Group) {
    integers(group);
    doubles(group);
    many_digits(group);
}

fn integers(group: &mut Group) {
    let values = mixed_integers();
    let texts = Texts::new(&values);
    let sum = checksum(&values);
    group
        .case("number: read 1000 integers of 1-18 digits on the way")
        .bytes(texts.bytes().len())
        .polywire(
            texts.prefixes(|text| match number::integer_prefix(text) {
                Integer::Small(value, len) => Some((value, len)),
                _ => None,
            }),
            move |found| same(found, &sum),
        );
    group
        .case("number: write 1000 integers of 1-18 digits")
        .bytes(texts.bytes().len())
        .polywire_writes(writes(&values, number::push_i64), move |found| {
            same_bytes(found, texts.bytes())
        })
        .target_allocations(0);
}

fn doubles(group: &mut Group) {
    let prices = prices();
    let texts = Texts::new(&prices);
    let sum = checksum(&prices);
    group
        .case("number: read 1000 prices on the way")
        .bytes(texts.bytes().len())
        .polywire(texts.prefixes(number::decimal_prefix), move |found| {
            same(found, &sum)
        });

    let coordinates = coordinates();
    let texts = Texts::new(&coordinates);
    let sum = checksum(&coordinates);
    group
        .case("number: read 1000 doubles of 17 digits")
        .bytes(texts.bytes().len())
        .polywire(
            texts.whole(|text| number::parse_f64(text).unwrap_or_default()),
            move |found| same(found, &sum),
        );

    for (kind, values) in [
        ("doubles of 17 digits", coordinates),
        ("doubles of any bits", any_doubles()),
    ] {
        let write = writes(&values, number::push_f64);
        let mut out = Vec::new();
        write(&mut out);
        group
            .case(format!("number: write 1000 {kind}"))
            .bytes(out.len())
            .polywire_writes(write, reads_back(&values));
    }
}

/// Reading a double with many digits needs big integers: the case where a slow algorithm
/// would take quadratic time.
fn many_digits(group: &mut Group) {
    let half = "number: read a double of 1000 digits";
    for (name, len) in [(half, 1000), ("number: read a double of 2000 digits", 2000)] {
        let mut random = random(31);
        let digits = (0..len).map(|_| char::from(b'1' + (random() % 9) as u8));
        let text: String = "0.".chars().chain(digits).collect();
        // The standard library's result is the expected one.
        let expected = text.parse::<f64>().ok();
        let case = group.case(name).bytes(len).polywire(
            move || number::parse_f64(text.as_bytes()).ok(),
            move |found| same(found, &expected),
        );
        if name != half {
            case.target_instructions_of_case(half, 2.1);
        }
    }
}

/// 1000 integers of 1 to 18 digits.
pub fn mixed_integers() -> Vec<i64> {
    let mut random = random(11);
    (0..COUNT)
        .map(|_| {
            let least = 10_u64.pow(random() as u32 % 18);
            (least + (random() << 16 | random()) % (least * 9)) as i64
        })
        .collect()
}

/// 1000 prices: at most two digits after the decimal point.
pub fn prices() -> Vec<f64> {
    let mut random = random(22);
    let price = |_| (random() % (1 << 17)) as f64 / 100.0;
    (0..COUNT).map(price).collect()
}

/// 1000 doubles that need about 17 digits, such as coordinates.
pub fn coordinates() -> Vec<f64> {
    let mut random = random(21);
    let unit = std::iter::repeat_with(move || (random() << 5) as f64 / (1_u64 << 53) as f64);
    unit.map(|unit| (unit - 0.5) * 360.0)
        .filter(|value| value.to_string().trim_start_matches('-').len() >= 17)
        .take(COUNT)
        .collect()
}

/// 1000 finite doubles of random bits, so of all exponents.
pub fn any_doubles() -> Vec<f64> {
    let mut random = random(23);
    std::iter::repeat_with(move || f64::from_bits(random() << 32 | random()))
        .filter(|value| value.is_finite())
        .take(COUNT)
        .collect()
}

/// Numbers as text, each followed by a comma, as in a JSON array.
#[derive(Clone)]
pub struct Texts(Rc<(Vec<u8>, Vec<usize>)>);

impl Texts {
    /// The texts that `Display` writes.
    pub fn new(values: &[impl Display]) -> Self {
        let (mut all, mut ends) = (Vec::new(), Vec::new());
        for value in values {
            all.extend_from_slice(value.to_string().as_bytes());
            ends.push(all.len());
            all.push(b',');
        }
        Self(Rc::new((all, ends)))
    }

    /// All texts and commas.
    pub fn bytes(&self) -> &[u8] {
        &self.0.0
    }

    /// A subject that reads each text and returns a checksum.
    pub fn whole<T: Bits>(
        &self,
        read: impl Fn(&[u8]) -> T + 'static,
    ) -> impl Fn() -> u64 + 'static {
        let Self(texts) = self.clone();
        move || {
            let (mut start, mut sum) = (0, 0_u64);
            for end in &texts.1 {
                sum = sum.wrapping_add(read(&texts.0[start..*end]).bits());
                start = end + 1;
            }
            sum
        }
    }

    /// A subject that reads number after number without knowing where each ends, as a parser
    /// does, and returns a checksum. `read` returns the number and its length.
    pub fn prefixes<T: Bits>(
        &self,
        read: impl Fn(&[u8]) -> Option<(T, usize)> + 'static,
    ) -> impl Fn() -> u64 + 'static {
        let Self(texts) = self.clone();
        move || {
            let (mut rest, mut sum) = (&texts.0[..], 0_u64);
            while let Some((value, len)) = read(rest) {
                sum = sum.wrapping_add(value.bits());
                rest = rest.get(len + 1..).unwrap_or_default();
            }
            sum
        }
    }
}

/// A number as bits, for checksums.
pub trait Bits: Copy {
    /// The bits.
    fn bits(self) -> u64;
}

impl Bits for i64 {
    fn bits(self) -> u64 {
        self as u64
    }
}

impl Bits for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

/// What the readers of `values` have to return.
pub fn checksum(values: &[impl Bits]) -> u64 {
    values
        .iter()
        .fold(0, |sum, value| sum.wrapping_add(value.bits()))
}

/// A subject that writes each number and a comma.
pub fn writes<T: Copy + 'static>(
    values: &[T],
    write: impl Fn(&mut Vec<u8>, T) + 'static,
) -> impl Fn(&mut Vec<u8>) + 'static {
    let values = values.to_vec();
    move |out| {
        for value in &values {
            write(out, *value);
            out.push(b',');
        }
    }
}

/// A check of written doubles, whose layout may differ: the standard library reads the same
/// values.
pub fn reads_back(values: &[f64]) -> impl Fn(&[u8]) -> bool + 'static {
    let values = values.to_vec();
    move |found| {
        let found = std::str::from_utf8(found).unwrap_or_default();
        let found = found.split_terminator(',').map(str::parse::<f64>);
        found.eq(values.iter().copied().map(Ok))
    }
}
