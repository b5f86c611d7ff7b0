//! NIP-19 entities and NIP-21 URIs.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use polywire_nostr::nip19::{
    AddressPointer, EventPointer, MAX_CHARACTERS, Nip19, Nip19Error, Nip19Reason, ProfilePointer,
    decode,
};
use polywire_nostr::nip21::{self, Nip21Error};
use polywire_nostr::reference::bech32 as slow;
use polywire_nostr::{EventId, PublicKey, SecretKey};
use proptest::prelude::*;

fn key(hex: &str) -> PublicKey {
    PublicKey::from_hex(hex).unwrap()
}

fn error(reason: Nip19Reason, offset: usize) -> Result<Nip19, Nip19Error> {
    Err(Nip19Error { reason, offset })
}

const FIATJAF: &str = "3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d";
const NSEC: &str = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5";

/// Types that only other prefixes define are unknown types: skipped with any value and any number
/// of times.
#[test]
fn types_of_other_prefixes_are_skipped() {
    let key = [7; 32];
    let special = [&[0, 32][..], &key].concat();
    let others = [3, 4, 0, 0, 0, 9, 3, 0, 2, 1, 1, 2, 0];
    let profile = Nip19::Profile(ProfilePointer {
        public_key: PublicKey::from_bytes(key),
        relays: Vec::new(),
    });
    let contents = [&others[..], &special, &others].concat();
    assert_eq!(decode(&slow::encode("nprofile", &contents)), Ok(profile));
    let contents = [&others[..], &[0, 1, b'a'], &[1, 1, 0xff], &others].concat();
    let relay = Nip19::Relay("a".into());
    assert_eq!(decode(&slow::encode("nrelay", &contents)), Ok(relay));
    // `nevent` defines these types.
    let contents = [&special[..], &others].concat();
    let result = decode(&slow::encode("nevent", &contents));
    assert_eq!(result.unwrap_err().reason, Nip19Reason::Repeated(3));
}

#[test]
fn examples_of_nip_19() {
    let npub = "npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6";
    assert_eq!(decode(npub), Ok(Nip19::PublicKey(key(FIATJAF))));
    assert_eq!(key(FIATJAF).to_npub(), npub);
    let npub = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg";
    let hex = "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e";
    assert_eq!(PublicKey::from_npub(npub), Ok(key(hex)));
    let secret = "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa";
    let secret = SecretKey::from_hex(secret).unwrap();
    assert_eq!(SecretKey::from_nsec(NSEC).as_ref(), Ok(&secret));
    assert_eq!(secret.to_nsec().as_str(), NSEC);
    assert_eq!(decode(NSEC), Ok(Nip19::SecretKey(secret)));
    let nprofile = "nprofile1qqsrhuxx8l9ex335q7he0f09aej04zpazpl0ne2cgukyawd24mayt8gpp4mhxue69uhhytnc9e3k7mgpz4mhxue69uhkg6nzv9ejuumpv34kytnrdaksjlyr9p";
    let profile = Nip19::Profile(ProfilePointer {
        public_key: key(FIATJAF),
        relays: vec!["wss://r.x.com".into(), "wss://djbas.sadkb.com".into()],
    });
    assert_eq!(decode(nprofile).as_ref(), Ok(&profile));
    assert_eq!(profile.encode().unwrap(), nprofile);
}

/// Output of other programs.
#[test]
fn names_of_other_programs() {
    let habla = "naddr1qq98yetxv4ex2mnrv4esygrl54h466tz4v0re4pyuavvxqptsejl0vxcmnhfl60z3rth2xkpjspsgqqqw4rsf34vl5";
    let address = Nip19::Address(AddressPointer {
        identifier: "references".into(),
        author: key("7fa56f5d6962ab1e3cd424e758c3002b8665f7b0d8dcee9fe9e288d7751ac194"),
        kind: 30_023,
        relays: Vec::new(),
    });
    assert_eq!(decode(habla).as_ref(), Ok(&address));
    assert_eq!(address.encode().unwrap(), habla);
    // With values in another order.
    let go_nostr = "naddr1qqrxyctwv9hxzq3q80cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsxpqqqp65wqfwwaehxw309aex2mrp0yhxummnw3ezuetcv9khqmr99ekhjer0d4skjm3wv4uxzmtsd3jjucm0d5q3vamnwvaz7tmwdaehgu3wvfskuctwvyhxxmmd0zfmwx";
    let address = Nip19::Address(AddressPointer {
        identifier: "banana".into(),
        author: key(FIATJAF),
        kind: 30_023,
        relays: vec![
            "wss://relay.nostr.example.mydomain.example.com".into(),
            "wss://nostr.banana.com".into(),
        ],
    });
    assert_eq!(decode(go_nostr).as_ref(), Ok(&address));
    assert_ne!(address.encode().unwrap(), go_nostr);
    assert_eq!(decode(&address.encode().unwrap()), Ok(address));
    let note = "note1gmtnz6q2m55epmlpe3semjdcq987av3jvx4emmjsa8g3s9x7tg4sclreky";
    assert_eq!(EventId::from_note(note).unwrap().to_note(), note);
    let nevent = "nevent1qqsdhet4232flykq3048jzc9msmaa3hnxuesxy3lnc33vd0wt9xwk6szyqewrqnkx4zsaweutf739s0cu7et29zrntqs5elw70vlm8zudr3y24sqsgy";
    let Ok(Nip19::Event(event)) = decode(nevent) else {
        panic!("{nevent}");
    };
    assert!(event.author.is_some() && event.kind.is_none() && event.relays.is_empty());
    assert_eq!(Nip19::Event(event).encode().unwrap(), nevent);
}

#[test]
fn invalid_characters() {
    let npub = key(FIATJAF).to_npub();
    // All in upper case, as in a QR code.
    assert_eq!(
        decode(&npub.to_uppercase()),
        Ok(Nip19::PublicKey(key(FIATJAF)))
    );
    let change = |at: usize, to: &str| {
        let mut changed = npub.clone();
        changed.replace_range(at..=at, to);
        decode(&changed)
    };
    assert_eq!(change(10, "Q"), error(Nip19Reason::MixedCase, 10));
    assert_eq!(change(0, "N"), error(Nip19Reason::MixedCase, 1));
    for wrong in ["b", "i", "o", " ", "-", "é", "\n", "\0"] {
        assert_eq!(
            change(10, wrong),
            error(Nip19Reason::Character, 10),
            "{wrong:?}"
        );
    }
    assert_eq!(change(2, " "), error(Nip19Reason::Character, 2));
    // The checksum detects every change of one character.
    for at in 0..npub.len() {
        for to in "qpzry9x8gf2tvdw0s3jn54khce6mua7l".chars() {
            if !npub[at..].starts_with(to) {
                assert!(change(at, &to.to_string()).is_err(), "{at} {to}");
            }
        }
    }
    assert_eq!(
        change(10, "q"),
        error(Nip19Reason::Checksum, npub.len() - 6)
    );
    for end in 0..npub.len() {
        assert!(decode(&npub[..end]).is_err(), "{end}");
    }
    assert_eq!(decode(""), error(Nip19Reason::NoSeparator, 0));
    assert_eq!(decode("npub"), error(Nip19Reason::NoSeparator, 0));
    assert_eq!(decode("1qqqqqq"), error(Nip19Reason::NoSeparator, 0));
    assert_eq!(decode("npub1"), error(Nip19Reason::Checksum, 5));
    assert_eq!(decode("npub1qqq"), error(Nip19Reason::Checksum, 5));
}

#[test]
fn prefixes_and_lengths() {
    let bytes = [1; 32];
    for other in ["npuc", "nrela", "ncryptsec", "n", "lnurl", "npubnpubnpub"] {
        assert_eq!(
            decode(&slow::encode(other, &bytes)),
            error(Nip19Reason::Prefix, 0),
            "{other}"
        );
    }
    for prefix in ["npub", "nsec", "note"] {
        for len in [0, 1, 31, 33, 64] {
            let name = slow::encode(prefix, &vec![1; len]);
            assert_eq!(decode(&name), error(Nip19Reason::Length, 5), "{name}");
        }
    }
    let zero = slow::encode("nsec", &[0; 32]);
    assert_eq!(decode(&zero), error(Nip19Reason::SecretKey, 5));
    let wrong = Nip19Error {
        reason: Nip19Reason::Prefix,
        offset: 0,
    };
    assert_eq!(PublicKey::from_npub(NSEC), Err(wrong));
    assert_eq!(EventId::from_note(NSEC), Err(wrong));
    assert_eq!(SecretKey::from_nsec(&key(FIATJAF).to_npub()), Err(wrong));
}

/// The offset of the character of an `nevent` in which the byte `at` of the contents starts.
fn offset_of(at: usize) -> usize {
    "nevent1".len() + at * 8 / 5
}

#[test]
fn values() {
    let id = [&[0, 32][..], &[7; 32]].concat();
    let read = |more: &[u8]| decode(&slow::encode("nevent", &[&id, more].concat()));
    let event = |relays: &[&str], author: Option<[u8; 32]>, kind| {
        Ok(Nip19::Event(EventPointer {
            id: EventId::from_bytes([7; 32]),
            relays: relays.iter().map(|&relay| relay.to_owned()).collect(),
            author: author.map(PublicKey::from_bytes),
            kind,
        }))
    };
    assert_eq!(read(&[]), event(&[], None, None));
    assert_eq!(
        read(&[1, 1, b'a', 3, 4, 0, 0, 0, 9, 1, 0]),
        event(&["a", ""], None, Some(9))
    );
    // Unknown types are skipped and may be repeated.
    assert_eq!(read(&[4, 1, 0, 255, 0, 4, 2, 0, 0]), event(&[], None, None));
    let author = [&[2, 32][..], &[8; 32]].concat();
    assert_eq!(read(&author), event(&[], Some([8; 32]), None));

    let cut = error(Nip19Reason::Truncated, offset_of(34));
    assert_eq!(read(&[1]), cut);
    assert_eq!(read(&[1, 2, b'a']), cut);
    assert_eq!(read(&[9, 1]), cut);
    assert_eq!(read(&id), error(Nip19Reason::Repeated(0), offset_of(34)));
    let twice = [3, 4, 0, 0, 0, 9, 3, 4, 0, 0, 0, 9];
    assert_eq!(read(&twice), error(Nip19Reason::Repeated(3), offset_of(40)));
    assert_eq!(
        read(&[3, 2, 0, 9]),
        error(Nip19Reason::Length, offset_of(36))
    );
    assert_eq!(read(&[2, 0]), error(Nip19Reason::Length, offset_of(36)));
    assert_eq!(
        read(&[3, 4, 0, 1, 0, 0]),
        error(Nip19Reason::Kind, offset_of(36))
    );
    assert_eq!(
        read(&[1, 2, 0xc3, 0xa9]),
        error(Nip19Reason::Text, offset_of(36))
    );
    assert_eq!(
        decode(&slow::encode("nevent", &[])),
        error(Nip19Reason::Missing(0), offset_of(0))
    );
    assert_eq!(
        decode(&slow::encode("nprofile", &author)),
        error(Nip19Reason::Missing(0), 63)
    );

    let relay = slow::encode("nrelay", b"\0\x05wss:/");
    assert_eq!(decode(&relay), Ok(Nip19::Relay("wss:/".into())));
    assert_eq!(Nip19::Relay("wss:/".into()).encode(), Ok(relay));

    let address = |values: &[&[u8]]| decode(&slow::encode("naddr", &values.concat()));
    let kind = [3, 4, 0, 0, 0, 9];
    assert!(address(&[&[0, 0], &author, &kind]).is_ok());
    assert_eq!(
        address(&[&author, &kind]),
        error(Nip19Reason::Missing(0), 70)
    );
    assert_eq!(
        address(&[&[0, 0], &kind]),
        error(Nip19Reason::Missing(2), 18)
    );
    assert_eq!(
        address(&[&[0, 0], &author]),
        error(Nip19Reason::Missing(3), 63)
    );
    let not_text = address(&[&[0, 1, 0xff], &author, &kind]);
    assert_eq!(not_text, error(Nip19Reason::Text, 9));
}

/// Padding of more than four bits, or with bits that are not zero, is an error.
#[test]
fn padding() {
    // 32 bytes are 51 characters and one bit: the last character has four bits of padding.
    let zeros = checksummed("npub", &"q".repeat(52));
    assert_eq!(
        decode(&zeros),
        Ok(Nip19::PublicKey(PublicKey::from_bytes([0; 32])))
    );
    // The last character adds no byte.
    for data in ["q", "qqq"] {
        let name = checksummed("npub", data);
        assert_eq!(slow::decode(&name), None, "{name}");
        assert_eq!(
            decode(&name),
            error(Nip19Reason::Padding, name.len() - 7),
            "{name}"
        );
    }
    let stray = format!("{}p", "q".repeat(51));
    let name = checksummed("npub", &stray);
    assert_eq!(decode(&name), error(Nip19Reason::Padding, name.len() - 7));
}

/// Appends the checksum, computed by the crate `bech32`, to characters with any padding.
fn checksummed(prefix: &str, data: &str) -> String {
    use bech32::primitives::iter::Fe32IterExt as _;
    let prefix = bech32::Hrp::parse(prefix).unwrap();
    let values = data
        .chars()
        .map(|character| bech32::Fe32::from_char(character).unwrap());
    values
        .with_checksum::<bech32::Bech32>(&prefix)
        .chars()
        .collect()
}

#[test]
fn limits() {
    let profile = |relays| {
        Nip19::Profile(ProfilePointer {
            public_key: key(FIATJAF),
            relays: vec!["r".repeat(200); relays],
        })
    };
    let longest = profile(15);
    let name = longest.encode().unwrap();
    assert!(name.len() < MAX_CHARACTERS);
    assert_eq!(decode(&name), Ok(longest));
    let too_long = Nip19Error {
        reason: Nip19Reason::TooLong,
        offset: MAX_CHARACTERS,
    };
    assert_eq!(profile(16).encode(), Err(too_long));
    assert_eq!(decode(&"n".repeat(MAX_CHARACTERS + 1)), Err(too_long));
    let identifier = |len| {
        Nip19::Address(AddressPointer {
            identifier: "é".repeat(len),
            author: key(FIATJAF),
            kind: 1,
            relays: Vec::new(),
        })
    };
    assert_eq!(
        identifier(128).encode(),
        error(Nip19Reason::Length, 6).map(|_| String::new())
    );
    let address = identifier(127);
    assert_eq!(decode(&address.encode().unwrap()), Ok(address));
    let error = Nip19::Relay("wss://é".into()).encode().unwrap_err();
    assert_eq!(error.reason, Nip19Reason::Text);
}

#[test]
fn errors_and_debug_output_contain_no_secrets() {
    let mut wrong = NSEC.to_owned();
    wrong.replace_range(20..=20, "q");
    let error = SecretKey::from_nsec(&wrong).unwrap_err();
    let shown = format!("{error} {error:?} {:?}", decode(NSEC));
    assert!(
        !shown.contains(&NSEC[5..15]) && !shown.contains("67dea2"),
        "{shown}"
    );
}

#[test]
fn uris() {
    let name = key(FIATJAF).to_npub();
    let value = Nip19::PublicKey(key(FIATJAF));
    assert_eq!(nip21::decode(&format!("nostr:{name}")), Ok(value.clone()));
    assert_eq!(nip21::decode(&format!("NOSTR:{name}")), Ok(value.clone()));
    assert_eq!(nip21::encode(&value), Ok(format!("nostr:{name}")));
    for wrong in [
        "",
        "nostr",
        "nostr;",
        "web+nostr:npub1",
        "nöstr:",
        "nostr://",
        &name,
    ] {
        let expected = match wrong {
            "nostr://" => Nip21Error::Name(Nip19Error {
                reason: Nip19Reason::NoSeparator,
                offset: 6,
            }),
            _ => Nip21Error::Scheme,
        };
        assert_eq!(nip21::decode(wrong), Err(expected), "{wrong}");
    }
    for secret in [NSEC.to_owned(), NSEC.to_uppercase(), "nsec1junk".into()] {
        assert_eq!(
            nip21::decode(&format!("nostr:{secret}")),
            Err(Nip21Error::Secret)
        );
    }
    let secret = Nip19::SecretKey(SecretKey::from_nsec(NSEC).unwrap());
    assert_eq!(nip21::encode(&secret), Err(Nip21Error::Secret));
    let error = nip21::decode(&format!("nostr:{}?q=2", &name[..20])).unwrap_err();
    let Nip21Error::Name(error) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.offset, 6 + 20);
}

proptest! {
    #[test]
    fn keys(bytes: [u8; 32]) {
        let name = slow::encode("npub", &bytes);
        prop_assert_eq!(&PublicKey::from_bytes(bytes).to_npub(), &name);
        prop_assert_eq!(PublicKey::from_npub(&name), Ok(PublicKey::from_bytes(bytes)));
        prop_assert_eq!(slow::decode(&name), Some(("npub".into(), bytes.to_vec())));
        let name = slow::encode("note", &bytes);
        prop_assert_eq!(&EventId::from_bytes(bytes).to_note(), &name);
    }

    #[test]
    fn events(
        id: [u8; 32],
        author: Option<[u8; 32]>,
        kind: Option<u16>,
        relays in proptest::collection::vec("[ -~]{0,80}", 0..5),
    ) {
        let event = Nip19::Event(EventPointer {
            id: EventId::from_bytes(id),
            relays,
            author: author.map(PublicKey::from_bytes),
            kind,
        });
        let name = event.encode().unwrap();
        prop_assert_eq!(decode(&name), Ok(event));
        let (prefix, contents) = slow::decode(&name).unwrap();
        prop_assert_eq!(slow::encode(&prefix, &contents), name);
    }

    /// Both implementations accept the same text as bech32.
    #[test]
    fn bech32_validity(bytes in proptest::collection::vec(any::<u8>(), 0..80), at: usize, to: u8) {
        let mut name = slow::encode("nevent", &bytes).into_bytes();
        let at = at % name.len();
        name[at] = to & 0x7f;
        let name = String::from_utf8(name).unwrap();
        use Nip19Reason::{Character, Checksum, MixedCase, NoSeparator, Padding, TooLong};
        let is_bech32 = !matches!(
            decode(&name).map_err(|error| error.reason),
            Err(Character | Checksum | MixedCase | NoSeparator | Padding | TooLong)
        );
        prop_assert_eq!(is_bech32, slow::decode(&name).is_some(), "{}", name);
    }
}
