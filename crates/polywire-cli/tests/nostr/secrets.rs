//! Sources of secret keys, and outputs that must not contain them.

use std::fs;

use super::{Directory, keys, nostr, nostr_as_me, nostr_with};

#[test]
fn secrets_are_refused_among_arguments() {
    let secret = keys().secret_key();
    let (name, digits) = (secret.to_nsec(), secret.to_hex());
    let option = format!("--key={}", *digits);
    let uri = format!("nostr:{}", *name);
    for arguments in [
        &["sign", &name][..],
        &["sign", "--key", &digits],
        &["sign", &option],
        &["sign", &digits],
        &["decode", &name],
        &["decode", &uri],
        &["key", "show", &digits],
        &["check", &digits],
        &["verify", &digits],
        &["encrypt", "--peer", &name],
    ] {
        let output = nostr(arguments, "").expect(2);
        let all = output.out + &output.err;
        assert!(!all.contains(&**name) && !all.contains(&**digits), "{all}");
        assert!(all.contains("see"), "{all}");
    }
}

#[test]
fn secrets_stand_in_no_error() {
    let secret = keys().secret_key();
    let (name, digits) = (secret.to_nsec(), secret.to_hex());
    // A wrong or a missing character.
    let wrong = [
        format!("{}q", &name[..name.len() - 1]),
        name[..name.len() - 1].to_owned(),
        format!("{}g", &digits[..63]),
        digits[1..].to_owned(),
        digits.to_ascii_uppercase() + "x",
    ];
    let directory = Directory::new();
    for text in wrong {
        let file = directory.write("key", &text);
        let from_file = nostr(&["sign", "--key-file", &file], "").expect(2);
        let from_variable = nostr_with(&["sign"], "", &[("POLYWIRE_NOSTR_KEY", &text)]).expect(2);
        let from_input = nostr(&["decode"], &text).expect(1);
        let as_event = nostr_as_me(&["sign"], &text).expect(1);
        for output in [from_file, from_variable, from_input, as_event] {
            let all = output.out + &output.err;
            for part in [&name[10..20], &digits[10..20]] {
                assert!(!all.to_ascii_lowercase().contains(part), "{all}");
            }
        }
    }
    // Without a key and a terminal, the error lists the options.
    let output = nostr(&["sign"], "{\"kind\":1}").expect(2);
    assert!(output.err.contains("--key-file") && output.err.contains("POLYWIRE_NOSTR_KEY"));
}

#[test]
fn keys_are_made_and_shown() {
    let directory = Directory::new();
    let file = directory.path("new.nsec");
    let output = nostr(&["key", "generate"], "").expect(2);
    assert!(
        output.err.contains("--out") && output.out.is_empty(),
        "{}",
        output.err
    );
    let made = nostr(&["key", "generate", "--out", &file], "").expect(0);
    assert!(made.out.starts_with("npub    npub1") && !made.out.contains("nsec"));
    let secret = fs::read_to_string(&file).unwrap();
    assert!(secret.starts_with("nsec1") && secret.ends_with('\n'));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // Key files are never replaced.
    nostr(&["key", "generate", "--out", &file], "").expect(2);
    assert_eq!(fs::read_to_string(&file).unwrap(), secret);

    let output = nostr(&["key", "public", "--key-file", &file], "").expect(0);
    assert!(made.out.contains(output.out.trim_end()));
    assert_eq!(output.err, "");
    let output = nostr(&["key", "show", "--key-file", &file], "").expect(0);
    assert_eq!(output.out, made.out);
    let output = nostr(&["key", "show", "--show-secret", "--key-file", &file], "").expect(0);
    assert!(output.out.contains(secret.trim_end()));
    let output = nostr(&["key", "generate", "--show-secret"], "").expect(0);
    assert!(output.out.contains("nsec    nsec1"));

    let output = nostr(&["decode"], &secret).expect(0);
    assert!(output.out.contains("type        nsec\n") && !output.out.contains("secret"));
    let output = nostr(&["decode", "--show-secret"], &secret).expect(0);
    assert!(output.out.contains("\nsecret      "));
}

#[cfg(unix)]
#[test]
fn key_files_that_others_may_read() {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = Directory::new();
    let file = directory.write("key", &**keys().secret_key().to_hex());
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let output = nostr(&["key", "public", "--key-file", &file], "").expect(0);
    assert!(output.err.contains("chmod 600"), "{}", output.err);
}
