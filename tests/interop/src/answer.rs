//! Answers in a comparable form. Protocols write timestamps and blobs differently, and the model
//! defines their types.

use polywire::codec::json::{self, JsonDecoder, JsonEncoder, JsonProfile};
use polywire::model::Loader;
use polywire::prelude::*;
use polywire::schema::{Encode, decode_structure};

use crate::workspace;

/// The model of the example service.
#[derive(Debug)]
pub struct Weather {
    service: ServiceHandle,
}

impl Weather {
    /// Reads the model from the workspace.
    ///
    /// # Panics
    ///
    /// The model cannot be read.
    #[must_use]
    pub fn load() -> Self {
        let file = workspace().join("crates/polywire-cli/models/weather.smithy");
        let assembled = match Loader::new().add_file(file).assemble() {
            Ok(assembled) => assembled,
            Err(error) => panic!("{error}"),
        };
        let service = polywire::service_of(&assembled.model, None).unwrap();
        Self { service }
    }

    /// The service, for our clients.
    #[must_use]
    pub fn service(&self) -> ServiceHandle {
        self.service.clone()
    }

    /// The output of an operation from JSON, in a canonical form: members in the order of the
    /// model, timestamps in the format of the model.
    ///
    /// # Panics
    ///
    /// The JSON is not an output of the operation.
    #[must_use]
    pub fn output(&self, operation: &str, value: &Value) -> String {
        let bytes = json::write_value(value).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let operation = self.service.find_operation(operation).unwrap();
        let shape = operation.output();
        let mut map = Map::new();
        let mut read = || {
            let mut decoder = JsonDecoder::from_str(&text, JsonProfile::HUMAN, &Limits::DEFAULT)?;
            decode_structure(&mut map, shape.root(), &mut decoder)?;
            decoder.finish()
        };
        if let Err(error) = read() {
            panic!("{}: {error}: {text}", operation.name());
        }
        let mut encoder = JsonEncoder::new(JsonProfile::HUMAN, Vec::new());
        Value::Map(map).encode(shape.root(), &mut encoder);
        String::from_utf8(encoder.finish().unwrap()).unwrap()
    }
}
