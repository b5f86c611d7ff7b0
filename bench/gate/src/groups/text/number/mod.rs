//! Integers and floating-point numbers, both ways.

mod read;
mod write;

use std::fmt::{Debug, Display};
use std::rc::Rc;

use crate::{Group, same};
use polywire_text::number::{self, Decimal, Grammar, Spelling};

/// How many numbers a case handles, all different.
const COUNT: usize = 1000;

pub(super) fn cases(group: &mut Group) {
    read::integers(group);
    write::integers(group);
    read::floats(group);
    write::floats(group);
    many_digits(group);
}

/// Numbers that look random and are the same each time (xorshift64*).
fn random(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    })
}

/// So many digits, the first no zero.
fn of_digits(random: u64, digits: u32) -> u64 {
    let least = 10_u64.pow(digits - 1);
    least + random % (least.saturating_mul(9))
}

fn of_mixed_digits(most: u32) -> Vec<i64> {
    let lengths = random(11).map(|random| 1 + (random >> 32) as u32 % most);
    let numbers = random(12).zip(lengths).take(COUNT);
    numbers
        .map(|(random, digits)| of_digits(random, digits) as i64)
        .collect()
}

/// Texts one behind the other, a comma behind each, as in a list of JSON.
#[derive(Clone)]
struct Texts(Rc<(Vec<u8>, Vec<usize>)>);

impl Texts {
    fn new(texts: impl IntoIterator<Item = impl Display>) -> Self {
        let (mut all, mut ends) = (Vec::new(), Vec::new());
        for text in texts {
            all.extend_from_slice(text.to_string().as_bytes());
            ends.push(all.len());
            all.push(b',');
        }
        Self(Rc::new((all, ends)))
    }

    fn len(&self) -> usize {
        self.0.0.len()
    }

    /// A subject: reads each text, and adds up.
    fn whole<T: Sum>(&self, read: impl Fn(&[u8]) -> T + 'static) -> impl Fn() -> T + 'static {
        let Self(texts) = self.clone();
        move || {
            let (mut start, mut sum) = (0, T::ZERO);
            for end in &texts.1 {
                sum = sum.plus(read(&texts.0[start..*end]));
                start = end + 1;
            }
            sum
        }
    }

    /// A subject: reads a number, learns where it ends, and goes on behind the
    /// comma.
    fn prefixes<T: Sum>(
        &self,
        read: impl Fn(&[u8]) -> Option<(T, usize)> + 'static,
    ) -> impl Fn() -> T + 'static {
        let Self(texts) = self.clone();
        move || {
            let (mut rest, mut sum) = (&texts.0[..], T::ZERO);
            while let Some((value, len)) = read(rest) {
                sum = sum.plus(value);
                rest = rest.get(len + 1..).unwrap_or_default();
            }
            sum
        }
    }
}

/// What no wrong number leaves as it is.
trait Sum: Copy + Debug + PartialEq + 'static {
    const ZERO: Self;
    fn plus(self, other: Self) -> Self;
}

macro_rules! sum {
    ($($type:ident $zero:literal $plus:expr;)*) => {$(
        impl Sum for $type {
            const ZERO: Self = $zero;
            fn plus(self, other: Self) -> Self {
                $plus(self, other)
            }
        }
    )*};
}

sum! {
    i64 0 i64::wrapping_add;
    i128 0 i128::wrapping_add;
    f32 0.0 std::ops::Add::add;
    f64 0.0 std::ops::Add::add;
}

fn sum<T: Sum>(values: &[T]) -> T {
    values.iter().fold(T::ZERO, |sum, value| sum.plus(*value))
}

fn is<T: Sum>(expected: T) -> impl Fn(&T) -> Result<(), String> {
    move |found| same(found, &expected)
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// Doubles by kind: as measurements come, as prices, and any bits at all.
fn doubles() -> [(&'static str, Vec<f64>); 3] {
    let unit = |random: u64| (random >> 11) as f64 / (1_u64 << 53) as f64;
    let any = |random: u64| f64::from_bits(random & !(1 << 62) | (random & 1) << 62);
    [
        (
            "doubles of 17 digits",
            random(21)
                .map(|random| (unit(random) - 0.5) * 360.0)
                .filter(|value| value.to_string().trim_start_matches('-').len() >= 17)
                .take(COUNT)
                .collect(),
        ),
        (
            "prices",
            random(22)
                .map(|random| (random >> 47) as f64 / 100.0)
                .take(COUNT)
                .collect(),
        ),
        (
            "doubles of any bits",
            random(23)
                .map(any)
                .filter(|value| value.is_finite())
                .take(COUNT)
                .collect(),
        ),
    ]
}

fn singles() -> Vec<f32> {
    let unit = |random: u64| (random >> 40) as f32 / (1_u32 << 24) as f32;
    random(24)
        .map(|random| (unit(random) - 0.5) * 360.0)
        .take(COUNT)
        .collect()
}

/// What takes input of any length, at some length and at twice that.
fn many_digits(group: &mut Group) {
    // Twice this stays below 2048 bytes: the C library copies more than that (on
    // some processors, more than 4096) by one instruction that is counted once a
    // byte, and less by a vector at a time. A comparison across that border says
    // nothing of the code here.
    const HALF: usize = 1000;
    type Read = fn(&[u8], &mut Vec<u8>) -> bool;
    // What stands before and behind the digits.
    let readings: [(&str, [&str; 2], Read); 6] = [
        ("JSON number", ["", ""], |text, _| {
            number::json_number(text) == Ok((text.len(), true))
        }),
        ("integer too large", ["", ""], |text, _| {
            number::integer_prefix(text) == number::Integer::Large(text.len())
        }),
        ("integer refused", ["", ""], |text, _| {
            number::parse::<i128>(text, Grammar::Json).is_err()
        }),
        ("double", ["0.", ""], |text, _| {
            number::parse_float::<f64>(text, Spelling::JSON).is_ok()
        }),
        ("decimal compared", ["0.", "e3"], |text, _| {
            Decimal::parse(text, Grammar::Json).is_ok_and(|decimal| {
                let same = decimal;
                decimal == same
            })
        }),
        ("decimal laid out", ["", "e-100"], |text, out| {
            Decimal::parse(text, Grammar::Json).is_ok_and(|decimal| {
                decimal.push_canonical(out);
                decimal.push_plain(out, usize::MAX).is_ok()
            })
        }),
    ];
    for (name, [before, behind], read) in readings {
        let half = format!("number: many digits: {name}");
        for (name, len) in [
            (half.clone(), HALF),
            (format!("{half}, twice the input"), 2 * HALF),
        ] {
            let digits = random(31).map(|random| b'1' + (random >> 40) as u8 % 9);
            let text: Vec<u8> = before
                .bytes()
                .chain(digits.take(len))
                .chain(behind.bytes())
                .collect();
            let out = Vec::with_capacity(4 * HALF + 100);
            let case = group.case(&name);
            case.bytes(len)
                .polywire_with(
                    (text, out),
                    move |(text, out)| {
                        out.clear();
                        read(text, out)
                    },
                    |_, read| *read,
                )
                .target_allocations(0);
            if name != half {
                case.target_instructions_of_case(&half, 2.1);
            }
        }
    }
}
