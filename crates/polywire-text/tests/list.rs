//! Arrays and lists, compared with the reference implementation.
#![allow(clippy::unwrap_used, reason = "tests")]

use polywire_text::cpu::{self, Level};
use polywire_text::escape::LoneSurrogate;
use polywire_text::hex::{self, Case};
use polywire_text::list::{self, Strings};
use polywire_text::reference::{list as slow, quote as slow_quote};
use polywire_text::{Malformed, quote};
use proptest::prelude::*;

const LONE: LoneSurrogate = LoneSurrogate::Reject;

fn at_each_level(check: impl Fn()) {
    for level in [Level::Baseline, Level::Avx2] {
        cpu::limit(level);
        check();
    }
}

type Read<'a, T> = Result<(Vec<T>, &'a [u8]), Malformed>;

/// All readers of strings match the reference.
fn strings_alike(bytes: &[u8]) {
    let what = String::from_utf8_lossy(bytes);
    let expected = slow::items(bytes, |bytes, at| slow_quote::unquote(bytes, at, LONE));
    let expected: Read<'_, String> = expected.map(|(items, end)| (items, &bytes[end..]));

    let mut flat: Strings = ["old", "strings"].into_iter().collect();
    let found = flat.read(bytes, LONE);
    let items: Vec<String> = flat.iter().map(str::to_owned).collect();
    assert_eq!(found.map(|rest| (items.clone(), rest)), expected, "{what}");
    assert!(expected.is_ok() || flat.is_empty());
    assert_eq!(flat.len(), items.len());
    for (at, item) in items.iter().enumerate() {
        assert_eq!(&flat[at], item);
    }
    assert_eq!(flat.get(items.len()), None);

    let mut out = vec![String::from("old"), String::from("strings")];
    let found = list::read_strings(&mut out, bytes, LONE);
    assert_eq!(found.map(|rest| (out, rest)), expected, "{what}");

    let mut items = list::items(bytes, LONE);
    let found: Result<Vec<String>, Malformed> = items
        .by_ref()
        .map(|item| item.map(|item| item.into_owned()))
        .collect();
    assert_eq!(items.rest(), expected.as_ref().ok().map(|(_, rest)| *rest));
    assert_eq!(found, expected.map(|(items, _)| items), "{what}");
    assert!(items.next().is_none());
}

fn hex_alike<const N: usize>(bytes: &[u8]) {
    let what = String::from_utf8_lossy(bytes);
    for case in [Case::Any, Case::Lower] {
        let expected = slow::items(bytes, |bytes, at| slow_quote::hex(bytes, at, Some(N), case));
        let expected: Read<'_, Vec<u8>> = expected.map(|(items, end)| (items, &bytes[end..]));
        let mut out = vec![7];
        let found = list::read_hex(&mut out, bytes, N, case);
        assert_eq!(out[0], 7);
        assert!(found.is_ok() || out.len() == 1);
        let flat = expected.clone().map(|(items, rest)| (items.concat(), rest));
        assert_eq!(found.map(|rest| (out[1..].to_vec(), rest)), flat, "{what}");
        let mut out = vec![[7; N]];
        let found = list::read_hex_arrays(&mut out, bytes, case);
        assert!(found.is_ok() || out.len() == 1);
        let items = out[1..].iter().map(|item| item.to_vec()).collect();
        assert_eq!(found.map(|rest| (items, rest)), expected, "{what}");
    }
}

fn all_alike(bytes: &[u8]) {
    at_each_level(|| {
        strings_alike(bytes);
        hex_alike::<0>(bytes);
        hex_alike::<2>(bytes);
        hex_alike::<32>(bytes);
    });
}

#[test]
fn what_is_an_array_and_what_is_not() {
    for text in [
        "[]",
        "[ ]",
        " \n[\t]\r",
        "[",
        "",
        " ",
        "]",
        r#"["a"]"#,
        r#"["a","b"]"#,
        r#" [ "a" , "b" ] x"#,
        // Commas after the last item, before the first, and two in a row.
        r#"["a",]"#,
        r#"[,"a"]"#,
        r#"["a",,"b"]"#,
        "[,]",
        r#"["a" "b"]"#,
        r#"["a";"b"]"#,
        r#"["a"}"#,
        // Inputs that panicked, or were accepted, in another program.
        r#"["aa""#,
        r#"["aa"#,
        r#"["aa\"#,
        r#"["aa","#,
        r#"["aa", "#,
        r#"["aa"  "#,
        r#"["#,
        r#"[""#,
        // Some programs skip these.
        "[1]",
        r#"["a",1]"#,
        r#"[1,"a"]"#,
        r#"["a",null]"#,
        r#"["a",true]"#,
        r#"["a",["b"]]"#,
        "[[]]",
        "[a]",
        "['a']",
        r#"{"a":1}"#,
        r#""a""#,
        "null",
        // Brackets and quotes in strings.
        r#"["]"]"#,
        r#"["a]","]b"]"#,
        r#"["\"]"]"#,
        r#"["a\\"]"#,
        r#"["a\\\"]"]"#,
        r#"["\\","]"] ["x"]"#,
        r#"["\ud800"]"#,
        r#"["\u12"]"#,
        "[\"a\nb\"]",
        "[\"\u{e9}\"]",
        "[\"a\"\u{e9}",
        // Hexadecimal.
        r#"["c0ff"]"#,
        r#"["c0ff","0000"]"#,
        r#"[ "c0ff" , "0000" ] x"#,
        r#"["C0ff"]"#,
        r#"["c0f"]"#,
        r#"["c0ffe"]"#,
        r#"["c0ffee"]"#,
        r#"["c0ff","00"]"#,
        r#"["c0ff","000000"]"#,
        r#"["c0ff","0000"#,
        r#"["c0ff","zzzz"]"#,
        r#"["c0ff",0000]"#,
        r#"["c0ff"0000]"#,
        r#"["c0]]"]"#,
        r#"["",""]"#,
        r#"["\u0063"]"#,
    ] {
        all_alike(text.as_bytes());
        // After many items, so that the input is long.
        let long = text.replacen('[', &format!("[{}", r#""c0ff","#.repeat(60)), 1);
        all_alike(long.as_bytes());
        all_alike([text.as_bytes(), &[b'"'; 300]].concat().as_slice());
    }
    for bytes in [
        &b"[\"\xff\"]"[..],
        b"[\"a\",\"\xc3\"]",
        b"[\"\xff\",1]",
        b"[\"\xff\x01\"]",
        b"[\"a\"\xff]",
    ] {
        all_alike(bytes);
    }
}

/// Independent of the reference.
#[test]
fn what_is_no_array_of_strings_is_refused() {
    for (text, offset) in [
        ("", 0),
        ("[", 1),
        (r#"["aa""#, 5),
        (r#"["aa"#, 4),
        (r#"["aa\"#, 5),
        ("[1]", 1),
        (r#"["a",1]"#, 5),
        (r#"["a",null]"#, 5),
        (r#"["a",["b"]]"#, 5),
        (r#"["a",]"#, 5),
        (r#"["a" "b"]"#, 5),
    ] {
        let bytes = text.as_bytes();
        assert_eq!(
            Strings::new().read(bytes, LONE).unwrap_err().offset,
            offset,
            "{text}"
        );
        assert!(
            list::read_hex(&mut Vec::new(), bytes, 1, Case::Any).is_err(),
            "{text}"
        );
    }
}

#[test]
fn keys_of_32_bytes() {
    let keys: Vec<[u8; 32]> = (0..50_u8).map(|at| [at.wrapping_mul(37); 32]).collect();
    let mut array = Vec::new();
    list::push_hex(&mut array, &keys);
    all_alike(&array);
    let mut found = Vec::new();
    assert_eq!(
        list::read_hex_arrays(&mut found, &array, Case::Lower),
        Ok(&b""[..])
    );
    assert_eq!(found, keys);
    for at in (0..array.len()).step_by(7) {
        for byte in *b"z\"],A " {
            let mut array = array.clone();
            array[at] = byte;
            hex_alike::<32>(&array);
        }
        hex_alike::<32>(&array[..at]);
    }
}

#[test]
fn memory_follows_the_input() {
    // Long arrays, brackets in strings, only quotes.
    let hostile = [
        [&b"["[..], &[b'"'; 10_000]].concat(),
        [&b"[\""[..], &[b']'; 10_000]].concat(),
        [&b"["[..], &b"\"\",".repeat(3_000)].concat(),
        b"\"]".repeat(5_000),
        [&b"["[..], &b"\"]\",".repeat(3_000)].concat(),
    ];
    for bytes in hostile {
        let mut flat = Strings::new();
        let _ = flat.read(&bytes, LONE);
        let mut out = Vec::new();
        let _ = list::read_hex(&mut out, &bytes, 0, Case::Any);
        assert!(out.capacity() <= bytes.len());
        let _ = list::read_hex(&mut out, &bytes, usize::MAX, Case::Any);
        assert!(out.capacity() <= bytes.len());
        let mut out = Vec::<[u8; 32]>::new();
        let _ = list::read_hex_arrays(&mut out, &bytes, Case::Any);
        assert!(out.capacity() * 32 <= bytes.len());
        all_alike(&bytes[..500]);
    }
}

/// An earlier writer appended its buffer to itself for each item.
#[test]
fn separated_items_are_written_once() {
    let mut out = b"before ".to_vec();
    list::push_separated(&mut out, ["a", "b", "c"], b',', quote::push);
    assert_eq!(out, br#"before "a","b","c""#);
    let mut out = b"before".to_vec();
    list::push_separated(&mut out, [""; 0], b',', quote::push);
    list::push_strings(&mut out, [""; 0]);
    list::push_hex(&mut out, [[0_u8; 2]; 0]);
    assert_eq!(out, b"before[][]");
}

fn separated(bytes: &[u8], separator: u8) -> Read<'_, String> {
    let mut items = Vec::new();
    let rest = list::read_separated(bytes, separator, |bytes| {
        let (item, rest) = quote::unquote(bytes, LONE)?;
        items.push(item.into_owned());
        Ok(rest)
    })?;
    Ok((items, rest))
}

#[test]
fn separated_items_are_read() {
    let items = |items: &[&str]| {
        items
            .iter()
            .map(|item| (*item).to_owned())
            .collect::<Vec<_>>()
    };
    let good: &[(&str, u8, &[&str], &str)] = &[
        ("", b',', &[], ""),
        (" \n", b',', &[], ""),
        (r#""a""#, b',', &["a"], ""),
        (r#""a","b" "#, b',', &["a", "b"], " "),
        (r#" "a" ; "b";"c",1"#, b';', &["a", "b", "c"], ",1"),
        (r#""a" "b"]"#, b' ', &["a", "b"], "]"),
    ];
    for (text, separator, expected, rest) in good {
        let found = separated(text.as_bytes(), *separator);
        assert_eq!(found, Ok((items(expected), rest.as_bytes())));
    }
    for (text, offset) in [
        ("1", 0),
        (r#""a","#, 4),
        (r#""a", 1"#, 5),
        (r#""a","b"#, 6),
        ("\"a", 2),
    ] {
        assert_eq!(
            separated(text.as_bytes(), b',').unwrap_err().offset,
            offset,
            "{text}"
        );
    }
}

#[test]
fn buffers_are_used_again() {
    let array = format!("[{}\"end\"]", r#""a string of some length","#.repeat(50));
    let mut flat = Strings::new();
    flat.read(array.as_bytes(), LONE).unwrap();
    let mut out = Vec::new();
    list::read_strings(&mut out, array.as_bytes(), LONE).unwrap();
    let addresses: Vec<*const u8> = out.iter().map(|item| item.as_ptr()).collect();
    let first = flat[0].as_ptr();
    flat.read(array.as_bytes(), LONE).unwrap();
    list::read_strings(&mut out, array.as_bytes(), LONE).unwrap();
    assert_eq!(flat[0].as_ptr(), first);
    assert!(out.iter().map(|item| item.as_ptr()).eq(addresses));
    flat.clear();
    assert!(flat.is_empty() && flat.iter().next().is_none());
}

fn almost_array() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        8 => Just("\"c0ff\"".to_owned()),
        8 => Just("\"00\"".to_owned()),
        8 => "\"[a-z\\]\\[é ]{0,40}\"",
        4 => "\"(\\\\[nu\"\\\\]|[0-9a-f]){0,9}\"",
        20 => Just(",".to_owned()),
        2 => "[\\[\\]\" \n1t]",
    ];
    let tokens = proptest::collection::vec(token, 0..60);
    (tokens, any::<bool>()).prop_map(|(tokens, end)| {
        let end = if end { "]" } else { "" };
        format!("[{}{end}", tokens.concat()).into_bytes()
    })
}

proptest! {
    #[test]
    fn what_is_almost_an_array(bytes in almost_array()) {
        all_alike(&bytes);
    }

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        all_alike(&bytes);
        all_alike(&[b"[\"", &bytes[..]].concat());
    }

    #[test]
    fn strings_survive(items in proptest::collection::vec("[\\x00-\\x7f]{0,5}\\PC{0,40}", 0..30)) {
        let mut out = Vec::new();
        list::push_strings(&mut out, &items);
        let quoted: Vec<Vec<u8>> = items.iter().map(|item| slow_quote::quote(item.as_bytes())).collect();
        prop_assert_eq!(&out, &slow::array(&quoted));
        let mut flat = Strings::new();
        prop_assert_eq!(flat.read(&out, LONE), Ok(&b""[..]));
        prop_assert!(flat.iter().eq(&items));
        strings_alike(&out);
    }

    #[test]
    fn hexadecimal_survives(items in proptest::collection::vec(any::<[u8; 7]>(), 0..60)) {
        let mut out = Vec::new();
        list::push_hex(&mut out, &items);
        let mut found = Vec::new();
        prop_assert_eq!(list::read_hex_arrays(&mut found, &out, Case::Lower), Ok(&b""[..]));
        prop_assert_eq!(&found, &items);
        let mut digits = Vec::new();
        hex::push(&mut digits, found.as_flattened());
        hex_alike::<7>(&out);
    }
}
