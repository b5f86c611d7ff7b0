//! What a client sends, and what it checks: the client's side of `aws.protocols#httpChecksum`.
//!
//! <https://smithy.io/2.0/aws/aws-core.html#aws-protocols-httpchecksum-trait>, with the settings
//! `request_checksum_calculation` and `response_checksum_validation` of the shared configuration file of AWS.

use super::{Algorithm, CONTENT_MD5, Checksum, ChecksumError};

/// When clients compute or check a checksum without being asked by the caller: the values of `request_checksum_calculation` and
/// `response_checksum_validation`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Calculation {
    /// `when_supported`: whenever the operation supports it.
    #[default]
    WhenSupported,
    /// `when_required`: only if the operation requires it, or the caller asks for it.
    WhenRequired,
}

impl Calculation {
    /// The setting of this text, in any case.
    ///
    /// ```
    /// use polywire_aws::checksum::Calculation;
    ///
    /// assert_eq!(Calculation::from_name("WHEN_REQUIRED"), Some(Calculation::WhenRequired));
    /// assert_eq!(Calculation::from_name("never"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("when_supported") {
            Some(Self::WhenSupported)
        } else if name.eq_ignore_ascii_case("when_required") {
            Some(Self::WhenRequired)
        } else {
            None
        }
    }
}

/// What the model says about checksums in the requests of an operation.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum RequestRule {
    /// Only `smithy.api#httpChecksumRequired`: an MD5 in `Content-MD5`.
    ContentMd5,
    /// `aws.protocols#httpChecksum`.
    HttpChecksum {
        /// Whether `requestAlgorithmMember` is there.
        algorithm_member: bool,
        /// The value of `requestChecksumRequired`.
        required: bool,
    },
}

/// How the signature covers a streamed body.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum BodySigning {
    /// By the signatures of chunks.
    Chunks,
    /// Not at all: `UNSIGNED-PAYLOAD`, or `STREAMING-UNSIGNED-PAYLOAD-TRAILER`.
    Unsigned,
    /// By its SHA-256 in the head: the body is read twice.
    Whole,
}

/// What decides about the checksum of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestContext<'a> {
    /// What the model says.
    pub rule: RequestRule,
    /// The value of the input member `requestAlgorithmMember`; none if the caller did not set it.
    pub algorithm: Option<&'a str>,
    /// The setting `request_checksum_calculation`.
    pub calculation: Calculation,
    /// Whether a header `x-amz-checksum-*` or `Content-MD5` is already set by the caller.
    pub explicit: bool,
    /// Whether the request is presigned: its body is not known yet.
    pub presigned: bool,
    /// Whether the input has a streaming blob.
    pub streaming: bool,
    /// How the signature covers a streamed body.
    pub signing: BodySigning,
    /// Whether the connection is encrypted.
    pub tls: bool,
    /// The algorithm if the caller set none: CRC32 in the SDKs of AWS.
    pub default: Algorithm,
}

/// Where the checksum of a request is written.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ChecksumLocation {
    /// In the head.
    Header,
    /// In the signed trailer of `aws-chunked`.
    SignedTrailer,
    /// In the trailer of `aws-chunked`, without signatures.
    UnsignedTrailer,
}

/// The checksum that a request has: algorithm, location and names of headers.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct RequestChecksum {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Where the checksum is written.
    pub location: ChecksumLocation,
    /// The name of the header or trailer.
    pub name: &'static str,
    /// Whether the header of the algorithm member (`x-amz-sdk-checksum-algorithm` in S3) has to be set to the name
    /// of the algorithm, because the caller left the member unset.
    pub set_algorithm_member: bool,
}

impl RequestChecksum {
    /// Selects the checksum of a request; none if it has none, or the caller has set the header.
    ///
    /// | model, setting | algorithm |
    /// |---|---|
    /// | the algorithm member is set | its value |
    /// | required, or has an algorithm member and `when_supported` | the default |
    /// | `@httpChecksumRequired` only | MD5 in `Content-MD5` |
    ///
    /// | body | location |
    /// |---|---|
    /// | not streamed, or signed as a whole | header |
    /// | streamed, chunks signed | signed trailer |
    /// | streamed, unsigned, TLS | unsigned trailer |
    /// | streamed, unsigned, no TLS | header |
    ///
    /// The last row is stricter than the specification: without TLS nothing would protect the trailer, so the
    /// checksum is written into the signed head. A presigned request has no default checksum.
    ///
    /// ```
    /// use polywire_aws::checksum::*;
    ///
    /// let put_object = RequestContext {
    ///     rule: RequestRule::HttpChecksum { algorithm_member: true, required: false },
    ///     algorithm: None,
    ///     calculation: Calculation::WhenSupported,
    ///     explicit: false,
    ///     presigned: false,
    ///     streaming: true,
    ///     signing: BodySigning::Unsigned,
    ///     tls: true,
    ///     default: Algorithm::Crc32,
    /// };
    /// let checksum = RequestChecksum::select(&put_object)?.unwrap();
    /// assert_eq!(checksum.name, "x-amz-checksum-crc32");
    /// assert_eq!(checksum.location, ChecksumLocation::UnsignedTrailer);
    ///
    /// let calculation = Calculation::WhenRequired;
    /// assert!(RequestChecksum::select(&RequestContext { calculation, ..put_object })?.is_none());
    /// # Ok::<(), ChecksumError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ChecksumError::UnknownAlgorithm`] if the member has a value that is not supported: a client must not send
    /// another checksum than the caller asked for.
    pub fn select(context: &RequestContext<'_>) -> Result<Option<Self>, ChecksumError> {
        if context.explicit {
            return Ok(None);
        }
        let RequestRule::HttpChecksum {
            algorithm_member,
            required,
        } = context.rule
        else {
            return Ok((!context.presigned).then_some(Self {
                algorithm: Algorithm::Md5,
                location: ChecksumLocation::Header,
                name: CONTENT_MD5,
                set_algorithm_member: false,
            }));
        };
        let wanted = context.algorithm.filter(|_| algorithm_member);
        let supported = algorithm_member && context.calculation == Calculation::WhenSupported;
        let algorithm = match wanted {
            Some(name) => name.parse()?,
            None if (required || supported) && !context.presigned => context.default,
            None => return Ok(None),
        };
        Ok(Some(Self {
            algorithm,
            location: Self::location(context),
            name: algorithm.header_name(),
            set_algorithm_member: algorithm_member && wanted.is_none(),
        }))
    }

    fn location(context: &RequestContext<'_>) -> ChecksumLocation {
        if !context.streaming || context.presigned {
            return ChecksumLocation::Header;
        }
        match context.signing {
            BodySigning::Chunks => ChecksumLocation::SignedTrailer,
            BodySigning::Unsigned if context.tls => ChecksumLocation::UnsignedTrailer,
            BodySigning::Unsigned | BodySigning::Whole => ChecksumLocation::Header,
        }
    }
}

/// The checksum of a response that a client checks.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct ResponseChecksum;

impl ResponseChecksum {
    /// Whether the client has to set the member `requestValidationModeMember` to `ENABLED`, and check the response:
    /// the caller did it, or the setting is `when_supported`.
    #[must_use]
    pub fn is_enabled(member_enabled: bool, validation: Calculation) -> bool {
        member_enabled || validation == Calculation::WhenSupported
    }

    /// Selects the one checksum to check: the first of [`Algorithm::ALL`] that is in `modeled`
    /// (`responseAlgorithms`) and has a header. `header` returns the value of a header by its lower-case name.
    ///
    /// Composite checksums (`base64-N`) are skipped: they are not checksums of the body. So are headers that the
    /// model does not list.
    ///
    /// ```
    /// use polywire_aws::checksum::{Algorithm, ResponseChecksum};
    ///
    /// let headers = [("x-amz-checksum-crc32", "y/Q5Jg=="), ("x-amz-checksum-sha1", "99fy4Z-3")];
    /// let header = |name: &str| headers.iter().find(|header| header.0 == name).map(|header| header.1);
    /// let checksum = ResponseChecksum::select(&Algorithm::ALL, header)?.unwrap();
    /// assert_eq!(checksum.algorithm(), Algorithm::Crc32);
    /// checksum.verify(b"123456789")?;
    /// # Ok::<(), polywire_aws::checksum::ChecksumError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Checksum::parse`]: a checksum that cannot be read cannot match.
    pub fn select<'a>(
        modeled: &[Algorithm],
        header: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<Option<Checksum>, ChecksumError> {
        for algorithm in Algorithm::ALL {
            if !modeled.contains(&algorithm) {
                continue;
            }
            match header(algorithm.header_name()) {
                // No base64 of the standard alphabet has `-`.
                Some(value) if !value.contains('-') => {
                    return Checksum::parse(algorithm, value).map(Some);
                }
                _ => {}
            }
        }
        Ok(None)
    }
}
