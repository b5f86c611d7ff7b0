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

/// Defines the methods of a `Serializer` for options and newtypes, which are written as their
/// contents.
macro_rules! serialize_transparent {
    () => {
        #[inline]
        fn serialize_some<T: ::serde::Serialize + ?Sized>(
            self,
            value: &T,
        ) -> ::std::result::Result<Self::Ok, polywire_schema::Error> {
            value.serialize(self)
        }

        #[inline]
        fn serialize_newtype_struct<T: ::serde::Serialize + ?Sized>(
            self,
            _: &'static str,
            value: &T,
        ) -> ::std::result::Result<Self::Ok, polywire_schema::Error> {
            value.serialize(self)
        }
    };
}

/// Defines the methods of a `Deserializer` for lists and tuples, which call a method.
macro_rules! deserialize_lists_with {
    ($method:ident) => {
        #[inline]
        fn deserialize_seq<V: Visitor<'de>>(
            self,
            visitor: V,
        ) -> ::std::result::Result<V::Value, polywire_schema::Error> {
            self.$method(visitor)
        }

        #[inline]
        fn deserialize_tuple<V: Visitor<'de>>(
            self,
            _: usize,
            visitor: V,
        ) -> ::std::result::Result<V::Value, polywire_schema::Error> {
            self.$method(visitor)
        }

        #[inline]
        fn deserialize_tuple_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            _: usize,
            visitor: V,
        ) -> ::std::result::Result<V::Value, polywire_schema::Error> {
            self.$method(visitor)
        }
    };
}

/// Defines the method of a `Deserializer` for newtypes, which are read as their contents.
macro_rules! deserialize_transparent {
    () => {
        fn deserialize_newtype_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            visitor: V,
        ) -> ::std::result::Result<V::Value, polywire_schema::Error> {
            visitor.visit_newtype_struct(self)
        }
    };
}

pub(crate) use {
    deserialize_lists_with, deserialize_transparent, impl_compound, serialize_transparent,
    unsupported,
};
