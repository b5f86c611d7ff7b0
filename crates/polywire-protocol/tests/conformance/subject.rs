//! What a case travels through: dynamic values, or a generated type.

use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::{Dynamic, Message, Slot, Typed};
use polywire_protocol::{Fault, Protocol, ReadPlan};
use polywire_schema::{
    Body, DecodeStructure, Encode, Error, ErrorKind, Limits, Map, Operation, Schema, Value,
    decode_structure,
};

/// One kind of structures: how they are made of what a case says, and of what
/// a protocol reads.
pub(crate) trait Subject {
    /// The structure that a case gives as a node.
    fn of_params(&self, shape: Schema<'_>, params: &str) -> Result<Box<dyn Held>, Error>;

    /// Server: the input of a call.
    fn decode_input(
        &self,
        protocol: &dyn Protocol,
        operation: Operation<'_>,
        request: &ReadPlan<'_>,
    ) -> Result<Box<dyn Held>, Fault>;

    /// Client: the output of a call.
    fn decode_output(
        &self,
        protocol: &dyn Protocol,
        operation: Operation<'_>,
        answer: &Answer<'_>,
    ) -> Result<Box<dyn Held>, Error>;

    /// Client: an error of the model.
    fn decode_error(
        &self,
        protocol: &dyn Protocol,
        error: Schema<'_>,
        answer: &Answer<'_>,
    ) -> Result<Box<dyn Held>, Error>;
}

/// A response, and what it may cost.
pub(crate) struct Answer<'a> {
    pub(crate) head: &'a http::response::Parts,
    pub(crate) body: &'a Body,
    pub(crate) limits: &'a Limits,
}

/// A structure of some kind.
pub(crate) trait Held {
    /// As a message for a protocol.
    fn with_message(&self, write: &mut dyn FnMut(&dyn Message));

    /// As the members of an error.
    fn to_map(&self, shape: Schema<'_>) -> Map;

    /// As JSON, to be compared.
    fn show(&self, shape: Schema<'_>) -> String;
}

/// Structures as maps.
pub(crate) struct Maps;

impl Held for Map {
    fn with_message(&self, write: &mut dyn FnMut(&dyn Message)) {
        write(&Dynamic(&Value::Map(self.clone())));
    }

    fn to_map(&self, _: Schema<'_>) -> Map {
        self.clone()
    }

    fn show(&self, shape: Schema<'_>) -> String {
        show(self, shape)
    }
}

impl Subject for Maps {
    fn of_params(&self, shape: Schema<'_>, params: &str) -> Result<Box<dyn Held>, Error> {
        let mut decoder = JsonDecoder::from_str(params, JsonProfile::NODE, &Limits::DEFAULT)?;
        let mut map = Map::new();
        decode_structure(&mut map, shape.root(), &mut decoder)?;
        Ok(Box::new(map))
    }

    fn decode_input(
        &self,
        protocol: &dyn Protocol,
        operation: Operation<'_>,
        request: &ReadPlan<'_>,
    ) -> Result<Box<dyn Held>, Fault> {
        let mut map = Map::new();
        protocol.decode_input(operation, request, &mut map)?;
        Ok(Box::new(map))
    }

    fn decode_output(
        &self,
        protocol: &dyn Protocol,
        operation: Operation<'_>,
        answer: &Answer<'_>,
    ) -> Result<Box<dyn Held>, Error> {
        let mut map = Map::new();
        protocol.decode_output(operation, answer.head, answer.body, answer.limits, &mut map)?;
        Ok(Box::new(map))
    }

    fn decode_error(
        &self,
        protocol: &dyn Protocol,
        error: Schema<'_>,
        answer: &Answer<'_>,
    ) -> Result<Box<dyn Held>, Error> {
        let mut map = Map::new();
        protocol.decode_error(error, answer.head, answer.body, answer.limits, &mut map)?;
        Ok(Box::new(map))
    }
}

/// Structures of a generated type.
pub(crate) struct Generated<T>(pub(crate) std::marker::PhantomData<T>);

/// A value of a generated type.
struct HeldTyped<T>(T);

impl<T: Encode> Held for HeldTyped<T> {
    fn with_message(&self, write: &mut dyn FnMut(&dyn Message)) {
        write(&Typed(&self.0));
    }

    fn to_map(&self, shape: Schema<'_>) -> Map {
        match polywire_schema::to_value(&self.0, shape.root()) {
            Ok(Value::Map(map)) => map,
            other => panic!("{}: {other:?}", shape.id()),
        }
    }

    fn show(&self, shape: Schema<'_>) -> String {
        show(&self.0, shape)
    }
}

impl<T> Generated<T>
where
    T: for<'de> DecodeStructure<'de> + Encode + 'static,
{
    fn held<'de>(slot: Slot<'de, T>) -> Result<Box<dyn Held>, Error> {
        match slot.into_value() {
            Some(value) => Ok(Box::new(HeldTyped(value))),
            None => Err(Error::new(ErrorKind::Internal).expected("a call of `finish`")),
        }
    }
}

impl<T> Subject for Generated<T>
where
    T: for<'de> DecodeStructure<'de> + Encode + 'static,
{
    fn of_params(&self, shape: Schema<'_>, params: &str) -> Result<Box<dyn Held>, Error> {
        let mut decoder = JsonDecoder::from_str(params, JsonProfile::NODE, &Limits::DEFAULT)?;
        Ok(Box::new(HeldTyped(T::decode(shape.root(), &mut decoder)?)))
    }

    fn decode_input(
        &self,
        protocol: &dyn Protocol,
        operation: Operation<'_>,
        request: &ReadPlan<'_>,
    ) -> Result<Box<dyn Held>, Fault> {
        let mut slot = Slot::<T>::new();
        protocol.decode_input(operation, request, &mut slot)?;
        Ok(Self::held(slot)?)
    }

    fn decode_output(
        &self,
        protocol: &dyn Protocol,
        operation: Operation<'_>,
        answer: &Answer<'_>,
    ) -> Result<Box<dyn Held>, Error> {
        let mut slot = Slot::<T>::new();
        protocol.decode_output(
            operation,
            answer.head,
            answer.body,
            answer.limits,
            &mut slot,
        )?;
        Self::held(slot)
    }

    fn decode_error(
        &self,
        protocol: &dyn Protocol,
        error: Schema<'_>,
        answer: &Answer<'_>,
    ) -> Result<Box<dyn Held>, Error> {
        let mut slot = Slot::<T>::new();
        protocol.decode_error(error, answer.head, answer.body, answer.limits, &mut slot)?;
        Self::held(slot)
    }
}

fn show<T: Encode>(value: &T, shape: Schema<'_>) -> String {
    let mut encoder = JsonEncoder::new(JsonProfile::HUMAN, Vec::new());
    value.encode(shape.root(), &mut encoder);
    match encoder.finish() {
        Ok(json) => String::from_utf8_lossy(&json).into_owned(),
        Err(error) => error.to_string(),
    }
}
