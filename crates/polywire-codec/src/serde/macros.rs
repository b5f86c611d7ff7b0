//! Macros for implementations of serde's traits.

/// Implements the traits for lists, tuples and structures with the methods `element`, `member` and
/// `finish` of a type.
macro_rules! impl_compound {
    ([$($generics:tt)*] $type:ty) => {
        crate::serde::impl_compound!(
            @elements [$($generics)*] $type, SerializeSeq::serialize_element);
        crate::serde::impl_compound!(
            @elements [$($generics)*] $type, SerializeTuple::serialize_element);
        crate::serde::impl_compound!(
            @elements [$($generics)*] $type, SerializeTupleStruct::serialize_field);
        crate::serde::impl_compound!(
            @elements [$($generics)*] $type, SerializeTupleVariant::serialize_field);
        crate::serde::impl_compound!(@members [$($generics)*] $type, SerializeStruct);
        crate::serde::impl_compound!(@members [$($generics)*] $type, SerializeStructVariant);
    };
    (@elements [$($generics:tt)*] $type:ty, $trait:ident::$method:ident) => {
        impl<$($generics)*> ::serde::ser::$trait for $type {
            type Ok = ();
            type Error = polywire_schema::Error;

            #[inline]
            fn $method<T: ::serde::Serialize + ?Sized>(
                &mut self,
                value: &T,
            ) -> ::std::result::Result<(), polywire_schema::Error> {
                self.element(value)
            }

            #[inline]
            fn end(self) -> ::std::result::Result<(), polywire_schema::Error> {
                self.finish()
            }
        }
    };
    (@members [$($generics:tt)*] $type:ty, $trait:ident) => {
        impl<$($generics)*> ::serde::ser::$trait for $type {
            type Ok = ();
            type Error = polywire_schema::Error;

            #[inline]
            fn serialize_field<T: ::serde::Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> ::std::result::Result<(), polywire_schema::Error> {
                self.member(name, value)
            }

            #[inline]
            fn end(self) -> ::std::result::Result<(), polywire_schema::Error> {
                self.finish()
            }
        }
    };
}

/// Defines methods of a `Serializer` that return an error.
macro_rules! unsupported {
    ($error:expr; $($method:ident($($type:ty),*) -> $ok:ty;)*) => {
        $(fn $method(self, $(_: $type),*) -> ::std::result::Result<$ok, polywire_schema::Error> {
            Err($error)
        })*
    };
}

pub(crate) use {impl_compound, unsupported};
