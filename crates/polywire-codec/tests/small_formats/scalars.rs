//! Scalars of formats in which everything is text.

/// The methods of an encoder that come down to `self.scalar(at, text)`.
macro_rules! text_scalars {
    () => {
        fn boolean(&mut self, at: Member<'_>, value: bool) {
            self.scalar(at, if value { "true" } else { "false" });
        }

        fn integer(&mut self, at: Member<'_>, value: i64) {
            self.scalar(at, &value.to_string());
        }

        fn float(&mut self, at: Member<'_>, value: f32) {
            self.scalar(at, &value.to_string());
        }

        fn double(&mut self, at: Member<'_>, value: f64) {
            self.scalar(at, &value.to_string());
        }

        fn big_integer(&mut self, at: Member<'_>, value: &BigInteger) {
            self.scalar(at, value.as_str());
        }

        fn big_decimal(&mut self, at: Member<'_>, value: &BigDecimal) {
            self.scalar(at, value.as_str());
        }

        fn string(&mut self, at: Member<'_>, value: &str) {
            self.scalar(at, value);
        }

        fn fail(&mut self, error: Error) {
            self.error.get_or_insert(error);
        }
    };
}
pub(crate) use text_scalars;

/// The methods of a decoder that come down to `self.str(at)`.
macro_rules! text_values {
    ($format:literal) => {
        fn boolean(&mut self, at: Member<'_>) -> Result<bool, Error> {
            match &*self.str(at)? {
                "true" => Ok(true),
                "false" => Ok(false),
                _ => Err(self.error(ErrorKind::InvalidValue, "true or false")),
            }
        }

        fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
            let value = self.str(at)?.parse();
            value.map_err(|_| self.error(ErrorKind::InvalidValue, at.kind().describe()))
        }

        fn float(&mut self, at: Member<'_>) -> Result<f32, Error> {
            let value = self.str(at)?.parse();
            value.map_err(|_| self.error(ErrorKind::InvalidValue, at.kind().describe()))
        }

        fn double(&mut self, at: Member<'_>) -> Result<f64, Error> {
            let value = self.str(at)?.parse();
            value.map_err(|_| self.error(ErrorKind::InvalidValue, at.kind().describe()))
        }

        fn big_integer(&mut self, at: Member<'_>) -> Result<BigInteger, Error> {
            let value = self.str(at)?.parse();
            value.map_err(|_| self.error(ErrorKind::InvalidValue, at.kind().describe()))
        }

        fn big_decimal(&mut self, at: Member<'_>) -> Result<BigDecimal, Error> {
            let value = self.str(at)?.parse();
            value.map_err(|_| self.error(ErrorKind::InvalidValue, at.kind().describe()))
        }

        fn text(&mut self, at: Member<'_>) -> Result<Text, Error> {
            self.str(at).map(Text::from)
        }

        fn blob(&mut self, at: Member<'_>) -> Result<Blob, Error> {
            let text = self.str(at)?;
            base64::decode(text.as_bytes())
                .map_err(|_| self.error(ErrorKind::InvalidValue, "base64"))
        }

        fn any(&mut self) -> Result<Event, Error> {
            Err(self.error(ErrorKind::Internal, "a shape that the format has"))
        }

        fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
            let error = self.error(ErrorKind::Missing, "a required member");
            Err(error.found(at.name().to_owned()))
        }

        fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
            Error::new(kind)
                .in_format($format)
                .expected(expected)
                .at_offset(self.at)
        }
    };
}
pub(crate) use text_values;
