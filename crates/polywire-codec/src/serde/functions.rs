//! The functions for serde that every format has.

/// Defines `from_slice`, `from_reader`, `to_vec` and `to_writer` in the module of a format, or with
/// `@text`, `from_str` and `to_string`. They call `read`, `read_text` and `write` in the module
/// `serde` of the format.
macro_rules! functions {
    (@text $name:literal) => {
        /// Deserializes a text. The value can borrow from it.
        ///
        /// # Errors
        ///
        #[doc = concat!("The text is not ", $name, ", does not match the type, or exceeds")]
        /// [`Limits::DEFAULT`](polywire_schema::Limits::DEFAULT).
        pub fn from_str<'de, T>(text: &'de str) -> Result<T, polywire_schema::Error>
        where
            T: ::serde::Deserialize<'de>,
        {
            serde::read_text(text)
        }

        /// Serializes a value as text.
        ///
        /// # Errors
        ///
        #[doc = concat!("The value cannot be written as ", $name, ", or its type reports an error.")]
        pub fn to_string<T>(value: &T) -> Result<String, polywire_schema::Error>
        where
            T: ::serde::Serialize + ?Sized,
        {
            let bytes = to_vec(value)?;
            String::from_utf8(bytes).map_err(|error| {
                // Unreachable: the encoder writes valid UTF-8.
                polywire_schema::Error::new(polywire_schema::ErrorKind::Internal)
                    .in_format($name)
                    .expected(error.to_string())
            })
        }
    };
    ($name:literal) => {
        /// Deserializes a message. The value can borrow from it.
        ///
        /// # Errors
        ///
        #[doc = concat!("The bytes are not ", $name, ", do not match the type, or exceed")]
        /// [`Limits::DEFAULT`](polywire_schema::Limits::DEFAULT).
        pub fn from_slice<'de, T>(bytes: &'de [u8]) -> Result<T, polywire_schema::Error>
        where
            T: ::serde::Deserialize<'de>,
        {
            serde::read(bytes)
        }

        /// Deserializes a message from a reader, which is read to its end. The length is limited
        /// by [`Limits::DEFAULT`](polywire_schema::Limits::DEFAULT).
        ///
        /// # Errors
        ///
        /// The reader fails, or [`from_slice`] does. Errors of `from_slice` are wrapped with the
        /// kind `InvalidData`.
        pub fn from_reader<T>(reader: impl std::io::Read) -> std::io::Result<T>
        where
            T: ::serde::de::DeserializeOwned,
        {
            let bytes = crate::serde::read_all(reader)?;
            from_slice(&bytes).map_err(crate::serde::io_error)
        }

        /// Serializes a value.
        ///
        /// # Errors
        ///
        #[doc = concat!("The value cannot be written as ", $name, ", or its type reports an error.")]
        pub fn to_vec<T>(value: &T) -> Result<Vec<u8>, polywire_schema::Error>
        where
            T: ::serde::Serialize + ?Sized,
        {
            serde::write(value, Vec::new())
        }

        /// Serializes a value, and writes the complete message to a writer.
        ///
        /// # Errors
        ///
        /// The writer fails, or [`to_vec`] does. Errors of `to_vec` are wrapped with the kind
        /// `InvalidData`.
        pub fn to_writer<T>(mut writer: impl std::io::Write, value: &T) -> std::io::Result<()>
        where
            T: ::serde::Serialize + ?Sized,
        {
            let bytes = to_vec(value).map_err(crate::serde::io_error)?;
            writer.write_all(&bytes)
        }
    };
}

pub(crate) use functions;
