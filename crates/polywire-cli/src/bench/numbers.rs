//! Formats numbers for people.

/// `1,234,567`.
pub(super) fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 thread`, `2 threads`.
pub(super) fn plural(number: u32, what: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{number} {what}{end}")
}

/// Calls per second: `1,234`, or `0.57` for low rates.
pub(super) fn rate(rate: f64) -> String {
    match rate < 100.0 {
        true => format!("{rate:.2}"),
        false => count(rate.round() as u64),
    }
}

/// Formats microseconds: `412 us`, `1.31 ms`, `2.04 s`.
pub(super) fn micros(micros: f64) -> String {
    let three = |number: f64, unit: &str| match number {
        _ if number < 10.0 => format!("{number:.2} {unit}"),
        _ if number < 100.0 => format!("{number:.1} {unit}"),
        _ => format!("{number:.0} {unit}"),
    };
    match micros {
        _ if micros < 1_000.0 => three(micros, "us"),
        _ if micros < 1_000_000.0 => three(micros / 1e3, "ms"),
        _ => three(micros / 1e6, "s"),
    }
}

/// `11.2 MiB`.
pub(super) fn bytes(bytes: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut number, mut unit) = (bytes, 0);
    while number.abs() >= 1024.0 && unit + 1 < units.len() {
        number /= 1024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{number:.0} B"),
        _ => format!("{number:.1} {}", units[unit]),
    }
}

/// Formats a fraction as `99.98%`. Rounds down, so that `100%` means all.
pub(super) fn percent(part: f64) -> String {
    let shown = (part * 1e5).floor() / 1e3;
    match part >= 1.0 {
        true => "100%".to_owned(),
        false => format!("{shown}%"),
    }
}

/// Formats numbers as bars. The highest bar is the largest number.
pub(super) fn sparkline(numbers: impl Iterator<Item = f64> + Clone) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = numbers.clone().fold(0.0, f64::max);
    let bar = |number: f64| {
        let height = if most > 0.0 { number / most } else { 0.0 };
        BARS[((height * 8.0).ceil() as usize).clamp(1, 8) - 1]
    };
    numbers.map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(count(number), text);
        }
        assert_eq!(
            (plural(1, "thread"), plural(2, "call")),
            ("1 thread".into(), "2 calls".into())
        );
        assert_eq!((rate(0.5), rate(1_234.5)), ("0.50".into(), "1,235".into()));
        for (number, text) in [
            (0.25, "0.25 us"),
            (41.26, "41.3 us"),
            (412.0, "412 us"),
            (1_310.0, "1.31 ms"),
            (2_040_000.0, "2.04 s"),
        ] {
            assert_eq!(micros(number), text);
        }
        assert_eq!(
            (bytes(35.0), bytes(5.5 * 1_048_576.0)),
            ("35 B".into(), "5.5 MiB".into())
        );
    }

    /// One failed call in a million must be visible.
    #[test]
    fn percent_rounds_down() {
        assert_eq!(percent(1.0), "100%");
        assert_eq!(percent(0.999_999), "99.999%");
        assert_eq!(percent(0.5), "50%");
        assert_eq!(percent(0.0), "0%");
    }

    #[test]
    fn sparklines() {
        assert_eq!(sparkline([0.0, 1.0, 4.0, 8.0].into_iter()), "▁▁▄█");
        assert_eq!(sparkline([0.0, 0.0].into_iter()), "▁▁");
        assert_eq!(sparkline(std::iter::empty()), "");
    }
}
