//! Reading numbers: the whole text, and on the way through a longer one.

use crate::Group;
use polywire_text::number::{self, Grammar, Spelling};

use super::{COUNT, Texts, doubles, is, of_digits, of_mixed_digits, random, singles, sum, text};

pub(super) fn integers(group: &mut Group) {
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

pub(super) fn floats(group: &mut Group) {
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
