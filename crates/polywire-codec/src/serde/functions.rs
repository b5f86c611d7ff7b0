//! The functions that every format has for types of serde.

/// Defines `from_slice`, `from_reader`, `to_vec` and `to_writer` for the format of a module,
/// and for a text format `from_str` and `to_string`. The module has a module `serde`
/// with the functions `read` and `write`.
macro_rules! functions {
    (@text $name:literal) => {
        /// Reads a text as a type of serde, which can borrow from it.
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

        /// Writes a value of a type of serde as text.
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
                // Writers push only characters; this is the safe way to say so.
                polywire_schema::Error::new(polywire_schema::ErrorKind::Internal)
                    .in_format($name)
                    .expected(error.to_string())
            })
        }
    };
    ($name:literal) => {
        /// Reads a message as a type of serde, which can borrow from it.
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

        /// Reads a message as a type of serde: everything up to the end of the reader, which
        /// may be as long as [`Limits::DEFAULT`](polywire_schema::Limits::DEFAULT) allows.
        ///
        /// # Errors
        ///
        /// The reader fails, or as of [`from_slice`], with the error as the source.
        pub fn from_reader<T>(reader: impl std::io::Read) -> std::io::Result<T>
        where
            T: ::serde::de::DeserializeOwned,
        {
            let bytes = crate::serde::read_all(reader)?;
            from_slice(&bytes).map_err(crate::serde::io_error)
        }

        /// Writes a value of a type of serde.
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

        /// Writes a value of a type of serde to a writer, once it is complete.
        ///
        /// # Errors
        ///
        /// The writer fails, or as of [`to_vec`], with the error as the source.
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
