//! minicbor by hand, and aws-smithy-cbor as the code that smithy-rs generates. Both take the same
//! calls under other names.

use std::borrow::Cow;

use super::items::{Attribute, Binary, ConsumedCapacity, GetItemOutput, Input, Pairs};

/// A reader. `None` is its error, or the length of a map or list that ends with a break.
trait Source {
    fn map(&mut self) -> Option<Option<u64>>;
    fn list(&mut self) -> Option<Option<u64>>;
    fn is_break(&mut self) -> bool;
    fn key(&mut self) -> Option<Cow<'_, str>>;
    fn text(&mut self) -> Option<String>;
    fn bytes(&mut self) -> Option<Vec<u8>>;
    fn double(&mut self) -> Option<f64>;
    fn boolean(&mut self) -> Option<bool>;
    fn skip(&mut self) -> Option<()>;
}

impl Source for minicbor::Decoder<'_> {
    fn map(&mut self) -> Option<Option<u64>> {
        minicbor::Decoder::map(self).ok()
    }
    fn list(&mut self) -> Option<Option<u64>> {
        self.array().ok()
    }
    fn is_break(&mut self) -> bool {
        self.datatype()
            .is_ok_and(|found| found == minicbor::data::Type::Break)
    }
    fn key(&mut self) -> Option<Cow<'_, str>> {
        self.str().ok().map(Cow::Borrowed)
    }
    fn text(&mut self) -> Option<String> {
        self.str().ok().map(str::to_owned)
    }
    fn bytes(&mut self) -> Option<Vec<u8>> {
        minicbor::Decoder::bytes(self).ok().map(<[u8]>::to_vec)
    }
    fn double(&mut self) -> Option<f64> {
        self.f64().ok()
    }
    fn boolean(&mut self) -> Option<bool> {
        self.bool().ok()
    }
    fn skip(&mut self) -> Option<()> {
        minicbor::Decoder::skip(self).ok()
    }
}

impl Source for aws_smithy_cbor::Decoder<'_> {
    fn map(&mut self) -> Option<Option<u64>> {
        aws_smithy_cbor::Decoder::map(self).ok()
    }
    fn list(&mut self) -> Option<Option<u64>> {
        aws_smithy_cbor::Decoder::list(self).ok()
    }
    fn is_break(&mut self) -> bool {
        self.datatype()
            .is_ok_and(|found| found == aws_smithy_cbor::data::Type::Break)
    }
    fn key(&mut self) -> Option<Cow<'_, str>> {
        self.str().ok()
    }
    fn text(&mut self) -> Option<String> {
        self.string().ok()
    }
    fn bytes(&mut self) -> Option<Vec<u8>> {
        self.blob().ok().map(aws_smithy_types::Blob::into_inner)
    }
    fn double(&mut self) -> Option<f64> {
        aws_smithy_cbor::Decoder::double(self).ok()
    }
    fn boolean(&mut self) -> Option<bool> {
        aws_smithy_cbor::Decoder::boolean(self).ok()
    }
    fn skip(&mut self) -> Option<()> {
        aws_smithy_cbor::Decoder::skip(self).ok()
    }
}

pub(super) fn minicbor_read(cbor: &[u8]) -> Option<GetItemOutput<String>> {
    output(&mut minicbor::Decoder::new(cbor))
}

pub(super) fn aws_read(cbor: &[u8]) -> Option<GetItemOutput<String>> {
    output(&mut aws_smithy_cbor::Decoder::new(cbor))
}

/// The input of a request.
pub(super) fn input(cbor: &[u8]) -> Option<Input> {
    let mut source = minicbor::Decoder::new(cbor);
    let mut input = Input::default();
    let length = Source::map(&mut source)?;
    each(&mut source, length, |source| {
        match source.key()?.as_ref() {
            "TableName" => input.table_name = source.text()?,
            "Key" => input.key = Some(map(source)?),
            "Item" => input.item = Some(map(source)?),
            _ => Source::skip(source)?,
        }
        Some(())
    })?;
    Some(input)
}

/// Calls `item` once for each item or entry.
fn each<S: Source>(
    source: &mut S,
    length: Option<u64>,
    mut item: impl FnMut(&mut S) -> Option<()>,
) -> Option<()> {
    match length {
        Some(length) => (0..length).try_for_each(|_| item(source)),
        None => {
            while !source.is_break() {
                item(source)?;
            }
            source.skip()
        }
    }
}

fn output<S: Source>(source: &mut S) -> Option<GetItemOutput<String>> {
    let mut output = GetItemOutput::default();
    let length = source.map()?;
    each(source, length, |source| {
        match source.key()?.as_ref() {
            "Item" => output.item = Some(map(source)?),
            "ConsumedCapacity" => output.consumed_capacity = Some(capacity(source)?),
            _ => source.skip()?,
        }
        Some(())
    })?;
    Some(output)
}

fn capacity<S: Source>(source: &mut S) -> Option<ConsumedCapacity<String>> {
    let mut capacity = ConsumedCapacity::default();
    let length = source.map()?;
    each(source, length, |source| {
        match source.key()?.as_ref() {
            "TableName" => capacity.table_name = Some(source.text()?),
            "CapacityUnits" => capacity.capacity_units = Some(source.double()?),
            "ReadCapacityUnits" => capacity.read_capacity_units = Some(source.double()?),
            "WriteCapacityUnits" => capacity.write_capacity_units = Some(source.double()?),
            _ => source.skip()?,
        }
        Some(())
    })?;
    Some(capacity)
}

fn map<S: Source>(source: &mut S) -> Option<Pairs<String>> {
    let length = source.map()?;
    let mut pairs = Vec::with_capacity(length.unwrap_or(0).min(1_000) as usize);
    each(source, length, |source| {
        let key = source.text()?;
        pairs.push((key, attribute(source)?));
        Some(())
    })?;
    Some(Pairs(pairs))
}

fn attribute<S: Source>(source: &mut S) -> Option<Attribute<String>> {
    let mut attribute = None;
    let length = source.map()?;
    each(source, length, |source| {
        let kind = match source.key()?.as_ref() {
            "S" => 0,
            "N" => 1,
            "B" => 2,
            "SS" => 3,
            "NS" => 4,
            "BS" => 5,
            "M" => 6,
            "L" => 7,
            "NULL" => 8,
            "BOOL" => 9,
            _ => 10,
        };
        attribute = Some(match kind {
            0 => Attribute::S(source.text()?),
            1 => Attribute::N(source.text()?),
            2 => Attribute::B(Binary(source.bytes()?)),
            3 => Attribute::SS(list(source, S::text)?),
            4 => Attribute::NS(list(source, S::text)?),
            5 => Attribute::BS(list(source, |source| source.bytes().map(Binary))?),
            6 => Attribute::M(map(source)?),
            7 => Attribute::L(list(source, self::attribute)?),
            8 => Attribute::NULL(source.boolean()?),
            9 => Attribute::BOOL(source.boolean()?),
            _ => return source.skip(),
        });
        Some(())
    })?;
    attribute
}

fn list<S: Source, T>(source: &mut S, item: impl Fn(&mut S) -> Option<T>) -> Option<Vec<T>> {
    let length = source.list()?;
    let mut items = Vec::with_capacity(length.unwrap_or(0).min(1_000) as usize);
    each(source, length, |source| {
        items.push(item(source)?);
        Some(())
    })?;
    Some(items)
}

/// A writer into memory, which does not fail.
trait Target {
    fn map(&mut self, length: usize);
    fn list(&mut self, length: usize);
    fn text(&mut self, text: &str);
    fn bytes(&mut self, bytes: &[u8]);
    fn boolean(&mut self, value: bool);
}

impl Target for minicbor::Encoder<&mut Vec<u8>> {
    fn map(&mut self, length: usize) {
        let _ = minicbor::Encoder::map(self, length as u64);
    }
    fn list(&mut self, length: usize) {
        let _ = self.array(length as u64);
    }
    fn text(&mut self, text: &str) {
        let _ = self.str(text);
    }
    fn bytes(&mut self, bytes: &[u8]) {
        let _ = minicbor::Encoder::bytes(self, bytes);
    }
    fn boolean(&mut self, value: bool) {
        let _ = self.bool(value);
    }
}

impl Target for aws_smithy_cbor::Encoder {
    fn map(&mut self, length: usize) {
        aws_smithy_cbor::Encoder::map(self, length);
    }
    fn list(&mut self, length: usize) {
        self.array(length);
    }
    fn text(&mut self, text: &str) {
        self.str(text);
    }
    fn bytes(&mut self, bytes: &[u8]) {
        self.blob(&aws_smithy_types::Blob::new(bytes));
    }
    fn boolean(&mut self, value: bool) {
        aws_smithy_cbor::Encoder::boolean(self, value);
    }
}

pub(super) fn minicbor_write(input: &Input, out: &mut Vec<u8>) {
    write(&mut minicbor::Encoder::new(out), input);
}

pub(super) fn aws_write(input: &Input, out: &mut Vec<u8>) {
    let mut encoder = aws_smithy_cbor::Encoder::new(std::mem::take(out));
    write(&mut encoder, input);
    *out = encoder.into_writer();
}

fn write<T: Target>(target: &mut T, input: &Input) {
    target.map(1 + usize::from(input.key.is_some()) + usize::from(input.item.is_some()));
    target.text("TableName");
    target.text(&input.table_name);
    if let Some(key) = &input.key {
        target.text("Key");
        write_map(target, key);
    }
    if let Some(item) = &input.item {
        target.text("Item");
        write_map(target, item);
    }
}

fn write_map<T: Target>(target: &mut T, pairs: &Pairs<String>) {
    target.map(pairs.0.len());
    for (key, value) in &pairs.0 {
        target.text(key);
        write_attribute(target, value);
    }
}

fn write_attribute<T: Target>(target: &mut T, attribute: &Attribute<String>) {
    target.map(1);
    match attribute {
        Attribute::S(text) => {
            target.text("S");
            target.text(text);
        }
        Attribute::N(text) => {
            target.text("N");
            target.text(text);
        }
        Attribute::B(bytes) => {
            target.text("B");
            target.bytes(&bytes.0);
        }
        Attribute::SS(items) => write_list(target, "SS", items, |at, text| at.text(text)),
        Attribute::NS(items) => write_list(target, "NS", items, |at, text| at.text(text)),
        Attribute::BS(items) => write_list(target, "BS", items, |at, bytes| at.bytes(&bytes.0)),
        Attribute::M(pairs) => {
            target.text("M");
            write_map(target, pairs);
        }
        Attribute::L(items) => write_list(target, "L", items, write_attribute),
        Attribute::NULL(value) => {
            target.text("NULL");
            target.boolean(*value);
        }
        Attribute::BOOL(value) => {
            target.text("BOOL");
            target.boolean(*value);
        }
    }
}

fn write_list<T: Target, I>(target: &mut T, name: &str, items: &[I], write: impl Fn(&mut T, &I)) {
    target.text(name);
    target.list(items.len());
    for item in items {
        write(target, item);
    }
}
