//! Timestamps, both ways.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use crate::{Case, Group, same, same_bytes};
use polywire_text::Timestamp;
use polywire_text::reference::timestamp as twin;
use polywire_text::timestamp::Fraction;
use time::OffsetDateTime;
use time::format_description::well_known::{Rfc2822, Rfc3339};

/// How many timestamps a call handles.
const COUNT: usize = 1000;

pub(super) fn cases(group: &mut Group) {
    let whole = instants(|_| 0);
    let fractions = instants(|at| [250_000_000, 123_456_000, 123_456_789, 0][at % 4]);
    date_times(group, "RFC 3339", &whole, "Z");
    date_times(group, "RFC 3339 with fractions", &fractions, "Z");
    date_times(group, "RFC 3339 with offsets", &fractions, "+05:30");
    write_date_times(group, "RFC 3339", &whole);
    write_date_times(group, "RFC 3339 with fractions", &fractions);
    http_dates(group, &whole);
    write_http_dates(group, &whole);
    historic_dates(group, &whole);
    xmlrpc(group, &whole);
    epoch_seconds(group, &fractions);
    doubles(group, &fractions);
    long_fractions(group);
}

/// Instants of the years 1970 to 2100, in no order.
fn instants(nanoseconds: impl Fn(usize) -> u32) -> Vec<Timestamp> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..COUNT)
        .map(|at| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            Timestamp::new((state % 4_102_444_800) as i64, nanoseconds(at))
        })
        .collect()
}

/// Each instant as `push` writes it.
fn texts(instants: &[Timestamp], push: impl Fn(Timestamp, &mut Vec<u8>)) -> Vec<String> {
    let text = |instant: &Timestamp| {
        let mut out = Vec::new();
        push(*instant, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    };
    instants.iter().map(text).collect()
}

/// What the readers of a case add up, so that nothing they find may be left out.
fn sum(instants: &[Timestamp]) -> i64 {
    instants
        .iter()
        .map(|instant| instant.seconds() ^ i64::from(instant.nanoseconds()))
        .fold(0, i64::wrapping_add)
}

/// A subject that reads all texts and adds up what it finds.
fn reads<E>(
    texts: &[String],
    read: impl Fn(&str) -> Result<(i64, u32), E> + 'static,
) -> impl FnMut() -> i64 + 'static {
    let texts = texts.to_vec();
    move || {
        let mut sum = 0_i64;
        for text in &texts {
            let Ok((seconds, nanoseconds)) = read(text) else {
                return -1;
            };
            sum = sum.wrapping_add(seconds ^ i64::from(nanoseconds));
        }
        sum
    }
}

fn ours(read: Timestamp) -> (i64, u32) {
    (read.seconds(), read.nanoseconds())
}

fn case<'a>(group: &'a mut Group, name: &str, texts: &[String]) -> &'a mut Case {
    let bytes = texts.iter().map(String::len).sum();
    group
        .case(format!("{COUNT} timestamps: {name}"))
        .bytes(bytes)
}

fn date_times(group: &mut Group, name: &str, instants: &[Timestamp], zone: &str) {
    let offset = if zone == "Z" { 0 } else { 5 * 3600 + 1800 };
    let texts = texts(instants, |instant, out| {
        let local = Timestamp::new(instant.seconds() + offset, instant.nanoseconds());
        out.extend_from_slice(
            twin::write_date_time(local, Fraction::Needed)
                .trim_end_matches('Z')
                .as_bytes(),
        );
        out.extend_from_slice(zone.as_bytes());
    });
    let expected = sum(instants);
    case(group, &format!("read {name}"), &texts)
        .polywire(
            reads(&texts, |text| Timestamp::parse_date_time(text).map(ours)),
            move |sum| same(sum, &expected),
        )
        .peer(
            "time",
            reads(&texts, |text| {
                OffsetDateTime::parse(text, &Rfc3339)
                    .map(|read| (read.unix_timestamp(), read.nanosecond()))
            }),
            move |sum| same(sum, &expected),
        )
        .peer(
            "jiff",
            reads(&texts, |text| {
                text.parse::<jiff::Timestamp>()
                    .map(|read| (read.as_second(), read.subsec_nanosecond() as u32))
            }),
            move |sum| same(sum, &expected),
        )
        .peer(
            "chrono",
            reads(&texts, |text| {
                chrono::DateTime::parse_from_rfc3339(text)
                    .map(|read| (read.timestamp(), read.timestamp_subsec_nanos()))
            }),
            move |sum| same(sum, &expected),
        )
        .target_near_best(1.1)
        .target_allocations(0);
    // Apart, as it keeps microseconds only, and is asked for whole seconds.
    let whole = instants.iter().all(|instant| instant.nanoseconds() == 0);
    if whole {
        case(group, &format!("read {name}, beside speedate"), &texts)
            .polywire(
                reads(&texts, |text| Timestamp::parse_date_time(text).map(ours)),
                move |sum| same(sum, &expected),
            )
            .peer(
                "speedate",
                reads(&texts, |text| {
                    speedate::DateTime::parse_bytes_rfc3339(text.as_bytes())
                        .map(|read| (read.timestamp_tz(), read.time.microsecond * 1000))
                }),
                move |sum| same(sum, &expected),
            )
            .target_near_best(1.1);
    }
}

/// A subject that writes all instants, each with a line feed.
fn writes<T: Copy + 'static>(
    instants: Vec<T>,
    write: impl Fn(T, &mut Vec<u8>) + 'static,
) -> impl FnMut(&mut Vec<u8>) + 'static {
    move |out| {
        for instant in &instants {
            write(*instant, out);
            out.push(b'\n');
        }
    }
}

fn lines(texts: &[String]) -> Vec<u8> {
    texts
        .iter()
        .flat_map(|text| [text, "\n"].concat().into_bytes())
        .collect()
}

/// Instants of time hold year, day, hour, minute and second apart already: who
/// writes them has less to do than we, who begin at seconds since the epoch.
fn of_time(instants: &[Timestamp]) -> Vec<OffsetDateTime> {
    let of = |instant: &Timestamp| {
        OffsetDateTime::from_unix_timestamp_nanos(instant.as_nanoseconds())
            .unwrap_or(OffsetDateTime::UNIX_EPOCH)
    };
    instants.iter().map(of).collect()
}

fn of_jiff(instants: &[Timestamp]) -> Vec<jiff::Timestamp> {
    let of = |instant: &Timestamp| {
        jiff::Timestamp::from_nanosecond(instant.as_nanoseconds()).unwrap_or_default()
    };
    instants.iter().map(of).collect()
}

fn write_date_times(group: &mut Group, name: &str, instants: &[Timestamp]) {
    let texts = texts(instants, |instant, out| {
        out.extend_from_slice(twin::write_date_time(instant, Fraction::Needed).as_bytes());
    });
    let expected = lines(&texts);
    let expected = move |out: &[u8]| same_bytes(out, &expected);
    case(group, &format!("write {name}"), &texts)
        .polywire_writes(
            writes(instants.to_vec(), |instant, out| {
                let _ = instant.push_date_time(out);
            }),
            expected.clone(),
        )
        .peer_writes(
            "time",
            writes(of_time(instants), |instant, out| {
                let _ = instant.format_into(out, &Rfc3339);
            }),
            expected.clone(),
        )
        .peer_writes(
            "jiff",
            writes(of_jiff(instants), |instant, out| {
                let _ = jiff::fmt::temporal::DateTimePrinter::new().print_timestamp(&instant, out);
            }),
            expected,
        )
        .target_near_best(1.1)
        .target_allocations(0);
}

fn http_dates(group: &mut Group, instants: &[Timestamp]) {
    let texts = texts(instants, |instant, out| {
        out.extend_from_slice(twin::write_http_date(instant, Fraction::Needed).as_bytes());
    });
    let expected = sum(instants);
    case(group, "read HTTP-date", &texts)
        .polywire(
            reads(&texts, |text| Timestamp::parse_http_date(text).map(ours)),
            move |sum| same(sum, &expected),
        )
        .peer("httpdate", reads(&texts, httpdate), move |sum| {
            same(sum, &expected)
        })
        .peer(
            "time",
            reads(&texts, |text| {
                OffsetDateTime::parse(text, &Rfc2822)
                    .map(|read| (read.unix_timestamp(), read.nanosecond()))
            }),
            move |sum| same(sum, &expected),
        )
        .peer(
            "jiff",
            reads(&texts, |text| {
                jiff::fmt::rfc2822::parse(text).map(|read| {
                    (
                        read.timestamp().as_second(),
                        read.subsec_nanosecond() as u32,
                    )
                })
            }),
            move |sum| same(sum, &expected),
        )
        .target_near_best(1.1)
        .target_allocations(0);
}

fn httpdate(text: &str) -> Result<(i64, u32), httpdate::Error> {
    httpdate::parse_http_date(text).map(|read| {
        let after = read
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        (after.as_secs() as i64, after.subsec_nanos())
    })
}

fn write_http_dates(group: &mut Group, instants: &[Timestamp]) {
    let texts = texts(instants, |instant, out| {
        out.extend_from_slice(twin::write_http_date(instant, Fraction::Needed).as_bytes());
    });
    let expected = lines(&texts);
    let expected = move |out: &[u8]| same_bytes(out, &expected);
    let system: Vec<SystemTime> = instants
        .iter()
        .map(|instant| SystemTime::UNIX_EPOCH + Duration::from_secs(instant.seconds() as u64))
        .collect();
    let description = time::macros::format_description!(
        "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT"
    );
    case(group, "write HTTP-date", &texts)
        .polywire_writes(
            writes(instants.to_vec(), |instant, out| {
                let _ = instant.push_http_date(out);
            }),
            expected.clone(),
        )
        .peer_writes(
            "httpdate",
            writes(system, |instant, out| {
                use std::io::Write as _;
                let _ = write!(out, "{}", httpdate::HttpDate::from(instant));
            }),
            expected.clone(),
        )
        .peer_writes(
            "time",
            writes(of_time(instants), move |instant, out| {
                let _ = instant.format_into(out, &description);
            }),
            expected.clone(),
        )
        .peer_writes(
            "jiff",
            writes(of_jiff(instants), |instant, out| {
                let printer = jiff::fmt::rfc2822::DateTimePrinter::new();
                let _ = printer.print_timestamp_rfc9110(&instant, out);
            }),
            expected,
        )
        .target_near_best(1.1)
        .target_allocations(0);
}

/// The forms of HTTP-date that nobody should write any more.
fn historic_dates(group: &mut Group, instants: &[Timestamp]) {
    let instants: Vec<Timestamp> = instants
        .iter()
        .map(|instant| Timestamp::new(instant.seconds() % 3_124_224_000, 0))
        .collect();
    let expected = sum(&instants);
    for (name, write) in [
        ("rfc850-date", twin::write_rfc850 as fn(Timestamp) -> String),
        ("asctime-date", twin::write_asctime),
    ] {
        let texts: Vec<String> = instants.iter().map(|instant| write(*instant)).collect();
        case(group, &format!("read {name}"), &texts)
            .polywire(
                reads(&texts, |text| Timestamp::parse_http_date(text).map(ours)),
                move |sum| same(sum, &expected),
            )
            .peer("httpdate", reads(&texts, httpdate), move |sum| {
                same(sum, &expected)
            })
            .target_near_best(1.1)
            .target_allocations(0);
    }
}

/// No crate has this form built in.
fn xmlrpc(group: &mut Group, instants: &[Timestamp]) {
    let texts = texts(instants, |instant, out| {
        out.extend_from_slice(twin::write_xmlrpc(instant, Fraction::Needed).as_bytes());
    });
    let expected = sum(instants);
    let description =
        time::macros::format_description!("[year][month][day]T[hour]:[minute]:[second]");
    case(group, "read XML-RPC", &texts)
        .polywire(
            reads(&texts, |text| Timestamp::parse_xmlrpc(text).map(ours)),
            move |sum| same(sum, &expected),
        )
        .peer(
            "time",
            reads(&texts, move |text| {
                time::PrimitiveDateTime::parse(text, &description)
                    .map(|read| (read.assume_utc().unix_timestamp(), read.nanosecond()))
            }),
            move |sum| same(sum, &expected),
        )
        .target_near_best(1.1)
        .target_allocations(0);
    let expected = lines(&texts);
    let expected = move |out: &[u8]| same_bytes(out, &expected);
    case(group, "write XML-RPC", &texts)
        .polywire_writes(
            writes(instants.to_vec(), |instant, out| {
                let _ = instant.push_xmlrpc(out);
            }),
            expected.clone(),
        )
        .peer_writes(
            "time",
            writes(of_time(instants), move |instant, out| {
                let _ = instant.format_into(out, &description);
            }),
            expected,
        )
        .target_near_best(1.1)
        .target_allocations(0);
}

fn epoch_seconds(group: &mut Group, instants: &[Timestamp]) {
    let texts = texts(instants, |instant, out| {
        out.extend_from_slice(twin::write_epoch_seconds(instant, Fraction::Needed).as_bytes());
    });
    let expected = sum(instants);
    case(group, "read epoch seconds", &texts)
        .polywire(
            reads(&texts, |text| {
                Timestamp::parse_epoch_seconds(text).map(ours)
            }),
            move |sum| same(sum, &expected),
        )
        .target_allocations(0);
    let expected = lines(&texts);
    case(group, "write epoch seconds", &texts)
        .polywire_writes(
            writes(instants.to_vec(), |instant, out| {
                instant.push_epoch_seconds(out);
            }),
            move |out| same_bytes(out, &expected),
        )
        .target_allocations(0);
}

fn doubles(group: &mut Group, instants: &[Timestamp]) {
    let seconds: Vec<f64> = instants.iter().map(|instant| instant.as_f64()).collect();
    let micros = instants
        .iter()
        .map(|instant| Timestamp::new(instant.seconds(), instant.nanoseconds() / 1000 * 1000));
    let expected: i64 = micros.map(|instant| instant.seconds()).sum();
    group
        .case(format!("{COUNT} timestamps: from doubles"))
        .bytes(COUNT * 8)
        .polywire(
            move || {
                let read = |seconds: &f64| Timestamp::from_f64(*seconds);
                seconds
                    .iter()
                    .filter_map(read)
                    .map(Timestamp::seconds)
                    .sum::<i64>()
            },
            move |sum| same(sum, &expected),
        )
        .target_allocations(0);
}

/// Digits that are looked at and left out.
fn long_fractions(group: &mut Group) {
    let text = |digits: usize, before: &str, after: &str| {
        let mut text = before.to_owned();
        for at in 0..digits {
            let _ = write!(text, "{}", at % 10);
        }
        text + after
    };
    type Read = fn(&str) -> Result<Timestamp, polywire_text::Malformed>;
    let forms: [(&str, &str, &str, Read); 4] = [
        (
            "RFC 3339",
            "2026-11-21T20:30:00.",
            "Z",
            Timestamp::parse_date_time,
        ),
        (
            "HTTP-date",
            "Sat, 21 Nov 2026 20:30:00.",
            " GMT",
            Timestamp::parse_http_date,
        ),
        ("XML-RPC", "20261121T20:30:00.", "", Timestamp::parse_xmlrpc),
        (
            "epoch seconds",
            "1795293000.",
            "",
            Timestamp::parse_epoch_seconds,
        ),
    ];
    for (form, before, after, read) in forms {
        for (digits, twice) in [(1000, ""), (2000, ", twice the input")] {
            let text = text(digits, before, after);
            let name = format!("read a long fraction of {form}{twice}");
            let case = group.case(name).bytes(text.len()).polywire(
                move || read(&text).map(ours),
                |read| {
                    same(
                        read,
                        &Ok::<_, polywire_text::Malformed>((1_795_293_000, 12_345_678)),
                    )
                },
            );
            case.target_allocations(0);
            if !twice.is_empty() {
                case.target_instructions_of_case(format!("read a long fraction of {form}"), 2.1);
            }
        }
    }
}
