//! Published cases that strict readers of Nostr reject: the fields that are strings, hexadecimal or
//! arrays. The data is not part of this repository.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use polywire_text::escape::LoneSurrogate;
use polywire_text::hex::Case;
use polywire_text::list::Strings;
use polywire_text::{Malformed, quote};
use test_data::{Missing, data};

test_data::tests! {
    strict_cases,
}

const LONE: LoneSurrogate = LoneSurrogate::Reject;

fn strict_cases() -> Result<(), Missing> {
    let cases = std::fs::read(data("bench/nostr/strict_cases.jsonl")?).unwrap();
    let mut count = 0;
    for line in cases
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let (name, event) = strict_case(line).unwrap();
        let content = field(&event, b"\"content\":").map(|field| quote::unquote(field, LONE));
        let refused = [
            "raw_ctrl_0x01_in_json",
            "raw_newline_in_json",
            "lone_high_surrogate_escape",
            "lone_low_surrogate_escape",
            "invalid_utf8_raw_ff",
            "overlong_utf8_c0af",
            "utf8_encoded_surrogate_eda080",
            "unknown_escape_\\x",
            "octal_escape_\\0",
            "truncated_in_content",
            "unterminated_backslash",
        ];
        if let Some(content) = content {
            assert_eq!(content.is_err(), refused.contains(&name.as_str()), "{name}");
        }
        let key = |name: &[u8]| {
            field(&event, name).map(|field| quote::read_hex_array::<32>(field, Case::Lower))
        };
        if let Some(id) = key(b"\"id\":") {
            assert_eq!(
                id.is_err(),
                ["uppercase_hex_id", "non_hex_id"].contains(&name.as_str()),
                "{name}"
            );
        }
        if let Some(pubkey) = key(b"\"pubkey\":") {
            let refused = ["uppercase_hex_pubkey", "pubkey_npub_bech32"];
            assert_eq!(pubkey.is_err(), refused.contains(&name.as_str()), "{name}");
        }
        if let Some(sig) = field(&event, b"\"sig\":") {
            let sig = quote::read_hex_array::<64>(sig, Case::Lower);
            let refused = ["uppercase_hex_sig", "sig_126_chars"];
            assert_eq!(sig.is_err(), refused.contains(&name.as_str()), "{name}");
        }
        if let Some(tags) = field(&event, b"\"tags\":[[") {
            // The first tag: the search has skipped one bracket too many.
            let tag = [b"[", tags].concat();
            let refused = ["tag_with_number", "tag_with_null"];
            let mut strings = Strings::new();
            let tag = strings.read(&tag, LONE);
            assert_eq!(tag.is_err(), refused.contains(&name.as_str()), "{name}");
        }
        count += 1;
    }
    assert_eq!(count, 45);
    Ok(())
}

/// The name and the event of a line.
fn strict_case(line: &[u8]) -> Result<(String, Vec<u8>), Malformed> {
    let (_, rest) = quote::read_key(&line[1..], LONE)?;
    let (name, rest) = quote::unquote(rest, LONE)?;
    let (_, rest) = quote::read_key(&rest[1..], LONE)?;
    let mut event = Vec::new();
    quote::read_hex(&mut event, rest, Case::Lower)?;
    Ok((name.into_owned(), event))
}

/// The input after the first occurrence of `key`.
fn field<'a>(event: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let at = event.windows(key.len()).position(|window| window == key)?;
    Some(&event[at + key.len()..])
}
