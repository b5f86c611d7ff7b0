//! Digests in samples.
//!
//! The clients of SQS for Go, Java and JavaScript compare the MD5 sums of an output with what they
//! sent or received. No trait says what is summed, but the names do: `MD5OfMessageBody` is the sum
//! of `MessageBody`, which is a member of the same structure or of the input. An output that has
//! one item for each item of the input, as that of `SendMessageBatch`, has such members in the
//! items.

use std::collections::HashMap;
use std::mem::discriminant;

use md5::{Digest, Md5};
use polywire_schema::{Map, Member, Schema, ShapeKind, Text, Value};
use polywire_text::hex;

const PREFIX: &str = "MD5Of";

/// How many items an output has at most, where the model has no bound: as many as a batch of SQS.
const MAX_RESULTS: usize = 10;

/// How many items the lists of an input may have, by the names of their members. The server may
/// not have checked that, and each item costs a sample.
pub(crate) struct Bounds(HashMap<String, usize>);

impl Bounds {
    pub(crate) fn of(input: Schema<'_>) -> Self {
        let bound = |list: Member<'_>| {
            let (_, most) = list.constraints()?.length()?;
            let most = usize::try_from(most?).unwrap_or(usize::MAX);
            Some((list.name().to_owned(), most))
        };
        let members = input.members();
        let lists = members.filter(|member| member.kind() == ShapeKind::List);
        Self(lists.filter_map(bound).collect())
    }

    fn most(&self, name: &str) -> usize {
        self.0.get(name).copied().unwrap_or(MAX_RESULTS)
    }
}

/// Whether an output has such a member, at any depth.
pub(crate) fn has_digests(output: &Map) -> bool {
    output
        .iter()
        .any(|(name, value)| name.starts_with(PREFIX) || any_map(value, &has_digests))
}

/// Fills in the sums of an output. Those of what is no string or blob, or is not there, are left
/// out: `MD5OfMessageAttributes` is no sum of anything that was sent as it is.
pub(crate) fn fill(output: &mut Map, input: &Map, bounds: &Bounds) {
    let names: Vec<Text> = output.keys().map(Text::from).collect();
    for name in names {
        let Some(source) = name.strip_prefix(PREFIX) else {
            if let Some(value) = output.get_mut(&name) {
                fill_value(value, input, bounds);
            }
            continue;
        };
        let source = output.get(source).or_else(|| input.get(source));
        match source.and_then(sum) {
            Some(sum) => output.insert(name, sum),
            None => output.remove(&name),
        };
    }
}

fn fill_value(value: &mut Value, input: &Map, bounds: &Bounds) {
    match value {
        Value::Map(map) => fill(map, input, bounds),
        Value::List(items) => {
            if let [Value::Map(item)] = &items[..]
                && let Some(several) = sources(item, input, bounds)
            {
                let results = several.iter();
                let results = results.map(|input| result_of(item, input, bounds));
                *items = results.collect();
            } else {
                let items = items.iter_mut();
                items.for_each(|item| fill_value(item, input, bounds));
            }
        }
        _ => {}
    }
}

/// The items of the input of which an item of the output has sums, if it is not the input itself
/// that has them.
fn sources<'i>(item: &Map, input: &'i Map, bounds: &Bounds) -> Option<Vec<&'i Map>> {
    let missing = |source: &&str| !item.contains_key(source) && !input.contains_key(source);
    let mut names = item.keys().filter_map(|name| name.strip_prefix(PREFIX));
    let source = names.find(missing)?;
    let has_source = |item: &Value| item.as_map().is_some_and(|item| item.contains_key(source));
    let mut lists = input.iter().filter_map(|(name, value)| {
        let list = value.as_list()?;
        Some(&list[..list.len().min(bounds.most(name))])
    });
    let list = lists.find(|list| list.iter().any(has_source))?;
    Some(list.iter().filter_map(Value::as_map).collect())
}

/// A sample of the result of an item: what both have, such as an id, is that of the item.
fn result_of(sample: &Map, input: &Map, bounds: &Bounds) -> Value {
    let mut result = sample.clone();
    for (name, value) in input.iter() {
        if let Some(own) = result.get_mut(name)
            && discriminant(own) == discriminant(value)
        {
            *own = value.clone();
        }
    }
    fill(&mut result, input, bounds);
    Value::Map(result)
}

fn sum(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(md5_hex(text.as_bytes())),
        Value::Blob(blob) => Some(md5_hex(blob)),
        _ => None,
    }
}

/// The MD5 sum of bytes in hexadecimal digits.
pub(crate) fn md5_hex(bytes: &[u8]) -> String {
    let sum: [u8; 16] = Md5::digest(bytes).into();
    let mut text = Vec::with_capacity(32);
    hex::push(&mut text, &sum);
    String::from_utf8(text).unwrap_or_default()
}

fn any_map(value: &Value, test: &dyn Fn(&Map) -> bool) -> bool {
    match value {
        Value::Map(map) => test(map),
        Value::List(items) => items.iter().any(|item| any_map(item, test)),
        _ => false,
    }
}
