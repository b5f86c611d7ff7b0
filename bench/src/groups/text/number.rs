//! Integers and floating-point numbers, both ways.

use std::fmt::{Debug, Display};
use std::rc::Rc;

use polywire_bench::{Group, same, same_bytes};
use polywire_text::number::{self, Decimal, Grammar, Spelling};

/// How many numbers a case handles, all different.
const COUNT: usize = 1000;

pub(super) fn cases(group: &mut Group) {
    read_integers(group);
    write_integers(group);
    read_floats(group);
    write_floats(group);
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

fn read_integers(group: &mut Group) {
    let of = |digits: u32| {
        random(7)
            .take(COUNT)
            .map(move |random| of_digits(random, digits) as i64)
    };
    let kinds: [(&str, Vec<i64>); 4] = [
        ("of 10 digits", of(10).collect()),
        ("of 1-4 digits", of_mixed_digits(4)),
        ("of 1-18 digits", of_mixed_digits(18)),
        ("of 18 digits", of(18).collect()),
    ];
    for (kind, values) in kinds {
        let texts = Texts::new(&values);
        let sum = sum(&values);
        let case = group.case(format!("number: read {COUNT} integers {kind}"));
        case.bytes(texts.len())
            .polywire(
                texts.whole(|text| number::parse::<i64>(text, Grammar::Json).unwrap_or_default()),
                is(sum),
            )
            .peer(
                "lexical-core",
                texts.whole(|text| lexical_core::parse::<i64>(text).unwrap_or_default()),
                is(sum),
            )
            .peer(
                "atoi_simd",
                texts.whole(|text| atoi_simd::parse::<i64, false, false>(text).unwrap_or_default()),
                is(sum),
            )
            .peer(
                "std",
                texts.whole(|bytes| text(bytes).parse::<i64>().unwrap_or_default()),
                is(sum),
            )
            .target_near_best(1.1)
            .target_allocations(0);
        group
            .case(format!("number: read {COUNT} integers {kind} on the way"))
            .bytes(texts.len())
            .polywire(
                texts.prefixes(|text| match number::integer_prefix(text) {
                    number::Integer::Small(value, len) => Some((value, len)),
                    _ => None,
                }),
                is(sum),
            )
            .peer(
                "lexical-core",
                texts.prefixes(|text| {
                    let (value, len) = lexical_core::parse_partial::<i64>(text).ok()?;
                    (len > 0).then_some((value, len))
                }),
                is(sum),
            )
            .peer(
                "atoi_simd",
                texts.prefixes(|text| atoi_simd::parse_prefix::<i64, false, false>(text).ok()),
                is(sum),
            )
            .target_near_best(1.1)
            .target_allocations(0);
    }
    let values: Vec<i128> = random(3)
        .zip(random(4))
        .map(|(high, low)| (u128::from(high) << 64 | u128::from(low)) as i128)
        .map(|value| value >> (value & 63))
        .take(COUNT)
        .collect();
    let texts = Texts::new(&values);
    let sum = sum(&values);
    group
        .case(format!("number: read {COUNT} integers of 128 bits"))
        .bytes(texts.len())
        .polywire(
            texts.whole(|text| number::parse::<i128>(text, Grammar::Json).unwrap_or_default()),
            is(sum),
        )
        .peer(
            "lexical-core",
            texts.whole(|text| lexical_core::parse::<i128>(text).unwrap_or_default()),
            is(sum),
        )
        .peer(
            "atoi_simd",
            texts.whole(|text| atoi_simd::parse::<i128, false, false>(text).unwrap_or_default()),
            is(sum),
        )
        .peer(
            "std",
            texts.whole(|bytes| text(bytes).parse::<i128>().unwrap_or_default()),
            is(sum),
        )
        .target_near_best(1.1)
        .target_allocations(0);
}

/// A subject: writes each number and a comma.
fn writes<T: Copy + 'static>(
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

fn write_integers(group: &mut Group) {
    let of = |digits: u32| {
        random(7)
            .take(COUNT)
            .map(move |random| of_digits(random, digits) as i64)
    };
    let kinds: [(&str, Vec<i64>); 4] = [
        ("of 10 digits", of(10).collect()),
        ("of 1-4 digits", of_mixed_digits(4)),
        ("of 1-19 digits", of_mixed_digits(19)),
        (
            "of all 64 bits",
            random(9).take(COUNT).map(|value| value as i64).collect(),
        ),
    ];
    for (kind, values) in kinds {
        let texts = Texts::new(&values);
        let right = move |found: &[u8]| same_bytes(found, &texts.0.0);
        group
            .case(format!("number: write {COUNT} integers {kind}"))
            .bytes(Texts::new(&values).len())
            .polywire_writes(writes(&values, number::push::<i64>), right.clone())
            .peer_writes(
                "itoa",
                writes(&values, |out, value| {
                    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
                }),
                right.clone(),
            )
            .peer_writes(
                "lexical-core",
                writes(&values, |out, value| {
                    let mut buffer = [0; 20];
                    out.extend_from_slice(lexical_core::write(value, &mut buffer));
                }),
                right.clone(),
            )
            .peer_writes(
                "std",
                writes(&values, |out, value| {
                    use std::io::Write;
                    let _ = write!(out, "{value}");
                }),
                right,
            )
            .target_near_best(1.1)
            .target_allocations(0);
    }
    let values: Vec<i128> = random(3)
        .zip(random(4))
        .map(|(high, low)| (u128::from(high) << 64 | u128::from(low)) as i128)
        .map(|value| value >> (value & 63))
        .take(COUNT)
        .collect();
    let texts = Texts::new(&values);
    let right = move |found: &[u8]| same_bytes(found, &texts.0.0);
    group
        .case(format!("number: write {COUNT} integers of 128 bits"))
        .bytes(Texts::new(&values).len())
        .polywire_writes(writes(&values, number::push::<i128>), right.clone())
        .peer_writes(
            "itoa",
            writes(&values, |out, value| {
                out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            }),
            right.clone(),
        )
        .peer_writes(
            "lexical-core",
            writes(&values, |out, value| {
                let mut buffer = [0; 40];
                out.extend_from_slice(lexical_core::write(value, &mut buffer));
            }),
            right,
        )
        .target_near_best(1.1)
        .target_allocations(0);
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

fn read_floats(group: &mut Group) {
    for (kind, values) in doubles() {
        let texts = Texts::new(
            values
                .iter()
                .map(|value| zmij::Buffer::new().format_finite(*value).to_owned()),
        );
        let sum = sum(&values);
        group
            .case(format!("number: read {COUNT} {kind}"))
            .bytes(texts.len())
            .polywire(
                texts.whole(|text| {
                    number::parse_float::<f64>(text, Spelling::JSON).unwrap_or_default()
                }),
                is(sum),
            )
            .peer(
                "fast-float2",
                texts.whole(|text| fast_float2::parse::<f64, _>(text).unwrap_or_default()),
                is(sum),
            )
            .peer(
                "lexical-core",
                texts.whole(|text| lexical_core::parse::<f64>(text).unwrap_or_default()),
                is(sum),
            )
            .peer(
                "std",
                texts.whole(|bytes| text(bytes).parse::<f64>().unwrap_or_default()),
                is(sum),
            )
            .target_near_best(1.1)
            .target_allocations(0);
        group
            .case(format!("number: read {COUNT} {kind} on the way"))
            .bytes(texts.len())
            .polywire(
                texts.prefixes(|text| number::float_prefix::<f64>(text, Grammar::Json).ok()),
                is(sum),
            )
            .peer(
                "fast-float2",
                texts.prefixes(|text| fast_float2::parse_partial::<f64, _>(text).ok()),
                is(sum),
            )
            .peer(
                "lexical-core",
                texts.prefixes(|text| {
                    let (value, len) = lexical_core::parse_partial::<f64>(text).ok()?;
                    (len > 0).then_some((value, len))
                }),
                is(sum),
            )
            .target_near_best(1.1)
            .target_allocations(0);
    }
    let values = singles();
    let texts = Texts::new(
        values
            .iter()
            .map(|value| zmij::Buffer::new().format_finite(*value).to_owned()),
    );
    let sum = sum(&values);
    group
        .case(format!("number: read {COUNT} floats of 32 bits"))
        .bytes(texts.len())
        .polywire(
            texts
                .whole(|text| number::parse_float::<f32>(text, Spelling::JSON).unwrap_or_default()),
            is(sum),
        )
        .peer(
            "fast-float2",
            texts.whole(|text| fast_float2::parse::<f32, _>(text).unwrap_or_default()),
            is(sum),
        )
        .peer(
            "lexical-core",
            texts.whole(|text| lexical_core::parse::<f32>(text).unwrap_or_default()),
            is(sum),
        )
        .target_near_best(1.1)
        .target_allocations(0);
}

fn singles() -> Vec<f32> {
    let unit = |random: u64| (random >> 40) as f32 / (1_u32 << 24) as f32;
    random(24)
        .map(|random| (unit(random) - 0.5) * 360.0)
        .take(COUNT)
        .collect()
}

fn write_floats(group: &mut Group) {
    for (kind, values) in doubles() {
        let shortest = |out: &mut Vec<u8>, value: f64| {
            out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
        };
        let mut expected = Vec::new();
        for value in &values {
            let mut text = Vec::new();
            shortest(&mut text, *value);
            expected.extend_from_slice(text.strip_suffix(b".0").unwrap_or(&text));
            expected.push(b',');
        }
        let len = expected.len();
        // The peers' layouts differ, so of theirs the values are checked.
        let read = values.clone();
        let reads_back = move |found: &[u8]| {
            let found = text(found).split_terminator(',').map(str::parse::<f64>);
            found.eq(read.iter().copied().map(Ok))
        };
        group
            .case(format!("number: write {COUNT} {kind}"))
            .bytes(len)
            .polywire_writes(writes(&values, number::push_f64), move |found| {
                same_bytes(found, &expected)
            })
            .peer_writes("zmij", writes(&values, shortest), reads_back.clone())
            .peer_writes(
                "ryu",
                writes(&values, |out, value| {
                    out.extend_from_slice(ryu::Buffer::new().format_finite(value).as_bytes());
                }),
                reads_back.clone(),
            )
            .peer_writes(
                "std",
                writes(&values, |out, value| {
                    use std::io::Write;
                    let _ = write!(out, "{value}");
                }),
                reads_back.clone(),
            )
            .target_near_best(1.1)
            .target_allocations(0);
        group
            .case(format!("number: write {COUNT} {kind} without exponents"))
            .bytes(len)
            .polywire_writes(
                writes(&values, |out, value| {
                    let _ = number::push_float(out, value, Spelling::XML_RPC);
                }),
                reads_back.clone(),
            )
            .peer_writes(
                "std",
                writes(&values, |out, value| {
                    use std::io::Write;
                    let _ = write!(out, "{value}");
                }),
                reads_back,
            )
            .target_near_best(1.1)
            .target_allocations(0);
    }
    let values = singles();
    let len = Texts::new(&values).len();
    let read = values.clone();
    let reads_back = move |found: &[u8]| {
        let found = text(found).split_terminator(',').map(str::parse::<f32>);
        found.eq(read.iter().copied().map(Ok))
    };
    group
        .case(format!("number: write {COUNT} floats of 32 bits"))
        .bytes(len)
        .polywire_writes(writes(&values, number::push_f32), reads_back.clone())
        .peer_writes(
            "zmij",
            writes(&values, |out, value| {
                out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
            }),
            reads_back.clone(),
        )
        .peer_writes(
            "ryu",
            writes(&values, |out, value| {
                out.extend_from_slice(ryu::Buffer::new().format_finite(value).as_bytes());
            }),
            reads_back,
        )
        .target_near_best(1.1)
        .target_allocations(0);
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
            Decimal::parse(text, Grammar::Json).is_ok_and(|decimal| decimal == decimal)
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
