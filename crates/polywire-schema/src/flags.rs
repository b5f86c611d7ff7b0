//! Yes-or-no traits.

/// A set of flags: each is a name and the place of its bit.
macro_rules! flags {
    ($($(#[$doc:meta])* $type:ident { $($(#[$flag_doc:meta])* $flag:ident = $bit:literal;)* })*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
        pub struct $type(u16);

        impl $type {
            /// No flag.
            pub const NONE: Self = Self(0);

            $($(#[$flag_doc])*
            pub const $flag: Self = Self(1 << $bit);)*

            #[allow(dead_code, reason = "flags of shapes are made, not stored")]
            pub(crate) const fn bits(self) -> u16 {
                self.0
            }

            #[allow(dead_code, reason = "flags of shapes are made, not stored")]
            pub(crate) const fn from_bits(bits: u16) -> Self {
                Self(bits)
            }

            /// These flags and others.
            #[must_use]
            pub const fn with(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// Whether all flags of `other` are set.
            #[inline]
            #[must_use]
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }
        })*
    };
}

flags! {
    /// Yes-or-no traits of a member.
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
        /// `@clientOptional`, or a member of a structure with `@input`, where it
        /// is implied.
        CLIENT_OPTIONAL = 7;
        /// `@sparse` of the target.
        SPARSE = 8;
        /// `@eventHeader`.
        EVENT_HEADER = 9;
        /// `@eventPayload`.
        EVENT_PAYLOAD = 10;
        /// Has a default value: [`Member::default_value`](crate::Member::default_value).
        DEFAULT = 11;
        /// Its values, or anything below them, have constraints other than
        /// `@required`, which is on the members themselves.
        CONSTRAINED = 12;
        /// Has an `@xmlName` of its own.
        XML_NAMED = 13;
    }

    /// Yes-or-no traits of an operation.
    OperationFlags {
        /// `@readonly`.
        READONLY = 0;
        /// `@idempotent`.
        IDEMPOTENT = 1;
        /// `@xmlRpcMethod(positional: true)`.
        POSITIONAL = 2;
        /// Has `@http`.
        HTTP = 3;
        /// `@httpChecksumRequired`.
        CHECKSUM_REQUIRED = 4;
        /// The model gives no output: `smithy.api#Unit`.
        UNIT_OUTPUT = 5;
        /// The model gives no input: `smithy.api#Unit`.
        UNIT_INPUT = 6;
        /// `@aws.customizations#s3UnwrappedXmlOutput`: the root element of the
        /// output is the output's only member.
        S3_UNWRAPPED_OUTPUT = 7;
    }

    /// What is known of a shape and everything below it.
    ShapeFlags {
        /// A structure of which a member has a default.
        DEFAULTS = 0;
        /// A member, or anything below it, has constraints.
        CONSTRAINED = 1;
        /// A structure of which a member is an idempotency token.
        TOKEN = 2;
        /// A member is an XML attribute, or has a prefix in its XML name: elements
        /// are not told apart by their names alone.
        XML_APART = 3;
        /// A member, or anything below it, is `@sensitive`.
        SENSITIVE = 4;
    }

    /// Yes-or-no traits of a service.
    ServiceFlags {
        /// `@aws.protocols#awsQueryCompatible`.
        AWS_QUERY_COMPATIBLE = 0;
        /// `noErrorWrapping` of `@aws.protocols#restXml`.
        NO_ERROR_WRAPPING = 1;
    }
}
