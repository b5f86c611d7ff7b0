//! Timestamps, beside time and jiff.

use polywire_gate::groups::text::timestamp::{
    checksum, date_times, http_dates, instants, instants_with_fractions, lines, reads, writes,
    xmlrpc_dates,
};
use polywire_gate::{Case, Group, same, same_bytes};
use polywire_text::Timestamp;
use time::format_description::well_known::{Rfc2822, Rfc3339};
use time::{OffsetDateTime, PrimitiveDateTime};

pub(crate) fn cases(group: &mut Group) {
    read_date_times(group);
    read_http_dates(group);
    read_xmlrpc(group);
    write_date_times(group);
    write_http_dates(group);
}

/// A peer that reads each text as seconds and nanoseconds.
fn reader<'a>(
    case: &'a mut Case,
    name: &str,
    instants: &[Timestamp],
    texts: &[String],
    read: impl Fn(&str) -> Option<(i64, u32)> + 'static,
) -> &'a mut Case {
    let expected = checksum(instants);
    case.peer(name, reads(texts, read), move |sum| same(sum, &expected))
}

fn read_date_times(group: &mut Group) {
    let instants = instants_with_fractions();
    let texts = date_times(&instants);
    group.extend("1000 timestamps: read RFC 3339 with fractions", |case| {
        reader(case, "time", &instants, &texts, |text| {
            of_time(OffsetDateTime::parse(text, &Rfc3339).ok()?)
        });
        reader(case, "jiff", &instants, &texts, |text| {
            let read: jiff::Timestamp = text.parse().ok()?;
            Some((read.as_second(), read.subsec_nanosecond() as u32))
        })
        .target_near_best(1.1);
    });
}

fn read_http_dates(group: &mut Group) {
    let instants = instants();
    let texts = http_dates(&instants);
    group.extend("1000 timestamps: read HTTP-date", |case| {
        reader(case, "time", &instants, &texts, |text| {
            of_time(OffsetDateTime::parse(text, &Rfc2822).ok()?)
        });
        reader(case, "jiff", &instants, &texts, |text| {
            let read = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
            Some((read.as_second(), read.subsec_nanosecond() as u32))
        })
        .target_near_best(1.1);
    });
}

fn read_xmlrpc(group: &mut Group) {
    let instants = instants();
    let texts = xmlrpc_dates(&instants);
    let layout = time::macros::format_description!("[year][month][day]T[hour]:[minute]:[second]");
    group.extend("1000 timestamps: read XML-RPC", |case| {
        reader(case, "time", &instants, &texts, move |text| {
            of_time(PrimitiveDateTime::parse(text, &layout).ok()?.assume_utc())
        })
        .target_near_best(1.1);
    });
}

fn of_time(read: OffsetDateTime) -> Option<(i64, u32)> {
    Some((read.unix_timestamp(), read.nanosecond()))
}

/// The instants in the type of `time`. It stores year, day, hour, minute and second, so its
/// writers have less to do than ours, which start from seconds since the epoch.
fn to_time(instants: &[Timestamp]) -> Vec<OffsetDateTime> {
    let of = |instant: &Timestamp| {
        OffsetDateTime::from_unix_timestamp_nanos(instant.as_nanoseconds())
            .unwrap_or(OffsetDateTime::UNIX_EPOCH)
    };
    instants.iter().map(of).collect()
}

fn to_jiff(instants: &[Timestamp]) -> Vec<jiff::Timestamp> {
    let of = |instant: &Timestamp| {
        jiff::Timestamp::from_nanosecond(instant.as_nanoseconds()).unwrap_or_default()
    };
    instants.iter().map(of).collect()
}

fn write_date_times(group: &mut Group) {
    let instants = instants();
    let expected = lines(&date_times(&instants));
    let right = move |out: &[u8]| same_bytes(out, &expected);
    group.extend("1000 timestamps: write RFC 3339", |case| {
        case.peer_writes(
            "time",
            writes(to_time(&instants), |instant, out| {
                let _ = instant.format_into(out, &Rfc3339);
            }),
            right.clone(),
        )
        .peer_writes(
            "jiff",
            writes(to_jiff(&instants), |instant, out| {
                let _ = jiff::fmt::temporal::DateTimePrinter::new().print_timestamp(&instant, out);
            }),
            right,
        )
        .target_near_best(1.1);
    });
}

fn write_http_dates(group: &mut Group) {
    let instants = instants();
    let expected = lines(&http_dates(&instants));
    let right = move |out: &[u8]| same_bytes(out, &expected);
    let layout = time::macros::format_description!(
        "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT"
    );
    group.extend("1000 timestamps: write HTTP-date", |case| {
        case.peer_writes(
            "time",
            writes(to_time(&instants), move |instant, out| {
                let _ = instant.format_into(out, &layout);
            }),
            right.clone(),
        )
        .peer_writes(
            "jiff",
            writes(to_jiff(&instants), |instant, out| {
                let printer = jiff::fmt::rfc2822::DateTimePrinter::new();
                let _ = printer.print_timestamp_rfc9110(&instant, out);
            }),
            right,
        )
        .target_near_best(1.1);
    });
}
