//! Timestamps, read and written.

use super::random;
use crate::{Case, Group, same, same_bytes};
use polywire_text::Timestamp;
use polywire_text::reference::timestamp as reference;
use polywire_text::timestamp::Fraction;

/// How many timestamps a case handles.
const COUNT: usize = 1000;

/// Adds the cases.
pub fn cases(group: &mut Group) {
    type Read = fn(&str) -> Option<Timestamp>;
    let fractions = instants_with_fractions();
    let whole = instants();
    let readers: [(&str, &[Timestamp], Vec<String>, Read); 4] = [
        (
            "read RFC 3339 with fractions",
            &fractions,
            date_times(&fractions),
            |text| Timestamp::parse_date_time(text).ok(),
        ),
        ("read HTTP-date", &whole, http_dates(&whole), |text| {
            Timestamp::parse_http_date(text).ok()
        }),
        ("read XML-RPC", &whole, xmlrpc_dates(&whole), |text| {
            Timestamp::parse_xmlrpc(text).ok()
        }),
        (
            "read epoch seconds",
            &fractions,
            epoch_seconds(&fractions),
            |text| Timestamp::parse_epoch_seconds(text).ok(),
        ),
    ];
    for (name, instants, texts, read) in readers {
        let expected = checksum(instants);
        let read = move |text: &str| {
            let read = read(text)?;
            Some((read.seconds(), read.nanoseconds()))
        };
        case(group, name, &texts).polywire(reads(&texts, read), move |sum| same(sum, &expected));
    }
    type Write = fn(Timestamp, &mut Vec<u8>);
    let writers: [(&str, Vec<String>, Write); 2] = [
        ("write RFC 3339", date_times(&whole), |instant, out| {
            let _ = instant.push_date_time(out);
        }),
        ("write HTTP-date", http_dates(&whole), |instant, out| {
            let _ = instant.push_http_date(out);
        }),
    ];
    for (name, texts, write) in writers {
        let expected = lines(&texts);
        case(group, name, &texts)
            .polywire_writes(writes(whole.clone(), write), move |out| {
                same_bytes(out, &expected)
            })
            .target_allocations(0);
    }
}

fn case<'a>(group: &'a mut Group, name: &str, texts: &[String]) -> &'a mut Case {
    group
        .case(format!("{COUNT} timestamps: {name}"))
        .bytes(texts.iter().map(String::len).sum())
}

/// Instants of the years 1970 to 2100 in random order, in whole seconds.
pub fn instants() -> Vec<Timestamp> {
    let mut random = random(7);
    let instant = |_| Timestamp::new((random() % 4_102_444_800) as i64, 0);
    (0..COUNT).map(instant).collect()
}

/// The same with two, six, nine and no digits of a second's fraction.
pub fn instants_with_fractions() -> Vec<Timestamp> {
    let fractions = [250_000_000, 123_456_000, 123_456_789, 0];
    let add = |(at, instant): (usize, Timestamp)| {
        Timestamp::new(instant.seconds(), fractions[at % fractions.len()])
    };
    instants().into_iter().enumerate().map(add).collect()
}

fn texts(instants: &[Timestamp], write: fn(Timestamp, Fraction) -> String) -> Vec<String> {
    let text = |instant: &Timestamp| write(*instant, Fraction::Needed);
    instants.iter().map(text).collect()
}

/// `2026-11-21T20:30:00Z`
pub fn date_times(instants: &[Timestamp]) -> Vec<String> {
    texts(instants, reference::write_date_time)
}

/// `Sat, 21 Nov 2026 20:30:00 GMT`
pub fn http_dates(instants: &[Timestamp]) -> Vec<String> {
    texts(instants, reference::write_http_date)
}

/// `20261121T20:30:00`
pub fn xmlrpc_dates(instants: &[Timestamp]) -> Vec<String> {
    texts(instants, reference::write_xmlrpc)
}

fn epoch_seconds(instants: &[Timestamp]) -> Vec<String> {
    texts(instants, reference::write_epoch_seconds)
}

fn mixed(seconds: i64, nanoseconds: u32) -> i64 {
    seconds ^ i64::from(nanoseconds)
}

/// What the readers of the texts of `instants` have to return.
pub fn checksum(instants: &[Timestamp]) -> i64 {
    instants
        .iter()
        .map(|instant| mixed(instant.seconds(), instant.nanoseconds()))
        .fold(0, i64::wrapping_add)
}

/// A subject that reads all texts, as seconds and nanoseconds, and returns a checksum.
pub fn reads(
    texts: &[String],
    read: impl Fn(&str) -> Option<(i64, u32)> + 'static,
) -> impl FnMut() -> i64 + 'static {
    let texts = texts.to_vec();
    move || {
        let mut sum = 0_i64;
        for text in &texts {
            let Some((seconds, nanoseconds)) = read(text) else {
                return -1;
            };
            sum = sum.wrapping_add(mixed(seconds, nanoseconds));
        }
        sum
    }
}

/// A subject that writes all instants, each with a line feed.
pub fn writes<T: Copy + 'static>(
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

/// What the writers have to write.
pub fn lines(texts: &[String]) -> Vec<u8> {
    let lines = texts.iter().map(|text| format!("{text}\n"));
    lines.collect::<String>().into_bytes()
}
