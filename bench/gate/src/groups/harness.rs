//! The harness measures itself, with cases of known cost.

use crate::allocations::{self, Allocations};
use crate::{Case, Figure, Figures, Group, same, same_bytes};
use std::hint::black_box;

/// Adds the cases.
pub fn cases(group: &mut Group) {
    writing_an_integer(group);
    counting_allocations(group);
    growing(group);
    loading(group);
}

/// A peer that is known to be slower.
fn writing_an_integer(group: &mut Group) {
    const DIGITS: &[u8] = b"4294967295";
    let number = u32::MAX;
    group
        .case("write ten digits")
        .bytes(DIGITS.len())
        .polywire_writes(
            move |out| polywire_text::number::push(out, number),
            |bytes| same_bytes(bytes, DIGITS),
        )
        .peer(
            "std to_string",
            move || number.to_string(),
            |text| same_bytes(text.as_bytes(), DIGITS),
        )
        .target_repeats()
        .target_allocations(0)
        .target_instructions_per_byte(10.0)
        .target_ratio_instructions("std to_string", 0.7);
}

/// Code that allocates three times, counted in the check and by the harness.
fn counting_allocations(group: &mut Group) {
    let expected = Allocations {
        count: 3,
        bytes: 170,
        peak_bytes: 100,
    };
    let work = || {
        drop(black_box(Vec::<u8>::with_capacity(100)));
        let pair = (Vec::<u8>::with_capacity(30), Vec::<u8>::with_capacity(40));
        drop(black_box(pair));
    };
    group
        .case("allocate three times")
        .polywire(work, move |()| same(&allocations::count(work), &expected))
        .target_repeats()
        .target_allocations(expected.count)
        .target_peak_bytes(expected.peak_bytes);
}

/// A target that names another case: twice the input, twice the work.
fn growing(group: &mut Group) {
    fn sum<'a>(group: &'a mut Group, name: &str, length: u64) -> &'a mut Case {
        let numbers: Vec<u64> = (1..=length).map(|number| number * number).collect();
        let sum: u64 = numbers.iter().sum();
        // The black box prevents vectorisation.
        let run = move || {
            numbers
                .iter()
                .fold(0, |sum, number| black_box(sum + number))
        };
        group
            .case(name)
            .bytes(length as usize * size_of::<u64>())
            .polywire(run, move |answer| same(answer, &sum))
            .target_repeats()
    }
    sum(group, "sum of 1000", 1000);
    sum(group, "sum of 2000", 2000).target_instructions_of_case("sum of 1000", 2.1);
}

/// A load with known figures.
fn loading(group: &mut Group) {
    let figures = |rate, answered| {
        Figures::default()
            .with(Figure::Rate, rate)
            .with(Figure::Answered, answered)
    };
    group
        .load("known figures")
        .polywire(move |_| Ok(figures(200.0, 1.0)))
        .peer("half as fast", move |_| Ok(figures(100.0, 0.5)))
        .target_at_least_times(Figure::Rate, 2.0, "half as fast")
        .target_at_most_times(Figure::Rate, 2.0, "half as fast")
        .target_at_least(Figure::Answered, 1.0);
}
