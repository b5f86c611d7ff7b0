//! Names of the built-in values that clients bind to parameters
//! ([Smithy](https://smithy.io/2.0/additional-specs/rules-engine/parameters.html#rules-engine-built-ins),
//! [AWS](https://smithy.io/2.0/aws/rules-engine/built-ins.html)).
//!
//! ```
//! use polywire_aws::endpoint::built_in;
//!
//! assert_eq!(built_in::REGION, "AWS::Region");
//! assert!(built_in::ALL.contains(&built_in::SDK_ENDPOINT));
//! ```

/// `string`: the account of the credentials.
pub const ACCOUNT_ID: &str = "AWS::Auth::AccountId";
/// `string`: how endpoints use the account: `preferred`, `disabled` or `required`.
pub const ACCOUNT_ID_ENDPOINT_MODE: &str = "AWS::Auth::AccountIdEndpointMode";
/// `string`: the scope of the credentials.
pub const CREDENTIAL_SCOPE: &str = "AWS::Auth::CredentialScope";
/// `string`: the region of the client.
pub const REGION: &str = "AWS::Region";
/// `boolean`: whether to use S3's transfer acceleration.
pub const S3_ACCELERATE: &str = "AWS::S3::Accelerate";
/// `boolean`: whether to reject multi-region access points of S3.
pub const S3_DISABLE_MULTI_REGION_ACCESS_POINTS: &str = "AWS::S3::DisableMultiRegionAccessPoints";
/// `boolean`: whether buckets are always in the path of URLs instead of the host.
pub const S3_FORCE_PATH_STYLE: &str = "AWS::S3::ForcePathStyle";
/// `boolean`: whether the region of an ARN of S3 replaces the one of the client.
pub const S3_USE_ARN_REGION: &str = "AWS::S3::UseArnRegion";
/// `boolean`: whether `us-east-1` means the global endpoint of S3.
pub const S3_USE_GLOBAL_ENDPOINT: &str = "AWS::S3::UseGlobalEndpoint";
/// `boolean`: whether the region of an ARN of S3 Control replaces the one of the client.
pub const S3_CONTROL_USE_ARN_REGION: &str = "AWS::S3Control::UseArnRegion";
/// `string`: the endpoint that the user has set, a URL.
pub const SDK_ENDPOINT: &str = "SDK::Endpoint";
/// `boolean`: whether some regions mean the global endpoint of STS.
pub const STS_USE_GLOBAL_ENDPOINT: &str = "AWS::STS::UseGlobalEndpoint";
/// `boolean`: whether to use endpoints with IPv4 and IPv6.
pub const USE_DUAL_STACK: &str = "AWS::UseDualStack";
/// `boolean`: whether to use endpoints with certified cryptography (FIPS).
pub const USE_FIPS: &str = "AWS::UseFIPS";

/// All names of this module.
pub const ALL: [&str; 14] = [
    ACCOUNT_ID,
    ACCOUNT_ID_ENDPOINT_MODE,
    CREDENTIAL_SCOPE,
    REGION,
    S3_ACCELERATE,
    S3_DISABLE_MULTI_REGION_ACCESS_POINTS,
    S3_FORCE_PATH_STYLE,
    S3_USE_ARN_REGION,
    S3_USE_GLOBAL_ENDPOINT,
    S3_CONTROL_USE_ARN_REGION,
    SDK_ENDPOINT,
    STS_USE_GLOBAL_ENDPOINT,
    USE_DUAL_STACK,
    USE_FIPS,
];
