//! The measured shape: a batch of sensor readings, with codecs like those that the code
//! generator writes.

use polywire_schema::{
    Decode, Decoder, END, Encode, Encoder, Error, Member, MemberSpec, SchemaBuilder, SchemaSet,
    ShapeKind, Text,
};

/// The root of the document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// One hundred of them in the sample.
    pub readings: Vec<Reading>,
    /// A pagination token.
    pub next: Option<Text>,
}

/// One measurement of a station.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Always present, short.
    pub station: Text,
    /// Always present.
    pub sequence: i64,
    /// Absent from some readings.
    pub temperature: Option<f64>,
    /// Present in all readings of the sample.
    pub valid: Option<bool>,
    /// Up to three short strings.
    pub tags: Vec<Text>,
    /// A nested structure, absent from some readings.
    pub place: Option<Place>,
    /// A long string, absent from most readings.
    pub remark: Option<Text>,
}

/// Where a station is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// Short, some with characters outside ASCII.
    pub city: Text,
    /// In metres.
    pub height: Option<i32>,
}

/// The index of `Batch` in the schema set.
pub(super) const BATCH: u32 = 0;

pub(super) fn schemas() -> SchemaSet<'static> {
    let mut builder = SchemaBuilder::new();
    let batch = builder.shape(ShapeKind::Structure, "example#Batch");
    let reading = builder.shape(ShapeKind::Structure, "example#Reading");
    let place = builder.shape(ShapeKind::Structure, "example#Place");
    let readings = builder.shape(ShapeKind::List, "example#Readings");
    let tags = builder.shape(ShapeKind::List, "example#Tags");
    let string = builder.shape(ShapeKind::String, "smithy.api#String");
    let long = builder.shape(ShapeKind::Long, "smithy.api#Long");
    let integer = builder.shape(ShapeKind::Integer, "smithy.api#Integer");
    let double = builder.shape(ShapeKind::Double, "smithy.api#Double");
    let boolean = builder.shape(ShapeKind::Boolean, "smithy.api#Boolean");
    builder.member(readings, MemberSpec::new("member", reading));
    builder.member(tags, MemberSpec::new("member", string));
    builder.member(batch, MemberSpec::new("readings", readings));
    builder.member(batch, MemberSpec::new("next", string));
    for (name, target) in [
        ("station", string),
        ("sequence", long),
        ("temperature", double),
        ("valid", boolean),
        ("tags", tags),
        ("place", place),
        ("remark", string),
    ] {
        builder.member(reading, MemberSpec::new(name, target));
    }
    builder.member(place, MemberSpec::new("city", string));
    builder.member(place, MemberSpec::new("height", integer));
    match builder.finish() {
        Ok(set) => set,
        Err(error) => unreachable!("the shapes above are well formed: {error}"),
    }
}

/// A hundred readings: short and long strings, integers and doubles, some optional members
/// absent.
pub fn sample() -> Batch {
    let cities = [
        "Oslo",
        "Reykjavík",
        "São Paulo",
        "Ulaanbaatar",
        "Llanfairpwllgwyngyll-on-Sea",
    ];
    let reading = |index: usize| Reading {
        station: Text::from(format!("station-{index:04}")),
        sequence: 1_000_000_007 * index as i64,
        temperature: (!index.is_multiple_of(7)).then(|| f64::from(index as u32) * 0.25 - 12.5),
        valid: Some(index.is_multiple_of(3)),
        tags: ["fjord", "harbour", "automatic"][..index % 4]
            .iter()
            .map(|tag| Text::from(*tag))
            .collect(),
        place: (index % 5 != 4).then(|| Place {
            city: Text::from(cities[index % 5]),
            height: index.is_multiple_of(2).then_some(index as i32 * 3 - 20),
        }),
        remark: index
            .is_multiple_of(6)
            .then(|| Text::from("calibrated in spring, sensor replaced in the autumn before")),
    };
    Batch {
        readings: (0..100).map(reading).collect(),
        next: Some(Text::from("token-0100")),
    }
}

impl Encode for Batch {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        let shape = at.target();
        encoder.begin_structure(at, 1 + usize::from(self.next.is_some()));
        let member = shape.member(0);
        if encoder.member(member) {
            self.readings.encode(member, encoder);
        }
        if let Some(value) = &self.next {
            let member = shape.member(1);
            if encoder.member(member) {
                value.encode(member, encoder);
            }
        }
        encoder.end_structure(at);
    }
}

impl Encode for Reading {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        let shape = at.target();
        let present = 3
            + usize::from(self.temperature.is_some())
            + usize::from(self.valid.is_some())
            + usize::from(self.place.is_some())
            + usize::from(self.remark.is_some());
        encoder.begin_structure(at, present);
        let member = shape.member(0);
        if encoder.member(member) {
            self.station.encode(member, encoder);
        }
        let member = shape.member(1);
        if encoder.member(member) {
            self.sequence.encode(member, encoder);
        }
        if let Some(value) = &self.temperature {
            let member = shape.member(2);
            if encoder.member(member) {
                value.encode(member, encoder);
            }
        }
        if let Some(value) = &self.valid {
            let member = shape.member(3);
            if encoder.member(member) {
                value.encode(member, encoder);
            }
        }
        let member = shape.member(4);
        if encoder.member(member) {
            self.tags.encode(member, encoder);
        }
        if let Some(value) = &self.place {
            let member = shape.member(5);
            if encoder.member(member) {
                value.encode(member, encoder);
            }
        }
        if let Some(value) = &self.remark {
            let member = shape.member(6);
            if encoder.member(member) {
                value.encode(member, encoder);
            }
        }
        encoder.end_structure(at);
    }
}

impl Encode for Place {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        let shape = at.target();
        encoder.begin_structure(at, 1 + usize::from(self.height.is_some()));
        let member = shape.member(0);
        if encoder.member(member) {
            self.city.encode(member, encoder);
        }
        if let Some(value) = &self.height {
            let member = shape.member(1);
            if encoder.member(member) {
                value.encode(member, encoder);
            }
        }
        encoder.end_structure(at);
    }
}

impl<'de> Decode<'de> for Batch {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let shape = at.target();
        let mut value = Self::default();
        let mut seq = decoder.structure(at)?;
        loop {
            match decoder.member(shape, &mut seq)? {
                0 => value.readings.decode_into(shape.member(0), decoder)?,
                1 => value.next = Some(decoder.text(shape.member(1))?),
                END => return Ok(value),
                ordinal => unreachable!("no member {ordinal}"),
            }
        }
    }
}

impl<'de> Decode<'de> for Reading {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let shape = at.target();
        let mut value = Self::default();
        let mut seq = decoder.structure(at)?;
        loop {
            match decoder.member(shape, &mut seq)? {
                0 => value.station = decoder.text(shape.member(0))?,
                1 => value.sequence = decoder.integer(shape.member(1))?,
                2 => value.temperature = Some(decoder.double(shape.member(2))?),
                3 => value.valid = Some(decoder.boolean(shape.member(3))?),
                4 => value.tags.decode_into(shape.member(4), decoder)?,
                5 => value.place = Some(Place::decode(shape.member(5), decoder)?),
                6 => value.remark = Some(decoder.text(shape.member(6))?),
                END => return Ok(value),
                ordinal => unreachable!("no member {ordinal}"),
            }
        }
    }
}

impl<'de> Decode<'de> for Place {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let shape = at.target();
        let mut value = Self::default();
        let mut seq = decoder.structure(at)?;
        loop {
            match decoder.member(shape, &mut seq)? {
                0 => value.city = decoder.text(shape.member(0))?,
                1 => value.height = Some(i32::decode(shape.member(1), decoder)?),
                END => return Ok(value),
                ordinal => unreachable!("no member {ordinal}"),
            }
        }
    }
}
