//! The shapes of the cases, written by hand as a generator would write them.

use polywire_schema::{
    Decode, Decoder, END, Encode, Encoder, Error, Member, MemberSpec, SchemaBuilder, SchemaSet,
    ShapeKind, Text, Timestamp,
};

/// A structure whose members are all optional.
macro_rules! structure {
    ($(#[$doc:meta])* $name:ident { $($ordinal:literal => $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub(super) struct $name {
            $(pub(super) $field: Option<$type>,)*
        }

        impl Encode for $name {
            fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
                let shape = at.target();
                let present = 0 $(+ usize::from(self.$field.is_some()))*;
                encoder.begin_structure(at, present);
                $(if let Some(value) = &self.$field {
                    let at = shape.member($ordinal);
                    if encoder.member(at) {
                        value.encode(at, encoder);
                    }
                })*
                encoder.end_structure(at);
            }
        }

        impl<'de> Decode<'de> for $name {
            fn decode<D: Decoder<'de> + ?Sized>(
                at: Member<'_>,
                decoder: &mut D,
            ) -> Result<Self, Error> {
                let shape = at.target();
                let mut value = Self::default();
                let mut seq = decoder.structure(at)?;
                loop {
                    match decoder.member(shape, &mut seq)? {
                        $($ordinal => {
                            value.$field = Some(<$type>::decode(shape.member($ordinal), decoder)?);
                        })*
                        END => return Ok(value),
                        _ => unreachable!("decoders return ordinals of the shape"),
                    }
                }
            }
        }
    };
}

structure!(
    /// CloudWatch: the output of `GetMetricData`.
    GetMetricDataOutput {
        0 => metric_data_results: Vec<MetricDataResult>,
        1 => next_token: Text,
        2 => messages: Vec<MessageData>,
    }
);

structure!(MetricDataResult {
    0 => id: Text,
    1 => label: Text,
    2 => timestamps: Vec<Timestamp>,
    3 => values: Vec<f64>,
    4 => status_code: Text,
    5 => messages: Vec<MessageData>,
});

structure!(MessageData {
    0 => code: Text,
    1 => value: Text,
});

structure!(
    /// S3: the payload of the output of `CopyObject`.
    CopyObjectResult {
        0 => etag: Text,
        1 => last_modified: Timestamp,
        2 => checksum_type: Text,
        3 => checksum_crc32: Text,
        4 => checksum_crc32c: Text,
        5 => checksum_crc64nvme: Text,
        6 => checksum_sha1: Text,
        7 => checksum_sha256: Text,
    }
);

pub(super) fn schemas() -> SchemaSet<'static> {
    let mut builder = SchemaBuilder::new();
    let mut shape = |kind, name: &str| builder.shape(kind, format!("example#{name}"));
    let string = shape(ShapeKind::String, "String");
    let timestamp = shape(ShapeKind::Timestamp, "Timestamp");
    let double = shape(ShapeKind::Double, "Double");
    let timestamps = shape(ShapeKind::List, "Timestamps");
    let values = shape(ShapeKind::List, "Values");
    let message = shape(ShapeKind::Structure, "MessageData");
    let messages = shape(ShapeKind::List, "MetricDataResultMessages");
    let result = shape(ShapeKind::Structure, "MetricDataResult");
    let results = shape(ShapeKind::List, "MetricDataResults");
    let output = shape(ShapeKind::Structure, "GetMetricDataOutput");
    let copied = shape(ShapeKind::Structure, "CopyObjectResult");
    let lists = [
        (timestamps, timestamp),
        (values, double),
        (messages, message),
        (results, result),
    ];
    for (list, item) in lists {
        builder.member(list, MemberSpec::new("member", item));
    }
    let members = [
        (message, "Code", string),
        (message, "Value", string),
        (result, "Id", string),
        (result, "Label", string),
        (result, "Timestamps", timestamps),
        (result, "Values", values),
        (result, "StatusCode", string),
        (result, "Messages", messages),
        (output, "MetricDataResults", results),
        (output, "NextToken", string),
        (output, "Messages", messages),
        (copied, "ETag", string),
        (copied, "LastModified", timestamp),
        (copied, "ChecksumType", string),
        (copied, "ChecksumCRC32", string),
        (copied, "ChecksumCRC32C", string),
        (copied, "ChecksumCRC64NVME", string),
        (copied, "ChecksumSHA1", string),
        (copied, "ChecksumSHA256", string),
    ];
    for (structure, name, target) in members {
        builder.member(structure, MemberSpec::new(name, target));
    }
    match builder.finish() {
        Ok(set) => set,
        Err(error) => unreachable!("the shapes above are well formed: {error}"),
    }
}
