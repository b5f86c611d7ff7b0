//! A binary form of [`SchemaBuilder`], in which generated code stores the schemas of a service.
//!
//! The alternative is a `static` with all arrays of the [`SchemaSet`](crate::SchemaSet). For a
//! large service this needs megabytes of source code and most of a megabyte in the binary, because
//! each name is stored once per encoding, in 32 bytes. The compact form needs about 20 bytes per
//! member and no compile time. Building the set takes a few milliseconds, at the first call.

use crate::builder::{
    BuildError, MemberSpec, OperationSpec, SchemaBuilder, ServiceSpec, ShapeRef, ShapeSpec,
};
use crate::{
    ConstraintSpec, EnumValueSpec, Location, MemberFlags, OperationFlags, ServiceFlags, ShapeKind,
    TimestampFormat,
};

/// The version of the binary form, at the start of the bytes.
const VERSION: u64 = 1;

impl SchemaBuilder {
    /// Serializes the builder. Only [`SchemaBuilder::from_compact`] of the same version of this
    /// crate can read the result.
    #[must_use]
    pub fn to_compact(&self) -> Vec<u8> {
        let mut out = Vec::new();
        VERSION.pack(&mut out);
        self.shapes.pack(&mut out);
        self.operations.pack(&mut out);
        self.services.pack(&mut out);
        out
    }

    /// Deserializes a builder from the output of [`SchemaBuilder::to_compact`].
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not valid or come from another version of this crate.
    pub fn from_compact(bytes: &[u8]) -> Result<Self, BuildError> {
        let mut input = bytes;
        let unpack = |input: &mut &[u8]| {
            let version = u64::unpack(input)?;
            (version == VERSION).then_some(())?;
            Some(Self {
                shapes: Pack::unpack(input)?,
                operations: Pack::unpack(input)?,
                services: Pack::unpack(input)?,
                invalid_ref: None,
            })
        };
        let builder = unpack(&mut input).filter(|_| input.is_empty());
        builder.ok_or_else(|| BuildError::new("invalid schemas, or schemas of another version"))
    }
}

/// A type with a binary form.
trait Pack: Sized {
    fn pack(&self, out: &mut Vec<u8>);

    fn unpack(input: &mut &[u8]) -> Option<Self>;
}

/// A variable-length integer (LEB128): seven bits per byte, lowest bits first.
impl Pack for u64 {
    fn pack(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }

    fn unpack(input: &mut &[u8]) -> Option<Self> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = input.split_first()?;
            *input = rest;
            value |= Self::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

macro_rules! unsigned {
    ($($type:ty),*) => {
        $(impl Pack for $type {
            fn pack(&self, out: &mut Vec<u8>) {
                u64::from(*self).pack(out);
            }

            fn unpack(input: &mut &[u8]) -> Option<Self> {
                u64::unpack(input)?.try_into().ok()
            }
        })*
    };
}

unsigned!(u16, u32);

/// A variable-length integer in zigzag encoding: the lowest bit is the sign.
impl Pack for i32 {
    fn pack(&self, out: &mut Vec<u8>) {
        let zigzag = (i64::from(*self) << 1) ^ (i64::from(*self) >> 63);
        (zigzag as u64).pack(out);
    }

    fn unpack(input: &mut &[u8]) -> Option<Self> {
        let zigzag = u64::unpack(input)?;
        let value = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
        value.try_into().ok()
    }
}

impl<T: Pack, E: Pack> Pack for Result<T, E> {
    fn pack(&self, out: &mut Vec<u8>) {
        self.is_ok().pack(out);
        match self {
            Ok(value) => value.pack(out),
            Err(value) => value.pack(out),
        }
    }

    fn unpack(input: &mut &[u8]) -> Option<Self> {
        Some(match bool::unpack(input)? {
            true => Ok(T::unpack(input)?),
            false => Err(E::unpack(input)?),
        })
    }
}

impl Pack for bool {
    fn pack(&self, out: &mut Vec<u8>) {
        u64::from(*self).pack(out);
    }

    fn unpack(input: &mut &[u8]) -> Option<Self> {
        Some(u64::unpack(input)? != 0)
    }
}

impl Pack for String {
    fn pack(&self, out: &mut Vec<u8>) {
        (self.len() as u64).pack(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn unpack(input: &mut &[u8]) -> Option<Self> {
        let len = usize::try_from(u64::unpack(input)?).ok()?;
        let (text, rest) = input.split_at_checked(len)?;
        *input = rest;
        Self::from_utf8(text.to_vec()).ok()
    }
}

impl<T: Pack> Pack for Option<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        self.is_some().pack(out);
        if let Some(value) = self {
            value.pack(out);
        }
    }

    fn unpack(input: &mut &[u8]) -> Option<Self> {
        Some(match bool::unpack(input)? {
            true => Some(T::unpack(input)?),
            false => None,
        })
    }
}

impl<T: Pack> Pack for Vec<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        (self.len() as u64).pack(out);
        for item in self {
            item.pack(out);
        }
    }

    fn unpack(input: &mut &[u8]) -> Option<Self> {
        // An item has at least one byte, so this limits the capacity for invalid lengths.
        let len = usize::try_from(u64::unpack(input)?).ok()?;
        let mut items = Self::with_capacity(len.min(input.len()));
        for _ in 0..len {
            items.push(T::unpack(input)?);
        }
        Some(items)
    }
}

macro_rules! tuples {
    ($(($($name:ident),*))*) => {
        $(impl<$($name: Pack),*> Pack for ($($name,)*) {
            #[expect(non_snake_case, reason = "the macro uses one name for a type and its value")]
            fn pack(&self, out: &mut Vec<u8>) {
                let ($($name,)*) = self;
                $($name.pack(out);)*
            }

            fn unpack(input: &mut &[u8]) -> Option<Self> {
                Some(($($name::unpack(input)?,)*))
            }
        })*
    };
}

tuples! { (A, B) (A, B, C) (A, B, C, D) }

/// All fields in the given order. A missing field is a compile error.
macro_rules! structures {
    ($($type:ident { $($field:ident),* $(,)? })*) => {
        $(impl Pack for $type {
            fn pack(&self, out: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                $($field.pack(out);)*
            }

            fn unpack(input: &mut &[u8]) -> Option<Self> {
                $(let $field = Pack::unpack(input)?;)*
                Some(Self { $($field),* })
            }
        })*
    };
}

structures! {
    ShapeSpec { id, kind, members, root, error }
    MemberSpec {
        name, target, flags, json_name, xml_name, xml_namespace, ec2_name, timestamp_format,
        location, location_name, media_type, default_json, constraints,
    }
    ConstraintSpec { length, range, pattern, unique_items, values }
    EnumValueSpec { value, is_internal }
    OperationSpec {
        id, input, output, errors, http, host_prefix, xmlrpc_method, request_compression,
        http_checksum, flags,
    }
    ServiceSpec {
        id, version, protocols, operations, errors, xml_namespace, sdk_id, endpoint_prefix,
        signing_name, flags,
    }
}

impl Pack for ShapeRef {
    fn pack(&self, out: &mut Vec<u8>) {
        self.index().pack(out);
    }

    fn unpack(input: &mut &[u8]) -> Option<Self> {
        Some(Self::at(u32::unpack(input)?))
    }
}

macro_rules! flags {
    ($($type:ident),*) => {
        $(impl Pack for $type {
            fn pack(&self, out: &mut Vec<u8>) {
                self.bits().pack(out);
            }

            fn unpack(input: &mut &[u8]) -> Option<Self> {
                Some(Self::from_bits(u16::unpack(input)?))
            }
        })*
    };
}

flags!(MemberFlags, OperationFlags, ServiceFlags);

/// The position of the variant in the list.
macro_rules! enums {
    ($($type:ident { $($variant:ident),* $(,)? })*) => {
        $(impl Pack for $type {
            fn pack(&self, out: &mut Vec<u8>) {
                let all = [$(Self::$variant),*];
                let position = all.iter().position(|variant| variant == self);
                (position.unwrap_or(all.len()) as u64).pack(out);
            }

            fn unpack(input: &mut &[u8]) -> Option<Self> {
                let all = [$(Self::$variant),*];
                all.get(usize::try_from(u64::unpack(input)?).ok()?).copied()
            }
        })*
    };
}

enums! {
    ShapeKind {
        BigDecimal, BigInteger, Blob, Boolean, Byte, Document, Double, Enum, Float, IntEnum,
        Integer, List, Long, Map, Short, String, Structure, Timestamp, Union,
    }
    TimestampFormat { DateTime, EpochSeconds, HttpDate }
    Location {
        Body, Header, Label, Payload, PrefixHeaders, Query, QueryParams, StatusCode,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NameEncoding, SchemaSet};

    fn sample() -> SchemaBuilder {
        let mut builder = SchemaBuilder::new();
        let string = builder.shape(ShapeKind::String, "smithy.api#String");
        let city = builder.shape(ShapeKind::Structure, "example#City");
        let mut member = MemberSpec::new("name", string)
            .flag(MemberFlags::REQUIRED)
            .json_name("n")
            .xml_name("Name")
            .xml_namespace(Some("p"), "http://example.com/")
            .timestamp_format(TimestampFormat::HttpDate)
            .location(Location::Header, "X-Name");
        member.ec2_name = Some("Ec2".to_owned());
        member.media_type = "text/plain".to_owned();
        member.constraints.length = Some((Some(1), None));
        member.constraints.range = Some((None, Some("-0.5".to_owned())));
        member.constraints.pattern = Some("^a".to_owned());
        member.constraints.unique_items = true;
        for value in [Ok("a".to_owned()), Err(-1), Err(i32::MIN), Err(i32::MAX)] {
            member.constraints.values.push(EnumValueSpec {
                value,
                is_internal: true,
            });
        }
        builder.member(city, member);
        let mut other = MemberSpec::new("note", string);
        other.default_json = Some("\"none\"".to_owned());
        builder.member(city, other);
        builder.error(city, 404, true, Some(false), None);
        let mut operation = OperationSpec::new("example#GetCity", city, city);
        operation.http = Some(("GET".to_owned(), "/".to_owned(), 200));
        operation.errors = vec![city];
        let operation = builder.operation(operation);
        builder.service(ServiceSpec {
            id: "example#Weather".to_owned(),
            operations: vec![operation],
            ..ServiceSpec::default()
        });
        builder
    }

    /// Formats all arrays of a set.
    fn format_set(set: &SchemaSet<'_>) -> String {
        let runs: Vec<Vec<u8>> = set
            .shapes()
            .flat_map(|shape| shape.members())
            .map(|member| member.run(NameEncoding::XmlOpen).as_bytes().to_vec())
            .collect();
        format!("{:?} {runs:?}", set.parts())
    }

    #[test]
    fn builders_round_trip() {
        let bytes = sample().to_compact();
        let copy = SchemaBuilder::from_compact(&bytes).unwrap();
        assert_eq!(copy.to_compact(), bytes);
        let (one, other) = (sample().finish().unwrap(), copy.finish().unwrap());
        assert_eq!(format_set(&one), format_set(&other));
    }

    #[test]
    fn invalid_bytes_are_rejected() {
        let bytes = sample().to_compact();
        for len in 0..bytes.len() {
            assert!(SchemaBuilder::from_compact(&bytes[..len]).is_err(), "{len}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(SchemaBuilder::from_compact(&longer).is_err());
        let mut newer = bytes;
        newer[0] = 2;
        assert!(SchemaBuilder::from_compact(&newer).is_err());
    }
}
