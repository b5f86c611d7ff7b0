//! As quoted strings, arrays and lists.

use polywire_text::cpu::{self, Level};
use polywire_text::escape::LoneSurrogate;
use polywire_text::hex::Case;
use polywire_text::list::{self, Strings};
use polywire_text::quote;
use polywire_text::reference::{list as slow, quote as slow_quote};

pub(crate) fn any(data: &[u8]) {
    for level in [Level::Baseline, Level::Avx2] {
        cpu::limit(level);
        pieces(data);
        strings(data, LoneSurrogate::Reject);
        strings(data, LoneSurrogate::Replace);
        hexadecimal(data);
        written(data);
    }
}

/// A string, a key, a boolean, hexadecimal.
fn pieces(data: &[u8]) {
    let lone = LoneSurrogate::Reject;
    let twin = slow_quote::unquote(data, 0, lone).map(|(text, end)| (text, &data[end..]));
    let found = quote::unquote(data, lone).map(|(text, rest)| (text.into_owned(), rest));
    assert_eq!(found, twin);
    let mut text = String::new();
    let found = quote::read(&mut text, data, lone).map(|rest| (text, rest));
    assert_eq!(found, twin);
    let twin = slow_quote::key(data, 0, lone).map(|(text, end)| (text, &data[end..]));
    let found = quote::read_key(data, lone).map(|(text, rest)| (text.into_owned(), rest));
    assert_eq!(found, twin);
    let twin = slow_quote::boolean(data, 0).map(|(value, end)| (value, &data[end..]));
    assert_eq!(quote::read_bool(data), twin);
    let twin = slow_quote::hex(data, 0, None, Case::Any).map(|(bytes, end)| (bytes, &data[end..]));
    let mut bytes = Vec::new();
    let found = quote::read_hex(&mut bytes, data, Case::Any).map(|rest| (bytes, rest));
    assert_eq!(found, twin);
}

fn strings(data: &[u8], lone: LoneSurrogate) {
    let twin = slow::items(data, |bytes, at| slow_quote::unquote(bytes, at, lone));
    let twin = twin.map(|(items, end)| (items, &data[end..]));
    let mut flat = Strings::new();
    let found = flat.read(data, lone);
    let found = found.map(|rest| (flat.iter().map(str::to_owned).collect(), rest));
    assert_eq!(found, twin);
    let mut texts = vec!["old".to_owned()];
    let found = list::read_strings(&mut texts, data, lone).map(|rest| (texts, rest));
    assert_eq!(found, twin);
    let items = list::items(data, lone).map(|item| item.map(|item| item.into_owned()));
    let items: Result<Vec<String>, _> = items.collect();
    assert_eq!(items, twin.map(|(items, _)| items));
}

fn hexadecimal(data: &[u8]) {
    let twin = slow::items(data, |bytes, at| {
        slow_quote::hex(bytes, at, Some(4), Case::Lower)
    });
    let twin = twin.map(|(items, end)| (items.concat(), &data[end..]));
    let mut flat = Vec::new();
    let found = list::read_hex(&mut flat, data, 4, Case::Lower).map(|rest| (flat, rest));
    assert_eq!(found, twin);
    let mut items = Vec::<[u8; 4]>::new();
    let found = list::read_hex_arrays(&mut items, data, Case::Lower);
    assert_eq!(found.map(|rest| (items.concat(), rest)), twin);
}

/// The lines of the input as an array, and as a list.
fn written(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let lines: Vec<&str> = text.split('\n').collect();
    let mut array = Vec::new();
    list::push_strings(&mut array, &lines);
    let quoted: Vec<Vec<u8>> = lines
        .iter()
        .map(|line| slow_quote::quote(line.as_bytes()))
        .collect();
    assert_eq!(array, slow::array(&quoted));
    let mut flat = Strings::new();
    assert_eq!(flat.read(&array, LoneSurrogate::Reject), Ok(&b""[..]));
    assert!(flat.iter().eq(lines.iter().copied()));

    let mut list = Vec::new();
    list::push_separated(&mut list, &lines, b';', |out, line| quote::push(out, line));
    let mut found = Vec::new();
    let rest = list::read_separated(&list, b';', |bytes| {
        let (line, rest) = quote::unquote(bytes, LoneSurrogate::Reject)?;
        found.push(line);
        Ok(rest)
    });
    assert_eq!(rest, Ok(&b""[..]));
    assert_eq!(found, lines);
}
