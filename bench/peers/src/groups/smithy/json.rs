//! aws-smithy-json, called as the code that smithy-rs generates calls it.

use std::iter::Peekable;

use aws_smithy_json::deserialize::token::{
    expect_blob_or_null, expect_bool_or_null, expect_number_or_null, expect_start_object,
    expect_string_or_null, skip_value,
};
use aws_smithy_json::deserialize::{Token, error::DeserializeError, json_token_iter};
use aws_smithy_json::serialize::{JsonObjectWriter, JsonValueWriter};
use aws_smithy_types::Number;

use super::items::{Attribute, Binary, ConsumedCapacity, GetItemOutput, Input, Pairs};

type Tokens<'a, I> = Peekable<I>;
type Read<T> = Result<T, DeserializeError>;

pub(super) fn read(json: &[u8]) -> Option<GetItemOutput<String>> {
    let mut tokens = json_token_iter(json).peekable();
    output(&mut tokens).ok()
}

fn output<'a, I>(tokens: &mut Tokens<'a, I>) -> Read<GetItemOutput<String>>
where
    I: Iterator<Item = Read<Token<'a>>>,
{
    let mut output = GetItemOutput::default();
    expect_start_object(tokens.next())?;
    while let Some(key) = key(tokens)? {
        match key.as_ref() {
            "Item" => output.item = map(tokens)?,
            "ConsumedCapacity" => output.consumed_capacity = Some(capacity(tokens)?),
            _ => skip_value(tokens)?,
        }
    }
    Ok(output)
}

/// The next key of an object, or its end.
fn key<'a, I>(tokens: &mut Tokens<'a, I>) -> Read<Option<std::borrow::Cow<'a, str>>>
where
    I: Iterator<Item = Read<Token<'a>>>,
{
    match tokens.next().transpose()? {
        Some(Token::EndObject { .. }) => Ok(None),
        Some(Token::ObjectKey { key, .. }) => Ok(Some(key.to_unescaped()?)),
        other => Err(DeserializeError::custom(format!("a key, not {other:?}"))),
    }
}

fn string<'a, I>(tokens: &mut Tokens<'a, I>) -> Read<Option<String>>
where
    I: Iterator<Item = Read<Token<'a>>>,
{
    let text = expect_string_or_null(tokens.next())?;
    Ok(match text {
        Some(text) => Some(text.to_unescaped()?.into_owned()),
        None => None,
    })
}

fn double<'a, I>(tokens: &mut Tokens<'a, I>) -> Read<Option<f64>>
where
    I: Iterator<Item = Read<Token<'a>>>,
{
    Ok(expect_number_or_null(tokens.next())?.map(Number::to_f64_lossy))
}

fn capacity<'a, I>(tokens: &mut Tokens<'a, I>) -> Read<ConsumedCapacity<String>>
where
    I: Iterator<Item = Read<Token<'a>>>,
{
    let mut capacity = ConsumedCapacity::default();
    expect_start_object(tokens.next())?;
    while let Some(key) = key(tokens)? {
        match key.as_ref() {
            "TableName" => capacity.table_name = string(tokens)?,
            "CapacityUnits" => capacity.capacity_units = double(tokens)?,
            "ReadCapacityUnits" => capacity.read_capacity_units = double(tokens)?,
            "WriteCapacityUnits" => capacity.write_capacity_units = double(tokens)?,
            _ => skip_value(tokens)?,
        }
    }
    Ok(capacity)
}

fn map<'a, I>(tokens: &mut Tokens<'a, I>) -> Read<Option<Pairs<String>>>
where
    I: Iterator<Item = Read<Token<'a>>>,
{
    let mut pairs = Vec::new();
    expect_start_object(tokens.next())?;
    while let Some(key) = key(tokens)? {
        let key = key.into_owned();
        if let Some(value) = attribute(tokens)? {
            pairs.push((key, value));
        }
    }
    Ok(Some(Pairs(pairs)))
}

fn attribute<'a, I>(tokens: &mut Tokens<'a, I>) -> Read<Option<Attribute<String>>>
where
    I: Iterator<Item = Read<Token<'a>>>,
{
    let mut attribute = None;
    expect_start_object(tokens.next())?;
    while let Some(key) = key(tokens)? {
        attribute = match key.as_ref() {
            "S" => string(tokens)?.map(Attribute::S),
            "N" => string(tokens)?.map(Attribute::N),
            "B" => blob(tokens)?.map(Attribute::B),
            "SS" => Some(Attribute::SS(list(tokens, string)?)),
            "NS" => Some(Attribute::NS(list(tokens, string)?)),
            "BS" => Some(Attribute::BS(list(tokens, blob)?)),
            "M" => map(tokens)?.map(Attribute::M),
            "L" => Some(Attribute::L(list(tokens, self::attribute)?)),
            "NULL" => expect_bool_or_null(tokens.next())?.map(Attribute::NULL),
            "BOOL" => expect_bool_or_null(tokens.next())?.map(Attribute::BOOL),
            _ => {
                skip_value(tokens)?;
                attribute
            }
        };
    }
    Ok(attribute)
}

fn blob<'a, I>(tokens: &mut Tokens<'a, I>) -> Read<Option<Binary>>
where
    I: Iterator<Item = Read<Token<'a>>>,
{
    let blob = expect_blob_or_null(tokens.next())?;
    Ok(blob.map(|blob| Binary(blob.into_inner())))
}

fn list<'a, I, T>(
    tokens: &mut Tokens<'a, I>,
    item: impl Fn(&mut Tokens<'a, I>) -> Read<Option<T>>,
) -> Read<Vec<T>>
where
    I: Iterator<Item = Read<Token<'a>>>,
{
    let mut items = Vec::new();
    let start = tokens.next().transpose()?;
    if !matches!(start, Some(Token::StartArray { .. })) {
        return Err(DeserializeError::custom("a list"));
    }
    loop {
        match tokens.peek() {
            Some(Ok(Token::EndArray { .. })) => {
                tokens.next().transpose()?;
                return Ok(items);
            }
            _ => items.extend(item(tokens)?),
        }
    }
}

pub(super) fn write(input: &Input, out: &mut String) {
    let mut object = JsonObjectWriter::new(out);
    object.key("TableName").string(&input.table_name);
    if let Some(key) = &input.key {
        write_map(object.key("Key"), key);
    }
    if let Some(item) = &input.item {
        write_map(object.key("Item"), item);
    }
    object.finish();
}

fn write_map(writer: JsonValueWriter<'_>, pairs: &Pairs<String>) {
    let mut object = writer.start_object();
    for (key, value) in &pairs.0 {
        write_attribute(object.key(key), value);
    }
    object.finish();
}

fn write_attribute(writer: JsonValueWriter<'_>, attribute: &Attribute<String>) {
    let mut object = writer.start_object();
    match attribute {
        Attribute::S(text) => object.key("S").string(text),
        Attribute::N(text) => object.key("N").string(text),
        Attribute::B(bytes) => write_blob(object.key("B"), bytes),
        Attribute::SS(items) => write_list(object.key("SS"), items, |at, text| at.string(text)),
        Attribute::NS(items) => write_list(object.key("NS"), items, |at, text| at.string(text)),
        Attribute::BS(items) => write_list(object.key("BS"), items, write_blob),
        Attribute::M(pairs) => write_map(object.key("M"), pairs),
        Attribute::L(items) => write_list(object.key("L"), items, write_attribute),
        Attribute::NULL(value) => object.key("NULL").boolean(*value),
        Attribute::BOOL(value) => object.key("BOOL").boolean(*value),
    }
    object.finish();
}

fn write_blob(writer: JsonValueWriter<'_>, bytes: &Binary) {
    // What it does with a `Blob`.
    writer.string_unchecked(&aws_smithy_types::base64::encode(&bytes.0));
}

fn write_list<T>(
    writer: JsonValueWriter<'_>,
    items: &[T],
    write: impl Fn(JsonValueWriter<'_>, &T),
) {
    let mut array = writer.start_array();
    for item in items {
        write(array.value(), item);
    }
    array.finish();
}
