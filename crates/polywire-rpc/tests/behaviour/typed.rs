//! Typed handlers and typed calls on all three wires. The structures are written by hand in the
//! form of generated code.

use polywire_protocol::{Fault, FaultKind};
use polywire_rpc::{CallError, Context, typed};
use polywire_schema::{
    Decode, DecodeStructure, Decoder, END, Encode, Encoder, Error, ErrorKind, Map, Member, Text,
    Timestamp,
};

use crate::support::{SECRET, Site, WIRES, builder};

/// The input of `Create`.
#[derive(Clone, Debug, Default, PartialEq)]
struct CreateInput {
    name: Text,
    tags: Option<Vec<Text>>,
    when: Option<Timestamp>,
}

/// The output of `Create`.
#[derive(Clone, Debug, PartialEq)]
struct CreateOutput {
    id: i64,
    name: Text,
    tags: Option<Vec<Text>>,
    when: Option<Timestamp>,
}

fn put<T: Encode, E: Encoder + ?Sized>(value: Option<&T>, at: Member<'_>, encoder: &mut E) {
    if let Some(value) = value
        && encoder.member(at)
    {
        value.encode(at, encoder);
    }
}

impl Encode for CreateInput {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        let shape = at.target();
        let present = 1 + usize::from(self.tags.is_some()) + usize::from(self.when.is_some());
        encoder.begin_structure(at, present);
        put(Some(&self.name), shape.member(0), encoder);
        put(self.tags.as_ref(), shape.member(1), encoder);
        put(self.when.as_ref(), shape.member(2), encoder);
        encoder.end_structure(at);
    }
}

#[derive(Debug, Default)]
struct CreateInputBuilder {
    name: Option<Text>,
    tags: Option<Vec<Text>>,
    when: Option<Timestamp>,
}

impl<'de> Decode<'de> for CreateInput {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let mut builder = CreateInputBuilder::default();
        Self::decode_part(&mut builder, at, decoder)?;
        Self::build(builder, at, decoder)
    }
}

impl<'de> DecodeStructure<'de> for CreateInput {
    type Builder = CreateInputBuilder;

    fn decode_part<D: Decoder<'de> + ?Sized>(
        builder: &mut CreateInputBuilder,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        let shape = at.target();
        let mut seq = decoder.structure(at)?;
        loop {
            match decoder.member(shape, &mut seq)? {
                0 => builder.name = Some(Decode::decode(shape.member(0), decoder)?),
                1 => builder.tags = Some(Decode::decode(shape.member(1), decoder)?),
                2 => builder.when = Some(Decode::decode(shape.member(2), decoder)?),
                END => return Ok(()),
                _ => return Err(decoder.error(ErrorKind::Internal, "a member of CreateInput")),
            }
        }
    }

    fn build<D: Decoder<'de> + ?Sized>(
        builder: CreateInputBuilder,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<Self, Error> {
        if builder.name.is_none() {
            decoder.missing(at.target().member(0))?;
        }
        Ok(Self {
            name: builder.name.unwrap_or_default(),
            tags: builder.tags,
            when: builder.when,
        })
    }
}

impl Encode for CreateOutput {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        let shape = at.target();
        let present = 2 + usize::from(self.tags.is_some()) + usize::from(self.when.is_some());
        encoder.begin_structure(at, present);
        put(Some(&self.id), shape.member(0), encoder);
        put(Some(&self.name), shape.member(1), encoder);
        put(self.tags.as_ref(), shape.member(2), encoder);
        put(self.when.as_ref(), shape.member(3), encoder);
        encoder.end_structure(at);
    }
}

#[derive(Debug, Default)]
struct CreateOutputBuilder {
    id: Option<i64>,
    input: CreateInputBuilder,
}

impl<'de> Decode<'de> for CreateOutput {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let mut builder = CreateOutputBuilder::default();
        Self::decode_part(&mut builder, at, decoder)?;
        Self::build(builder, at, decoder)
    }
}

impl<'de> DecodeStructure<'de> for CreateOutput {
    type Builder = CreateOutputBuilder;

    fn decode_part<D: Decoder<'de> + ?Sized>(
        builder: &mut CreateOutputBuilder,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        let shape = at.target();
        let mut seq = decoder.structure(at)?;
        loop {
            match decoder.member(shape, &mut seq)? {
                0 => builder.id = Some(Decode::decode(shape.member(0), decoder)?),
                1 => builder.input.name = Some(Decode::decode(shape.member(1), decoder)?),
                2 => builder.input.tags = Some(Decode::decode(shape.member(2), decoder)?),
                3 => builder.input.when = Some(Decode::decode(shape.member(3), decoder)?),
                END => return Ok(()),
                _ => return Err(decoder.error(ErrorKind::Internal, "a member of CreateOutput")),
            }
        }
    }

    fn build<D: Decoder<'de> + ?Sized>(
        builder: CreateOutputBuilder,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<Self, Error> {
        let shape = at.target();
        for (ordinal, missing) in [(0, builder.id.is_none()), (1, builder.input.name.is_none())] {
            if missing {
                decoder.missing(shape.member(ordinal))?;
            }
        }
        Ok(Self {
            id: builder.id.unwrap_or_default(),
            name: builder.input.name.unwrap_or_default(),
            tags: builder.input.tags,
            when: builder.input.when,
        })
    }
}

async fn create(input: CreateInput, _: Context) -> Result<CreateOutput, Fault> {
    match &*input.name {
        "taken" => {
            let details = Map::from_iter([("message", "there is one already")]);
            Err(Fault::modelled("example.wire#Busy", details))
        }
        "cursed" => panic!("{SECRET}"),
        _ => Ok(CreateOutput {
            id: 1 << 40,
            name: input.name,
            tags: input.tags,
            when: input.when,
        }),
    }
}

async fn site() -> Site {
    Site::start(builder().operation("Create", typed(create))).await
}

#[tokio::test]
async fn typed_handlers_and_typed_calls() {
    let site = site().await;
    for kind in WIRES {
        let client = site.client(kind).0;
        let input = CreateInput {
            name: Text::from("a name that does not fit twenty-two bytes"),
            tags: Some(vec!["a".into(), "ö".into(), "".into()]),
            when: Some(Timestamp::new(1_793_534_400, 0)),
        };
        let output: CreateOutput = client.call_typed("Create", &input).await.unwrap();
        let expected = CreateOutput {
            id: 1 << 40,
            name: input.name.clone(),
            tags: input.tags.clone(),
            when: input.when,
        };
        assert_eq!(output, expected, "{kind}");

        let least = CreateInput {
            name: "n".into(),
            ..CreateInput::default()
        };
        let output: CreateOutput = client.call_typed("Create", &least).await.unwrap();
        assert_eq!((&*output.name, output.tags, output.when), ("n", None, None));
    }
}

#[tokio::test]
async fn typed_and_dynamic_sides_interoperate() {
    let typed_site = site().await;
    let dynamic_site = Site::plain().await;
    for kind in WIRES {
        // A dynamic call to a typed handler.
        let input = r#"{"name":"n","tags":["t"],"when":"2026-11-01T12:00:00Z"}"#;
        let output = typed_site.client(kind).call("Create", input).await.unwrap();
        let expected =
            r#"{"id":1099511627776,"name":"n","tags":["t"],"when":"2026-11-01T12:00:00Z"}"#;
        assert_eq!(output, expected, "{kind}");
        // A typed call to a dynamic handler.
        let input = CreateInput {
            name: "n".into(),
            tags: Some(Vec::new()),
            when: None,
        };
        let client = dynamic_site.client(kind).0;
        let output: CreateOutput = client.call_typed("Create", &input).await.unwrap();
        assert_eq!((output.id, output.tags), (7, Some(Vec::new())), "{kind}");
    }
}

#[tokio::test]
async fn typed_faults() {
    let site = site().await;
    for kind in WIRES {
        let client = site.client(kind);
        let fault = client.fault("Create", r#"{"name":"taken"}"#).await;
        assert_eq!(fault.shape(), "example.wire#Busy", "{kind}");
        let fault = client.fault("Create", r#"{"name":"cursed"}"#).await;
        assert_eq!(fault.kind(), FaultKind::Internal, "{kind}");
        assert_eq!(fault.message(), "an internal error occurred", "{kind}");
        let fault = client.fault("Create", "{}").await;
        assert_eq!(fault.kind(), FaultKind::Invalid, "{kind}");
        assert!(fault.message().contains("'/name'"), "{kind}: {fault}");

        let typed: Result<CreateOutput, CallError> = client
            .0
            .call_typed(
                "Create",
                &CreateInput {
                    name: "taken".into(),
                    ..CreateInput::default()
                },
            )
            .await;
        let error = typed.unwrap_err();
        assert_eq!(error.fault().map(Fault::shape), Some("example.wire#Busy"));
    }
}

#[tokio::test]
async fn a_handler_with_the_type_of_another_operation_is_an_error() {
    // A typed handler of the wrong operation is a bug in the program. The reply does not name the
    // type.
    let site = Site::start(builder().operation("Labels", typed(create))).await;
    let reply = site
        .send(crate::support::request(
            "GET /labels/a/1/true/1/2026-11-01T12:00:00Z/1/Sun,%2001%20Nov%202026%2012:00:00%20GMT/red",
            &[],
            "",
        ))
        .await;
    assert!(reply.status == 400 || reply.status == 500, "{reply:?}");
    assert!(!reply.text().contains("CreateInput"), "{reply:?}");
    site.assert_still_serving().await;
}
