//! Names and base64.

use polywire_aws::checksum::{Algorithm, Checksum, ChecksumError};

#[test]
fn names_are_read_in_any_case() {
    for algorithm in Algorithm::ALL {
        assert_eq!(algorithm.name().parse(), Ok(algorithm));
        assert_eq!(
            Algorithm::from_name(&algorithm.name().to_lowercase()),
            Some(algorithm)
        );
        let header = algorithm.header_name();
        assert_eq!(
            header,
            format!("x-amz-checksum-{}", algorithm.name().to_lowercase())
        );
        assert_eq!(Algorithm::from_header_name(header), Some(algorithm));
        assert_eq!(
            Algorithm::from_header_name(&header.to_uppercase()),
            Some(algorithm)
        );
    }
    for name in ["", "CRC", "CRC32 ", "XXHASH64", "SHA-1"] {
        assert_eq!(Algorithm::from_name(name), None, "{name}");
    }
    for name in [
        "",
        "crc32",
        "x-amz-checksum-",
        "x-amz-checksum-mode",
        "x-amz-checksumäcrc32",
    ] {
        assert_eq!(Algorithm::from_header_name(name), None, "{name}");
    }
    let error = "XXHASH3".parse::<Algorithm>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a checksum algorithm: CRC64NVME, CRC32C, CRC32, SHA1, SHA256, SHA512, MD5"
    );
}

#[test]
fn texts_have_one_form() {
    for algorithm in Algorithm::ALL {
        let checksum = Checksum::of(algorithm, b"data");
        let text = checksum.to_string();
        assert_eq!(text.len(), algorithm.text_len());
        assert_eq!(Checksum::parse(algorithm, &text), Ok(checksum));
        for wrong in [
            format!("{text} "),
            format!(" {text}"),
            format!("{text}-2"),
            text.trim_end_matches('=').to_owned() + "!",
            checksum.to_hex(),
            String::new(),
        ] {
            assert!(
                Checksum::parse(algorithm, &wrong).is_err(),
                "{algorithm}: {wrong}"
            );
        }
    }
    // An unused bit set in the last character.
    assert!(Checksum::parse(Algorithm::Crc32, "y/Q5Jh==").is_err());
}

#[test]
fn long_texts_are_rejected_by_their_length() {
    let error = Checksum::parse(Algorithm::Crc32, &"A".repeat(1 << 20)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "CRC32 checksum: expected 4 bytes, found 786432"
    );
}

#[test]
fn mismatches_show_both() {
    let checksum = Checksum::of(Algorithm::Crc32, b"123456789");
    checksum.verify(b"123456789").unwrap();
    let error = checksum.verify(b"12345678").unwrap_err();
    let expected = "CRC32 checksum: the data has muDarw==, expected y/Q5Jg==";
    assert!(matches!(error, ChecksumError::Mismatch { .. }));
    assert_eq!(error.to_string(), expected);
    // The same bytes, but another algorithm.
    let crc32c = Checksum::from_bytes(Algorithm::Crc32c, checksum.as_bytes()).unwrap();
    assert!(crc32c.expect(&checksum).is_err());
}
