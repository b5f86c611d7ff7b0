//! Numbers, beside lexical-core, atoi_simd, itoa and zmij.

use polywire_gate::groups::text::number::{
    Texts, any_doubles, checksum, coordinates, mixed_integers, prices, reads_back, writes,
};
use polywire_gate::{Group, same, same_bytes};

pub(crate) fn cases(group: &mut Group) {
    integers(group);
    read_doubles(group);
    write_doubles(group);
}

fn integers(group: &mut Group) {
    let values = mixed_integers();
    let texts = Texts::new(&values);
    let sum = checksum(&values);
    group.extend(
        "number: read 1000 integers of 1-18 digits on the way",
        |case| {
            case.peer(
                "lexical-core",
                texts.prefixes(|text| {
                    let (value, len) = lexical_core::parse_partial::<i64>(text).ok()?;
                    (len > 0).then_some((value, len))
                }),
                move |found| same(found, &sum),
            )
            .peer(
                "atoi_simd",
                texts.prefixes(|text| atoi_simd::parse_prefix::<i64, false, false>(text).ok()),
                move |found| same(found, &sum),
            )
            .target_near_best(1.1);
        },
    );
    group.extend("number: write 1000 integers of 1-18 digits", |case| {
        let right = move |found: &[u8]| same_bytes(found, texts.bytes());
        case.peer_writes(
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
            right,
        )
        .target_near_best(1.1);
    });
}

fn read_doubles(group: &mut Group) {
    let prices = prices();
    let texts = Texts::new(&prices);
    let sum = checksum(&prices);
    group.extend("number: read 1000 prices on the way", |case| {
        case.peer(
            "lexical-core",
            texts.prefixes(|text| {
                let (value, len) = lexical_core::parse_partial::<f64>(text).ok()?;
                (len > 0).then_some((value, len))
            }),
            move |found| same(found, &sum),
        )
        .target_near_best(1.1);
    });
    let coordinates = coordinates();
    let texts = Texts::new(&coordinates);
    let sum = checksum(&coordinates);
    group.extend("number: read 1000 doubles of 17 digits", |case| {
        case.peer(
            "lexical-core",
            texts.whole(|text| lexical_core::parse::<f64>(text).unwrap_or_default()),
            move |found| same(found, &sum),
        )
        .target_near_best(1.1);
    });
}

fn write_doubles(group: &mut Group) {
    for (kind, values) in [
        ("doubles of 17 digits", coordinates()),
        ("doubles of any bits", any_doubles()),
    ] {
        group.extend(&format!("number: write 1000 {kind}"), |case| {
            case.peer_writes(
                "zmij",
                writes(&values, |out, value| {
                    out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
                }),
                reads_back(&values),
            )
            .target_near_best(1.1);
        });
    }
}
