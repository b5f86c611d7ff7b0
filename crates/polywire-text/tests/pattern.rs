//! Regular expressions of ECMA 262.

use polywire_text::pattern::EcmaPattern;

#[test]
fn classes_of_posix() {
    for (pattern, translated) in [
        (r"^\p{Blank}+$", Some(r"^[\p{Zs}\t]+$")),
        (r"[^a][\p{Alnum}_]", Some(r"[^a][[\p{Alphabetic}\p{Nd}]\_]")),
        // Turned round, what is wider would refuse more.
        (r"^\P{Print}$", None),
        (r"[^\p{Alnum}]", None),
    ] {
        let read = EcmaPattern::read(pattern).ok();
        let found = read.as_ref().map(EcmaPattern::translated);
        assert_eq!(found, Some(translated), "{pattern}");
    }
}

#[test]
fn what_no_dialect_allows() {
    for (pattern, offset) in [
        ("^(a$", 1),
        ("^a)$", 2),
        ("^[a-z$", 1),
        ("^[z-a]$", 2),
        (r"^[\x7a-a]$", 2),
        ("*a", 0),
        ("(+a)", 1),
        ("a|?", 2),
        ("a{3,2}", 1),
        ("a\\", 1),
    ] {
        let flaw = EcmaPattern::read(pattern).err();
        assert_eq!(flaw.map(|flaw| flaw.offset), Some(offset), "{pattern}");
    }
}
