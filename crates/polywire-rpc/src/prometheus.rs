//! The text format of Prometheus, version 0.0.4.

use std::fmt::Write;

/// A metric without labels: name, help text without a full stop, value. A metric whose name ends with `_total` is a
/// counter, any other a gauge.
pub(crate) type Metric = (&'static str, &'static str, u64);

/// Appends metrics. Their names get `prefix` and `_` in front.
pub(crate) fn write(text: &mut String, prefix: &str, metrics: &[Metric]) {
    for (name, help, value) in metrics {
        let kind = match name.ends_with("_total") {
            true => "counter",
            false => "gauge",
        };
        let name = format!("{prefix}_{name}");
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "# HELP {name} {help}.\n# TYPE {name} {kind}\n{name} {value}"
        );
    }
}
