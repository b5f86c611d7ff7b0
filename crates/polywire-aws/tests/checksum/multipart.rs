//! Checksums and ETags of multipart uploads.

use polywire_aws::checksum::{
    Algorithm, Checksum, ChecksumError, ChecksumType, CompositeChecksum, FullObjectChecksum,
    MultipartETag,
};

fn parts(algorithm: Algorithm) -> [Checksum; 2] {
    [
        Checksum::of(algorithm, b"first"),
        Checksum::of(algorithm, b"second"),
    ]
}

#[test]
fn composites_have_the_number_of_parts() {
    // Computed with hashlib and zlib of Python.
    let sha256 = CompositeChecksum::of_parts(Algorithm::Sha256, &parts(Algorithm::Sha256)).unwrap();
    assert_eq!(
        sha256.to_string(),
        "LzQWAyxTThs81Y8OBSjFqPV96lhreIsEDE+rDTcFXSg=-2"
    );
    let crc32 = CompositeChecksum::of_parts(Algorithm::Crc32, &parts(Algorithm::Crc32)).unwrap();
    assert_eq!(crc32.to_string(), "rDHRtA==-2");
    let etag = MultipartETag::of_parts(&parts(Algorithm::Md5)).unwrap();
    assert_eq!(etag.to_string(), "018d78427d06dd29caa19b06085b7e7e-2");
}

#[test]
fn composites_are_read() {
    let parsed = CompositeChecksum::parse(Algorithm::Crc32, "rDHRtA==-10000").unwrap();
    assert_eq!(parsed.parts(), 10_000);
    assert_eq!(parsed.checksum().to_string(), "rDHRtA==");
    for text in [
        "rDHRtA==",
        "rDHRtA==-",
        "rDHRtA==-0",
        "rDHRtA==-01",
        "rDHRtA==-+1",
    ] {
        let error = CompositeChecksum::parse(Algorithm::Crc32, text).unwrap_err();
        assert_eq!(error, ChecksumError::PartCount, "{text}");
    }
    for text in [
        "rDHRtA==-10001",
        "rDHRtA==-99999999999999999999",
        "rDHRtA==-2 ",
    ] {
        let error = CompositeChecksum::parse(Algorithm::Crc32, text).unwrap_err();
        assert_eq!(error, ChecksumError::PartCount, "{text}");
    }
    assert!(CompositeChecksum::parse(Algorithm::Crc32, "rDHRtA=-2").is_err());
    assert!(CompositeChecksum::parse(Algorithm::Sha256, "rDHRtA==-2").is_err());
}

#[test]
fn etags_are_read() {
    let text = "018d78427d06dd29caa19b06085b7e7e-2";
    assert_eq!(text.parse::<MultipartETag>().unwrap().parts(), 2);
    for text in [
        "018d78427d06dd29caa19b06085b7e7e",
        "018D78427d06dd29caa19b06085b7e7e-2",
        "018d78427d06dd29caa19b06085b7e-2",
        "018d78427d06dd29caa19b06085b7e7e-",
        "\"018d78427d06dd29caa19b06085b7e7e-2\"",
    ] {
        assert!(text.parse::<MultipartETag>().is_err(), "{text}");
    }
}

#[test]
fn part_counts_are_limited() {
    let part = Checksum::of(Algorithm::Sha1, b"");
    let of_parts = |count| CompositeChecksum::of_parts(Algorithm::Sha1, &vec![part; count]);
    assert_eq!(of_parts(0).unwrap_err(), ChecksumError::PartCount);
    assert_eq!(of_parts(10_000).unwrap().parts(), 10_000);
    assert_eq!(of_parts(10_001).unwrap_err(), ChecksumError::PartCount);
}

#[test]
fn algorithms_do_not_mix() {
    let error = CompositeChecksum::of_parts(Algorithm::Crc32, &parts(Algorithm::Crc32c));
    assert_eq!(
        error.unwrap_err().to_string(),
        "CRC32C checksum: expected a checksum of the algorithm of the upload"
    );
    let mut object = FullObjectChecksum::new(Algorithm::Crc32).unwrap();
    assert!(
        object
            .add(&Checksum::of(Algorithm::Crc32c, b"x"), 1)
            .is_err()
    );
    assert!(object.is_empty());
    let error = FullObjectChecksum::new(Algorithm::Sha256).unwrap_err();
    assert_eq!(
        error.to_string(),
        "SHA256 checksum: expected a CRC, which can be combined"
    );
}

#[test]
fn an_object_has_at_most_64_bits_of_bytes() {
    let mut object = FullObjectChecksum::new(Algorithm::Crc64Nvme).unwrap();
    let part = Checksum::of(Algorithm::Crc64Nvme, b"x");
    object.add(&part, u64::MAX).unwrap();
    assert_eq!(object.add(&part, 1).unwrap_err(), ChecksumError::PartCount);
    assert_eq!(object.len(), u64::MAX);
}

#[test]
fn kinds_of_s3() {
    use ChecksumType::{Composite, FullObject};

    assert_eq!(ChecksumType::from_name("FULL_OBJECT"), Some(FullObject));
    assert_eq!(ChecksumType::from_name("full_object"), None);
    for algorithm in Algorithm::ALL {
        assert!(
            ChecksumType::default_of(algorithm).supports(algorithm),
            "{algorithm}"
        );
        assert_eq!(FullObject.supports(algorithm), algorithm.is_crc());
        assert_eq!(
            Composite.supports(algorithm),
            algorithm != Algorithm::Crc64Nvme
        );
    }
}
