//! Sets of boolean traits.

/// Defines sets of flags. Each flag has a name and a bit position.
macro_rules! flags {
    ($($(#[$doc:meta])* $type:ident { $($(#[$flag_doc:meta])* $flag:ident = $bit:literal;)* })*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
        pub struct $type(u16);

        impl $type {
            /// The empty set.
            pub const NONE: Self = Self(0);

            $($(#[$flag_doc])*
            pub const $flag: Self = Self(1 << $bit);)*

            #[allow(dead_code, reason = "`ShapeFlags` are not serialized")]
            pub(crate) const fn bits(self) -> u16 {
                self.0
            }

            #[allow(dead_code, reason = "`ShapeFlags` are not serialized")]
            pub(crate) const fn from_bits(bits: u16) -> Self {
                Self(bits)
            }

            /// Returns the union of both sets.
            #[must_use]
            pub const fn with(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// Returns whether the set contains all flags of `other`.
            #[inline]
            #[must_use]
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }
        })*
    };
}

flags! {
    /// Boolean traits of a member.
    MemberFlags {
        /// `@required`.
        REQUIRED = 0;
        /// `@xmlAttribute`.
        XML_ATTRIBUTE = 1;
        /// `@xmlFlattened`.
        XML_FLATTENED = 2;
        /// `@idempotencyToken`.
        IDEMPOTENCY_TOKEN = 3;
        /// `@hostLabel`.
        HOST_LABEL = 4;
        /// `@streaming` of the target.
        STREAMING = 5;
        /// `@sensitive` of the target or member.
        SENSITIVE = 6;
        /// `@clientOptional`. It is implied for members of structures with `@input`.
        CLIENT_OPTIONAL = 7;
        /// `@sparse` of the target.
        SPARSE = 8;
        /// `@eventHeader`.
        EVENT_HEADER = 9;
        /// `@eventPayload`.
        EVENT_PAYLOAD = 10;
        /// The member has a default: [`Member::default_value`](crate::Member::default_value).
        DEFAULT = 11;
        /// The value or a nested value has constraints other than `@required`.
        CONSTRAINED = 12;
        /// The member has `@xmlName`.
        XML_NAMED = 13;
        /// `@requiresLength` of the target.
        REQUIRES_LENGTH = 14;
    }

    /// Boolean traits of an operation.
    OperationFlags {
        /// `@readonly`.
        READONLY = 0;
        /// `@idempotent`.
        IDEMPOTENT = 1;
        /// `@xmlRpcMethod(positional: true)`.
        POSITIONAL = 2;
        /// `@http`.
        HTTP = 3;
        /// `@httpChecksumRequired`.
        CHECKSUM_REQUIRED = 4;
        /// The output is `smithy.api#Unit`: the model has none.
        UNIT_OUTPUT = 5;
        /// The input is `smithy.api#Unit`: the model has none.
        UNIT_INPUT = 6;
        /// `@aws.customizations#s3UnwrappedXmlOutput`: the only member of the output is the root
        /// element.
        S3_UNWRAPPED_OUTPUT = 7;
        /// `requestChecksumRequired` of `@aws.protocols#httpChecksum`.
        HTTP_CHECKSUM_REQUIRED = 8;
    }

    /// Properties of a shape and its nested values.
    ShapeFlags {
        /// The shape is a structure, and a member has a default.
        DEFAULTS = 0;
        /// A member or a nested value has constraints.
        CONSTRAINED = 1;
        /// The shape is a structure, and a member is an idempotency token.
        TOKEN = 2;
        /// A member is an XML attribute or has a namespace prefix. Then the local name of an
        /// element does not identify the member.
        XML_APART = 3;
        /// A member or a nested value is `@sensitive`.
        SENSITIVE = 4;
    }

    /// Boolean traits of a service.
    ServiceFlags {
        /// `@aws.protocols#awsQueryCompatible`.
        AWS_QUERY_COMPATIBLE = 0;
        /// `noErrorWrapping` of `@aws.protocols#restXml`.
        NO_ERROR_WRAPPING = 1;
    }
}
