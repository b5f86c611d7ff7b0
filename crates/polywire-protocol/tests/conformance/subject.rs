//! What a case travels through: dynamic values, or a generated type.

use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::{Dynamic, Message, Sink, Slot, Typed};
use polywire_protocol::{Fault, Protocol, ReadPlan, Validator};
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
        validator: &Validator,
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
    /// As a message for a protocol, before anything is wrapped around it.
    fn with_message(&self, write: &mut dyn FnMut(&dyn Message));

    /// What a message of it is to be written by.
    fn by(&self) -> By;

    /// As the members of an error.
    fn to_map(&self, shape: Schema<'_>) -> Map;

    /// As JSON, to be compared.
    fn show(&self, shape: Schema<'_>) -> String;
}

/// How bytes become structures and structures bytes: by the formats, or by
/// their reference implementations.
#[derive(Clone, Copy)]
pub(crate) enum By {
    Formats,
    #[cfg(feature = "reference")]
    Reference,
}

impl By {
    fn read<'de, T>(
        self,
        sink: &mut dyn Sink<'de>,
        read: impl FnOnce(&mut dyn Sink<'de>) -> T,
    ) -> T {
        match self {
            Self::Formats => read(sink),
            #[cfg(feature = "reference")]
            Self::Reference => read(&mut polywire_codec::reference::ReferenceSink(sink)),
        }
    }

    pub(crate) fn write<T>(
        self,
        message: &dyn Message,
        write: impl FnOnce(&dyn Message) -> T,
    ) -> T {
        match self {
            Self::Formats => write(message),
            #[cfg(feature = "reference")]
            Self::Reference => write(&polywire_codec::reference::Reference(message)),
        }
    }

    /// An error that is written so.
    pub(crate) fn fault(self, fault: Fault) -> Fault {
        match self {
            Self::Formats => fault,
            #[cfg(feature = "reference")]
            Self::Reference => fault.with_reference_codec(),
        }
    }
}

/// Structures as maps.
pub(crate) struct Maps(pub(crate) By);

struct HeldMap {
    map: Map,
    by: By,
}

impl Held for HeldMap {
    fn with_message(&self, write: &mut dyn FnMut(&dyn Message)) {
        let value = Value::Map(self.map.clone());
        write(&Dynamic(&value));
    }

    fn by(&self) -> By {
        self.by
    }

    fn to_map(&self, _: Schema<'_>) -> Map {
        self.map.clone()
    }

    fn show(&self, shape: Schema<'_>) -> String {
        show(&self.map, shape)
    }
}

impl Maps {
    fn held(&self, map: Map) -> Box<dyn Held> {
        Box::new(HeldMap { map, by: self.0 })
    }
}

impl Subject for Maps {
    fn of_params(&self, shape: Schema<'_>, params: &str) -> Result<Box<dyn Held>, Error> {
        let mut decoder = JsonDecoder::from_str(params, JsonProfile::NODE, &Limits::DEFAULT)?;
        let mut map = Map::new();
        decode_structure(&mut map, shape.root(), &mut decoder)?;
        Ok(self.held(map))
    }

    fn decode_input(
        &self,
        protocol: &dyn Protocol,
        operation: Operation<'_>,
        request: &ReadPlan<'_>,
        validator: &Validator,
    ) -> Result<Box<dyn Held>, Fault> {
        let mut map = Map::new();
        let read = self.0.read(&mut map, |sink| {
            protocol.decode_input(operation, request, sink)
        });
        validator.check_decoded(protocol, operation, request, read, &map)?;
        Ok(self.held(map))
    }

    fn decode_output(
        &self,
        protocol: &dyn Protocol,
        operation: Operation<'_>,
        answer: &Answer<'_>,
    ) -> Result<Box<dyn Held>, Error> {
        let mut map = Map::new();
        self.0.read(&mut map, |sink| {
            protocol.decode_output(operation, answer.head, answer.body, answer.limits, sink)
        })?;
        Ok(self.held(map))
    }

    fn decode_error(
        &self,
        protocol: &dyn Protocol,
        error: Schema<'_>,
        answer: &Answer<'_>,
    ) -> Result<Box<dyn Held>, Error> {
        let mut map = Map::new();
        self.0.read(&mut map, |sink| {
            protocol.decode_error(error, answer.head, answer.body, answer.limits, sink)
        })?;
        Ok(self.held(map))
    }
}

/// Structures of a generated type.
pub(crate) struct Generated<T> {
    pub(crate) by: By,
    pub(crate) of: std::marker::PhantomData<T>,
}

/// A value of a generated type.
struct HeldTyped<T> {
    value: T,
    by: By,
}

impl<T: Encode> Held for HeldTyped<T> {
    fn with_message(&self, write: &mut dyn FnMut(&dyn Message)) {
        write(&Typed::new(&self.value));
    }

    fn by(&self) -> By {
        self.by
    }

    fn to_map(&self, shape: Schema<'_>) -> Map {
        match polywire_schema::to_value(&self.value, shape.root()) {
            Ok(Value::Map(map)) => map,
            other => panic!("{}: {other:?}", shape.id()),
        }
    }

    fn show(&self, shape: Schema<'_>) -> String {
        show(&self.value, shape)
    }
}

impl<T> Generated<T>
where
    T: for<'de> DecodeStructure<'de> + Encode + 'static,
{
    fn held<'de>(&self, slot: Slot<'de, T>) -> Result<Box<dyn Held>, Error> {
        match slot.into_value() {
            Some(value) => Ok(Box::new(HeldTyped { value, by: self.by })),
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
        let value = T::decode(shape.root(), &mut decoder)?;
        Ok(Box::new(HeldTyped { value, by: self.by }))
    }

    fn decode_input(
        &self,
        protocol: &dyn Protocol,
        operation: Operation<'_>,
        request: &ReadPlan<'_>,
        validator: &Validator,
    ) -> Result<Box<dyn Held>, Fault> {
        let mut slot = Slot::<T>::new();
        let read = self.by.read(&mut slot, |sink| {
            protocol.decode_input(operation, request, sink)
        });
        validator.check_decoded(protocol, operation, request, read, &slot)?;
        Ok(self.held(slot)?)
    }

    fn decode_output(
        &self,
        protocol: &dyn Protocol,
        operation: Operation<'_>,
        answer: &Answer<'_>,
    ) -> Result<Box<dyn Held>, Error> {
        let mut slot = Slot::<T>::new();
        self.by.read(&mut slot, |sink| {
            protocol.decode_output(operation, answer.head, answer.body, answer.limits, sink)
        })?;
        self.held(slot)
    }

    fn decode_error(
        &self,
        protocol: &dyn Protocol,
        error: Schema<'_>,
        answer: &Answer<'_>,
    ) -> Result<Box<dyn Held>, Error> {
        let mut slot = Slot::<T>::new();
        self.by.read(&mut slot, |sink| {
            protocol.decode_error(error, answer.head, answer.body, answer.limits, sink)
        })?;
        self.held(slot)
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
