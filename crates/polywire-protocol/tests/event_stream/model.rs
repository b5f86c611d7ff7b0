//! A model with event streams in both directions, for all protocols that have them.

use bytes::Bytes;
use polywire_codec::Dynamic;
use polywire_model::Loader;
use polywire_protocol::event_stream::{
    EventCodec, EventMessage, EventOutcome, MessageDecoder, MessageLimits, stream_of,
};
use polywire_protocol::{Protocol, ProtocolKind};
use polywire_schema::{Direction, Error, Limits, Map, Member, Operation, SchemaSet, Value};

pub(crate) const KINDS: [ProtocolKind; 6] = [
    ProtocolKind::AwsJson1_0,
    ProtocolKind::AwsJson1_1,
    ProtocolKind::RestJson1,
    ProtocolKind::RestXml,
    ProtocolKind::RpcV2Cbor,
    ProtocolKind::RpcV2Json,
];

const MODEL: &str = r#"
$version: "2"
namespace example

service Robot { version: "1", operations: [Drive], errors: [Lost] }

@http(method: "POST", uri: "/drive/{name}")
operation Drive {
    input := {
        @required @httpLabel name: String
        @httpHeader("x-color") color: String
        @required @httpPayload commands: Events
    }
    output := {
        @required @httpHeader("x-speed") speed: Integer
        @required @httpPayload events: Events
    }
}

@streaming
union Events {
    moved: Moved
    all: AllHeaders
    picture: Picture
    note: Note
    page: Page
    position: Position
    choice: ChoiceEvent
    tree: Tree
    node: Node
    nothing: Nothing
    secret: Secret
    limited: Limited
    failed: Failed
}

structure Moved {
    @eventHeader at: Timestamp
    x: Double
    @required y: Double
    path: Points
    tags: Tags
    choice: Choice
    speed: Integer = 7
}

structure AllHeaders {
    @eventHeader boolean: Boolean
    @eventHeader byte: Byte
    @eventHeader short: Short
    @eventHeader integer: Integer
    @eventHeader long: Long
    @eventHeader blob: Blob
    @eventHeader string: String
    @eventHeader time: Timestamp
    @eventHeader color: Color
    @eventHeader number: Number
}

structure Picture { @eventHeader name: String, @eventPayload bytes: Blob }
structure Note { @eventPayload text: String }
structure Page { @eventPayload html: Html }
structure Position { @eventHeader id: Long, @eventPayload point: Point }
structure ChoiceEvent { @eventPayload choice: Choice }
structure Tree { @eventHeader name: String, @eventPayload child: Tree }
structure Node { @eventHeader id: String, label: String, nodes: Nodes }
structure Nothing {}
structure Limited {
    @length(max: 3) @eventHeader code: String
    @range(min: 1) count: Integer
}
structure Secret { @eventHeader pin: Pin, text: String }

@error("server")
structure Failed { @eventHeader code: Integer, message: String }

@error("client")
structure Lost { message: String }

@mediaType("text/html") string Html
@sensitive string Pin
enum Color { RED, GREEN }
intEnum Number { ONE = 1, TWO = 2 }
structure Point { x: Integer, y: Integer }
list Points { member: Point }
list Nodes { member: Node }
map Tags { key: String, value: String }
union Choice { point: Point, name: String, none: Unit }
"#;

pub(crate) fn set() -> SchemaSet<'static> {
    let assembled = Loader::new().add_text("robot.smithy", MODEL).assemble();
    let model = assembled.unwrap_or_else(|error| panic!("{error}")).model;
    model.schemas("example#Robot").unwrap().unwrap()
}

/// A protocol, and the operation of the model.
pub(crate) struct Subject<'s> {
    pub(crate) kind: ProtocolKind,
    pub(crate) protocol: Box<dyn Protocol>,
    pub(crate) operation: Operation<'s>,
}

impl<'s> Subject<'s> {
    pub(crate) fn new(set: &'s SchemaSet<'static>, kind: ProtocolKind) -> Self {
        let service = set.service(0);
        Self {
            kind,
            protocol: kind.build(service).unwrap(),
            operation: service.find_operation("Drive").unwrap(),
        }
    }

    pub(crate) fn codec(&self) -> &dyn EventCodec {
        self.protocol.event_codec().unwrap()
    }

    pub(crate) fn stream(&self, direction: Direction) -> Member<'s> {
        stream_of(self.operation, direction).unwrap()
    }

    pub(crate) fn encode(&self, direction: Direction, event: &Value) -> Result<Bytes, Error> {
        let stream = self.stream(direction);
        self.codec()
            .encode_event(direction, stream, &Dynamic(event))
    }

    pub(crate) fn decode(
        &self,
        direction: Direction,
        message: &EventMessage,
    ) -> Result<(EventOutcome<'s>, Value), Error> {
        let mut map = Map::new();
        let limits = Limits::DEFAULT;
        let stream = self.stream(direction);
        let codec = self.codec();
        let outcome = codec.decode_event(direction, stream, message, &limits, &mut map)?;
        Ok((outcome, Value::Map(map)))
    }

    /// Encodes an event and reads the message.
    pub(crate) fn message(&self, direction: Direction, event: &Value) -> EventMessage {
        message(&self.encode(direction, event).unwrap())
    }
}

/// Runs a test with each protocol.
pub(crate) fn each(test: impl Fn(&Subject<'_>)) {
    let set = set();
    for kind in KINDS {
        test(&Subject::new(&set, kind));
    }
}

/// Reads an encoded message.
pub(crate) fn message(encoded: &Bytes) -> EventMessage {
    let mut decoder = MessageDecoder::new(MessageLimits::DEFAULT);
    let message = decoder.decode(&mut encoded.clone()).unwrap();
    decoder.finish().unwrap();
    message.unwrap()
}

/// A map with one entry.
pub(crate) fn one(name: &str, value: impl Into<Value>) -> Value {
    Value::Map(Map::from_iter([(name, value.into())]))
}

/// A map with these entries.
pub(crate) fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(Map::from_iter(entries))
}
