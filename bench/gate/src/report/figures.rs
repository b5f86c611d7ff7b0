//! Numbers for people to read.

/// A count with its digits in groups of three.
pub(crate) fn count(number: f64) -> String {
    let digits = format!("{:.0}", number);
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A time in the unit that leaves three or four digits before the point at most.
pub(crate) fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        n if n < 100.0 => format!("{n:.2} ns"),
        n if n < 10_000.0 => format!("{n:.0} ns"),
        n if n < 10_000_000.0 => format!("{:.1} us", n / 1e3),
        n => format!("{:.2} ms", n / 1e6),
    }
}

/// A ratio with about three digits.
pub(crate) fn ratio(number: f64) -> String {
    match number {
        n if n < 10.0 => format!("{n:.2}"),
        n if n < 100.0 => format!("{n:.1}"),
        n => format!("{n:.0}"),
    }
}

/// A figure of a target: whole counts without a fraction.
pub(crate) fn plain(number: f64) -> String {
    if number.fract() == 0.0 {
        count(number)
    } else {
        ratio(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(count(0.0), "0");
        assert_eq!(count(999.0), "999");
        assert_eq!(count(1_234_567.4), "1,234,567");
        assert_eq!(time(2.414), "2.41 ns");
        assert_eq!(time(3518.0), "3518 ns");
        assert_eq!(time(312_094.0), "312.1 us");
        assert_eq!(time(54_626_098.0), "54.63 ms");
        assert_eq!(ratio(1.666), "1.67");
        assert_eq!(ratio(52.34), "52.3");
        assert_eq!(plain(3.0), "3");
        assert_eq!(plain(3.8), "3.80");
    }
}
