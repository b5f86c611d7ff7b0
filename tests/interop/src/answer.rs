//! Answers, made comparable: wires differ in how they write a timestamp or a
//! blob, and the model tells what was meant.

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
    /// It cannot be read.
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

    /// The service, for clients of ours.
    #[must_use]
    pub fn service(&self) -> ServiceHandle {
        self.service.clone()
    }

    /// The output of an operation that a piece of JSON means, written in one
    /// way: members in the order of the model, timestamps as the model has
    /// them.
    ///
    /// # Panics
    ///
    /// It is no such output.
    #[must_use]
    pub fn output(&self, operation: &str, value: &Value) -> String {
        let bytes = json::to_vec(value).unwrap();
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
