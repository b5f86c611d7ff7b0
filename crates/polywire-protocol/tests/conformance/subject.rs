//! The types that run a case: dynamic values, or a generated type.

use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::{Dynamic, Message, Sink, Slot, Typed};
use polywire_protocol::{Fault, Protocol, ReadPlan, Validator};
use polywire_schema::{
    Body, DecodeStructure, Encode, Error, ErrorKind, Limits, Map, Operation, Schema, Value,
    decode_structure,
};

/// A type of structures: how to create them from a case or from a message.
pub(crate) trait Subject {
    /// Creates the structure from the node of a case.
    fn of_params(&self, shape: Schema<'_>, params: &str) -> Result<Box<dyn TestValue>, Error>;

    /// Server: decodes the input of a call.
    fn decode_input(
        &self,
        protocol: &dyn Protocol,
        operation: Operation<'_>,
        request: &ReadPlan<'_>,
        validator: &Validator,
    ) -> Result<Box<dyn TestValue>, Fault>;

    /// Client: decodes the output of a call.
    fn decode_output(
        &self,
        protocol: &dyn Protocol,
        operation: Operation<'_>,
        answer: &EncodedResponse<'_>,
    ) -> Result<Box<dyn TestValue>, Error>;

    /// Client: decodes a modelled error.
    fn decode_error(
        &self,
        protocol: &dyn Protocol,
        error: Schema<'_>,
        answer: &EncodedResponse<'_>,
    ) -> Result<Box<dyn TestValue>, Error>;
}

/// A response and its limits.
pub(crate) struct EncodedResponse<'a> {
    pub(crate) head: &'a http::response::Parts,
    pub(crate) body: &'a Body,
    pub(crate) limits: &'a Limits,
}

/// A structure of any type.
pub(crate) trait TestValue {
    /// Returns the structure as a message for a protocol, without wrappers.
    fn with_message(&self, write: &mut dyn FnMut(&dyn Message));

    /// Returns the codec for its messages.
    fn codec(&self) -> Codec;

    /// Returns the structure as the members of an error.
    fn to_map(&self, shape: Schema<'_>) -> Map;

    /// Returns the structure as JSON, for comparison.
    fn show(&self, shape: Schema<'_>) -> String;
}

/// How messages are encoded and decoded: by the formats, or by their reference implementations.
#[derive(Clone, Copy)]
pub(crate) enum Codec {
    Formats,
    #[cfg(feature = "reference")]
    Reference,
}

impl Codec {
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

    /// Returns a fault that is encoded with this codec.
    pub(crate) fn fault(self, fault: Fault) -> Fault {
        match self {
            Self::Formats => fault,
            #[cfg(feature = "reference")]
            Self::Reference => fault.with_reference_codec(),
        }
    }
}

/// Structures as maps.
pub(crate) struct Maps(pub(crate) Codec);

struct MapValue {
    map: Map,
    codec: Codec,
}

impl TestValue for MapValue {
    fn with_message(&self, write: &mut dyn FnMut(&dyn Message)) {
        let value = Value::Map(self.map.clone());
        write(&Dynamic(&value));
    }

    fn codec(&self) -> Codec {
        self.codec
    }

    fn to_map(&self, _: Schema<'_>) -> Map {
        self.map.clone()
    }

    fn show(&self, shape: Schema<'_>) -> String {
        show(&self.map, shape)
    }
}

impl Maps {
    fn boxed(&self, map: Map) -> Box<dyn TestValue> {
        Box::new(MapValue { map, codec: self.0 })
    }
}

impl Subject for Maps {
    fn of_params(&self, shape: Schema<'_>, params: &str) -> Result<Box<dyn TestValue>, Error> {
        let mut decoder = JsonDecoder::from_str(params, JsonProfile::NODE, &Limits::DEFAULT)?;
        let mut map = Map::new();
        decode_structure(&mut map, shape.root(), &mut decoder)?;
        Ok(self.boxed(map))
    }

    fn decode_input(
        &self,
        protocol: &dyn Protocol,
        operation: Operation<'_>,
        request: &ReadPlan<'_>,
        validator: &Validator,
    ) -> Result<Box<dyn TestValue>, Fault> {
        let mut map = Map::new();
        let read = self.0.read(&mut map, |sink| {
            protocol.decode_input(operation, request, sink)
        });
        validator.check_decoded(protocol, operation, request, read, &map)?;
        Ok(self.boxed(map))
    }

    fn decode_output(
        &self,
        protocol: &dyn Protocol,
        operation: Operation<'_>,
        answer: &EncodedResponse<'_>,
    ) -> Result<Box<dyn TestValue>, Error> {
        let mut map = Map::new();
        self.0.read(&mut map, |sink| {
            protocol.decode_output(operation, answer.head, answer.body, answer.limits, sink)
        })?;
        Ok(self.boxed(map))
    }

    fn decode_error(
        &self,
        protocol: &dyn Protocol,
        error: Schema<'_>,
        answer: &EncodedResponse<'_>,
    ) -> Result<Box<dyn TestValue>, Error> {
        let mut map = Map::new();
        self.0.read(&mut map, |sink| {
            protocol.decode_error(error, answer.head, answer.body, answer.limits, sink)
        })?;
        Ok(self.boxed(map))
    }
}

/// Structures of a generated type.
pub(crate) struct Generated<T> {
    pub(crate) codec: Codec,
    pub(crate) of: std::marker::PhantomData<T>,
}

/// A value of a generated type.
struct TypedValue<T> {
    value: T,
    codec: Codec,
}

impl<T: Encode> TestValue for TypedValue<T> {
    fn with_message(&self, write: &mut dyn FnMut(&dyn Message)) {
        write(&Typed::new(&self.value));
    }

    fn codec(&self) -> Codec {
        self.codec
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
    fn boxed<'de>(&self, slot: Slot<'de, T>) -> Result<Box<dyn TestValue>, Error> {
        match slot.into_value() {
            Some(value) => Ok(Box::new(TypedValue {
                value,
                codec: self.codec,
            })),
            None => Err(Error::new(ErrorKind::Internal).expected("a call of `finish`")),
        }
    }
}

impl<T> Subject for Generated<T>
where
    T: for<'de> DecodeStructure<'de> + Encode + 'static,
{
    fn of_params(&self, shape: Schema<'_>, params: &str) -> Result<Box<dyn TestValue>, Error> {
        let mut decoder = JsonDecoder::from_str(params, JsonProfile::NODE, &Limits::DEFAULT)?;
        let value = T::decode(shape.root(), &mut decoder)?;
        Ok(Box::new(TypedValue {
            value,
            codec: self.codec,
        }))
    }

    fn decode_input(
        &self,
        protocol: &dyn Protocol,
        operation: Operation<'_>,
        request: &ReadPlan<'_>,
        validator: &Validator,
    ) -> Result<Box<dyn TestValue>, Fault> {
        let mut slot = Slot::<T>::new();
        let read = self.codec.read(&mut slot, |sink| {
            protocol.decode_input(operation, request, sink)
        });
        validator.check_decoded(protocol, operation, request, read, &slot)?;
        Ok(self.boxed(slot)?)
    }

    fn decode_output(
        &self,
        protocol: &dyn Protocol,
        operation: Operation<'_>,
        answer: &EncodedResponse<'_>,
    ) -> Result<Box<dyn TestValue>, Error> {
        let mut slot = Slot::<T>::new();
        self.codec.read(&mut slot, |sink| {
            protocol.decode_output(operation, answer.head, answer.body, answer.limits, sink)
        })?;
        self.boxed(slot)
    }

    fn decode_error(
        &self,
        protocol: &dyn Protocol,
        error: Schema<'_>,
        answer: &EncodedResponse<'_>,
    ) -> Result<Box<dyn TestValue>, Error> {
        let mut slot = Slot::<T>::new();
        self.codec.read(&mut slot, |sink| {
            protocol.decode_error(error, answer.head, answer.body, answer.limits, sink)
        })?;
        self.boxed(slot)
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
