//! 45 published test cases for strict event parsers: the result of each profile, with the reason.
//! The cases are not part of this repository.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use polywire_nostr::{EventRef, Limits, Profile};
use test_data::{Missing, data};

test_data::tests! {
    strict_cases,
}

/// The name of a case, and its results with the strict and the compatible profile.
const OUTCOMES: [(&str, &str, &str); 45] = [
    ("plain", "valid", "valid"),
    ("seven_short_escapes", "valid", "valid"),
    ("input_u0041_canonical_A", "valid", "valid"),
    ("input_u000a_canonical_backslash_n", "valid", "valid"),
    ("input_escaped_slash_canonical_slash", "valid", "valid"),
    (
        "backslash_backslash_u (literal \\u0041 text)",
        "valid",
        "valid",
    ),
    ("ctrl_0x01_canonical_u0001_lower", "valid", "valid"),
    (
        "ctrl_0x1f_input_upper_U001F_canonical_lower",
        "valid",
        "valid",
    ),
    (
        "ctrl_0x01_canonical_raw (NIP-01 literal reading)",
        "id id-mismatch",
        "id id-mismatch",
    ),
    (
        "raw_ctrl_0x01_in_json",
        "content control-character",
        "valid",
    ),
    ("raw_newline_in_json", "content control-character", "valid"),
    ("raw_DEL_0x7f", "valid", "valid"),
    ("DEL_canonical_u007f", "id id-mismatch", "id id-mismatch"),
    ("U+2028_raw", "valid", "valid"),
    ("html_chars <>& raw", "valid", "valid"),
    ("surrogate_pair_escape_canonical_emoji", "valid", "valid"),
    (
        "lone_high_surrogate_escape",
        "content lone-surrogate",
        "valid",
    ),
    (
        "lone_low_surrogate_escape",
        "content lone-surrogate",
        "valid",
    ),
    ("invalid_utf8_raw_ff", "not-utf8", "not-utf8"),
    ("overlong_utf8_c0af", "not-utf8", "not-utf8"),
    ("utf8_encoded_surrogate_eda080", "not-utf8", "not-utf8"),
    (
        "unknown_escape_\\x",
        "content unknown-escape",
        "content unknown-escape",
    ),
    (
        "octal_escape_\\0",
        "content unknown-escape",
        "content unknown-escape",
    ),
    ("uppercase_hex_pubkey", "pubkey upper-case-hex", "valid"),
    ("uppercase_hex_id", "id upper-case-hex", "valid"),
    ("uppercase_hex_sig", "sig upper-case-hex", "valid"),
    (
        "pubkey_npub_bech32",
        "pubkey hex-length",
        "pubkey hex-length",
    ),
    ("sig_126_chars", "sig hex-length", "sig hex-length"),
    ("non_hex_id", "id not-hex", "id not-hex"),
    (
        "created_at_float_1700000000.0",
        "created_at not-integer",
        "valid",
    ),
    (
        "created_at_exponent_17e8",
        "created_at not-integer",
        "valid",
    ),
    (
        "created_at_string",
        "created_at wrong-type",
        "created_at wrong-type",
    ),
    (
        "created_at_negative",
        "created_at negative",
        "created_at negative",
    ),
    ("kind_65536", "kind too-large", "kind too-large"),
    (
        "kind_leading_zero_01",
        "kind leading-zero",
        "kind leading-zero",
    ),
    ("empty_tag []", "tags empty-tag", "valid"),
    (
        "tag_with_number",
        "tags tag-not-string",
        "tags tag-not-string",
    ),
    (
        "tag_with_null",
        "tags tag-not-string",
        "tags tag-not-string",
    ),
    (
        "duplicate_key_content",
        "content duplicate-key",
        "id id-mismatch",
    ),
    ("unknown_top_level_key", "valid", "valid"),
    ("missing_sig", "sig missing", "sig missing"),
    ("trailing_garbage", "trailing-bytes", "trailing-bytes"),
    ("truncated_in_content", "tags truncated", "tags truncated"),
    (
        "unterminated_backslash",
        "content truncated",
        "content truncated",
    ),
    ("whitespace_between", "valid", "valid"),
];

fn strict_cases() -> Result<(), Missing> {
    let cases = std::fs::read_to_string(data("bench/nostr/strict_cases.jsonl")?).unwrap();
    let outcomes: Vec<_> = cases.lines().map(case).collect();
    let expected = OUTCOMES.map(|(name, strict, compatible)| {
        (name.to_owned(), strict.to_owned(), compatible.to_owned())
    });
    assert_eq!(outcomes, expected);
    Ok(())
}

fn case(line: &str) -> (String, String, String) {
    let case: serde_json::Value = serde_json::from_str(line).unwrap();
    let digits = case["raw_hex"].as_str().unwrap().as_bytes();
    let event = polywire_text::hex::decode(digits, polywire_text::hex::Case::Lower).unwrap();
    (
        case["name"].as_str().unwrap().to_owned(),
        outcome(event.as_bytes(), Profile::STRICT),
        outcome(event.as_bytes(), Profile::COMPATIBLE),
    )
}

/// Returns `valid`, or the member and the code of the reason.
fn outcome(event: &[u8], profile: Profile) -> String {
    match EventRef::parse_with(event, profile, &Limits::default())
        .and_then(|event| event.check_id())
    {
        Ok(()) => "valid".to_owned(),
        Err(error) => match error.member {
            Some(member) => format!("{} {}", member.name(), error.reason.code()),
            None => error.reason.code().to_owned(),
        },
    }
}
