//! The tables of `aws.protocols#httpChecksum`.

use polywire_aws::checksum::{
    Algorithm, BodySigning, CONTENT_MD5, Calculation, ChecksumError, ChecksumLocation,
    RequestChecksum, RequestContext, RequestRule, ResponseChecksum,
};

const PUT_OBJECT: RequestContext<'static> = RequestContext {
    rule: RequestRule::HttpChecksum {
        algorithm_member: true,
        required: false,
    },
    algorithm: None,
    calculation: Calculation::WhenSupported,
    explicit: false,
    presigned: false,
    streaming: true,
    signing: BodySigning::Unsigned,
    tls: true,
    default: Algorithm::Crc32,
};

const DELETE_OBJECTS: RequestContext<'static> = RequestContext {
    rule: RequestRule::HttpChecksum {
        algorithm_member: true,
        required: true,
    },
    streaming: false,
    ..PUT_OBJECT
};

fn select(context: RequestContext<'_>) -> Option<RequestChecksum> {
    RequestChecksum::select(&context).unwrap()
}

#[test]
fn the_default_is_sent_when_supported() {
    let checksum = select(PUT_OBJECT).unwrap();
    assert_eq!(checksum.algorithm, Algorithm::Crc32);
    assert_eq!(checksum.name, "x-amz-checksum-crc32");
    assert!(checksum.set_algorithm_member);
    let default = Algorithm::Crc64Nvme;
    assert_eq!(
        select(RequestContext {
            default,
            ..PUT_OBJECT
        })
        .unwrap()
        .algorithm,
        default
    );
}

#[test]
fn the_default_is_sent_when_required() {
    let calculation = Calculation::WhenRequired;
    assert_eq!(
        select(RequestContext {
            calculation,
            ..PUT_OBJECT
        }),
        None
    );
    let checksum = select(RequestContext {
        calculation,
        ..DELETE_OBJECTS
    })
    .unwrap();
    assert_eq!(checksum.algorithm, Algorithm::Crc32);
    assert_eq!(checksum.location, ChecksumLocation::Header);
    let rule = RequestRule::HttpChecksum {
        algorithm_member: false,
        required: true,
    };
    let checksum = select(RequestContext {
        rule,
        calculation,
        ..DELETE_OBJECTS
    })
    .unwrap();
    assert!(!checksum.set_algorithm_member);
    // Only the response has checksums.
    let rule = RequestRule::HttpChecksum {
        algorithm_member: false,
        required: false,
    };
    assert_eq!(select(RequestContext { rule, ..PUT_OBJECT }), None);
}

#[test]
fn the_member_wins() {
    let algorithm = Some("SHA256");
    for calculation in [Calculation::WhenRequired, Calculation::WhenSupported] {
        let context = RequestContext {
            algorithm,
            calculation,
            ..PUT_OBJECT
        };
        let checksum = select(context).unwrap();
        assert_eq!(checksum.algorithm, Algorithm::Sha256);
        assert!(!checksum.set_algorithm_member);
    }
    let context = RequestContext {
        algorithm: Some("XXHASH3"),
        ..PUT_OBJECT
    };
    assert_eq!(
        RequestChecksum::select(&context),
        Err(ChecksumError::UnknownAlgorithm)
    );
}

#[test]
fn a_header_of_the_caller_is_kept() {
    let context = RequestContext {
        explicit: true,
        algorithm: Some("SHA256"),
        ..PUT_OBJECT
    };
    assert_eq!(select(context), None);
    assert_eq!(
        select(RequestContext {
            explicit: true,
            ..DELETE_OBJECTS
        }),
        None
    );
}

#[test]
fn a_presigned_request_has_no_default() {
    let presigned = true;
    assert_eq!(
        select(RequestContext {
            presigned,
            ..PUT_OBJECT
        }),
        None
    );
    assert_eq!(
        select(RequestContext {
            presigned,
            ..DELETE_OBJECTS
        }),
        None
    );
    let context = RequestContext {
        presigned,
        algorithm: Some("SHA1"),
        ..PUT_OBJECT
    };
    assert_eq!(select(context).unwrap().location, ChecksumLocation::Header);
}

#[test]
fn http_checksum_required_alone_is_content_md5() {
    let rule = RequestRule::ContentMd5;
    let checksum = select(RequestContext { rule, ..PUT_OBJECT }).unwrap();
    assert_eq!(
        (checksum.algorithm, checksum.name),
        (Algorithm::Md5, CONTENT_MD5)
    );
    assert_eq!(checksum.location, ChecksumLocation::Header);
    assert!(!checksum.set_algorithm_member);
    assert_eq!(
        select(RequestContext {
            rule,
            explicit: true,
            ..PUT_OBJECT
        }),
        None
    );
}

#[test]
fn locations() {
    use BodySigning::{Chunks, Unsigned, Whole};
    use ChecksumLocation::{Header, SignedTrailer, UnsignedTrailer};

    for (streaming, signing, tls, location) in [
        (false, Chunks, true, Header),
        (false, Unsigned, true, Header),
        (false, Whole, false, Header),
        (true, Chunks, true, SignedTrailer),
        (true, Chunks, false, SignedTrailer),
        (true, Unsigned, true, UnsignedTrailer),
        (true, Unsigned, false, Header),
        (true, Whole, true, Header),
        (true, Whole, false, Header),
    ] {
        let context = RequestContext {
            streaming,
            signing,
            tls,
            ..PUT_OBJECT
        };
        assert_eq!(select(context).unwrap().location, location, "{context:?}");
    }
}

#[test]
fn the_fastest_header_of_a_response_is_checked() {
    let values = |algorithm: Algorithm| match algorithm {
        Algorithm::Crc32 => "y/Q5Jg==",
        Algorithm::Crc32c => "4waSgw==",
        Algorithm::Sha1 => "98O8HYCOBHMq32eZZczDTKeuNEE=",
        other => unreachable!("{other}"),
    };
    let present = [Algorithm::Sha1, Algorithm::Crc32, Algorithm::Crc32c];
    let select = |modeled: &[Algorithm], present: &[Algorithm]| {
        let header = |name: &str| {
            let found = present
                .iter()
                .find(|algorithm| algorithm.header_name() == name);
            found.map(|&algorithm| values(algorithm))
        };
        ResponseChecksum::select(modeled, header)
            .unwrap()
            .map(|checksum| checksum.algorithm())
    };
    assert_eq!(select(&Algorithm::ALL, &present), Some(Algorithm::Crc32c));
    assert_eq!(
        select(&Algorithm::ALL, &present[..2]),
        Some(Algorithm::Crc32)
    );
    assert_eq!(
        select(&[Algorithm::Sha1, Algorithm::Crc32], &present),
        Some(Algorithm::Crc32)
    );
    // Headers that the model does not list are not checked.
    assert_eq!(select(&[Algorithm::Sha256], &present), None);
    assert_eq!(select(&Algorithm::ALL, &[]), None);
}

#[test]
fn composite_checksums_of_a_response_are_skipped() {
    let composite = ResponseChecksum::select(&Algorithm::ALL, |_| Some("rDHRtA==-2"));
    assert_eq!(composite, Ok(None));
    let next = ResponseChecksum::select(&Algorithm::ALL, |name| match name {
        "x-amz-checksum-crc64nvme" => Some("rosUhgp5mIg=-2"),
        "x-amz-checksum-crc32" => Some("y/Q5Jg=="),
        _ => None,
    });
    assert_eq!(next.unwrap().unwrap().algorithm(), Algorithm::Crc32);
    // What cannot be read cannot be confirmed.
    assert!(ResponseChecksum::select(&Algorithm::ALL, |_| Some("y/Q5Jg")).is_err());
}

#[test]
fn responses_are_checked_unless_only_required_ones_are() {
    assert!(ResponseChecksum::is_enabled(
        false,
        Calculation::WhenSupported
    ));
    assert!(ResponseChecksum::is_enabled(
        true,
        Calculation::WhenRequired
    ));
    assert!(!ResponseChecksum::is_enabled(
        false,
        Calculation::WhenRequired
    ));
}
