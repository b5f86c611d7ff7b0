//! Writes histograms in the log format of HdrHistogram, with one interval per second.

use std::fmt::Display;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriter, IntervalLogWriterBuilder};

use crate::Failure;

/// The file of a log.
pub(super) struct LogFile {
    file: File,
    shown: String,
    serializer: V2DeflateSerializer,
}

impl LogFile {
    /// Creates the file, or replaces it.
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let shown = format!("--hdr-log {}", path.display());
        let file = File::create(path);
        Ok(Self {
            file: file.map_err(|error| Failure::usage(format!("{shown}: {error}")))?,
            shown,
            serializer: V2DeflateSerializer::new(),
        })
    }
}

/// A log. Latencies are in nanoseconds, the column of the maximum in milliseconds, and times are
/// relative to the start of the measurement.
pub(super) struct Log<'a> {
    writer: IntervalLogWriter<'a, 'a, File, V2DeflateSerializer>,
    shown: &'a str,
}

impl<'a> Log<'a> {
    pub(super) fn begin(file: &'a mut LogFile, what: &str) -> Result<Self, Failure> {
        let LogFile {
            file,
            shown,
            serializer,
        } = file;
        let mut builder = IntervalLogWriterBuilder::new();
        builder.add_comment("[Histogram log format version 1.3]");
        builder.add_comment(what);
        builder.with_start_time(SystemTime::now());
        builder.with_max_value_divisor(1e6);
        let writer = builder.begin_log_with(file, serializer);
        Ok(Self {
            writer: writer.map_err(|error| lost(shown, &error))?,
            shown,
        })
    }

    pub(super) fn write(
        &mut self,
        from: Duration,
        span: Duration,
        histogram: &Histogram<u64>,
    ) -> Result<(), Failure> {
        self.writer
            .write_histogram(histogram, from, span, None)
            .map_err(|error| lost(self.shown, &error))
    }
}

fn lost(shown: &str, error: &dyn Display) -> Failure {
    Failure::transport(format!("{shown}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    use polywire::text::base64;

    #[test]
    fn writes_readable_logs() {
        let name = format!("polywire-hdr-{}.hlog", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut file = LogFile::create(&path).unwrap();
        let mut log = Log::begin(&mut file, "Add over frames").unwrap();
        let second = Duration::from_secs(1);
        for number in 0..2 {
            let mut histogram = Histogram::new(3).unwrap();
            histogram
                .record(2_000_000 * (1 + u64::from(number)))
                .unwrap();
            log.write(second * number, second, &histogram).unwrap();
        }
        let text = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let entries = IntervalLogIterator::new(&text).map(Result::unwrap);
        let intervals: Vec<_> = entries
            .filter_map(|entry| match entry {
                LogEntry::Interval(interval) => Some(interval),
                _ => None,
            })
            .collect();
        assert_eq!(intervals.len(), 2);
        assert_eq!(intervals[1].start_timestamp(), second);
        assert!((intervals[1].max() - 4.0).abs() < 0.01);
        let bytes = base64::decode(intervals[0].encoded_histogram().as_bytes()).unwrap();
        let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        assert_eq!((histogram.len(), histogram.max() / 10_000), (1, 200));
    }
}
