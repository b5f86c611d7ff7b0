//! Writes enums and intEnums.

use crate::plan::{Enum, EnumVariant, Literal};
use crate::source::Source;

use super::doc;

pub(super) fn write(source: &mut Source, enumeration: &Enum<'_>) {
    let is_text = enumeration
        .variants
        .iter()
        .all(|variant| matches!(variant.value, Literal::Text(_)));
    declaration(source, enumeration, is_text);
    match is_text {
        true => text(source, enumeration),
        false => number(source, enumeration),
    }
}

fn declaration(source: &mut Source, enumeration: &Enum<'_>, is_text: bool) {
    let name = &enumeration.name;
    source.blank();
    let fallback = format!("`{}`.", enumeration.shape.id().name());
    doc(source, Some(enumeration.shape.traits()), &fallback);
    source.line("#[non_exhaustive]");
    source.line(match is_text {
        true => "#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]",
        false => "#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]",
    });
    source.open(format!("pub enum {name} {{"));
    for variant in &enumeration.variants {
        let fallback = match &variant.value {
            Literal::Text(value) => format!("`{value}`."),
            Literal::Number(value) => format!("`{}` ({value}).", variant.member.name()),
        };
        doc(source, Some(variant.member.traits()), &fallback);
        source.line(format!("{},", variant.name));
    }
    source.line("/// A value that is not in the model.");
    let inner = if is_text { "schema::Text" } else { "i32" };
    source.line(format!("{}({inner}),", enumeration.unknown));
    source.close("}");
    source.blank();
    source.open(format!("impl Default for {name} {{"));
    source.open("fn default() -> Self {");
    let inner = if is_text {
        "schema::Text::default()"
    } else {
        "0"
    };
    match enumeration
        .variants
        .iter()
        .find(|variant| matches!(variant.value, Literal::Number(0)))
    {
        Some(zero) => source.line(format!("Self::{}", zero.name)),
        None => source.line(format!("Self::{}({inner})", enumeration.unknown)),
    }
    source.close("}");
    source.close("}");
}

/// Writes one `match` arm per variant.
fn arms(source: &mut Source, enumeration: &Enum<'_>, arm: impl Fn(&str, &str) -> (String, String)) {
    for variant in &enumeration.variants {
        let (pattern, expression) = arm(&variant.name, &literal(variant));
        source.arm(&pattern, &expression);
    }
}

fn literal(variant: &EnumVariant<'_>) -> String {
    match &variant.value {
        Literal::Text(value) => format!("{value:?}"),
        Literal::Number(value) => value.to_string(),
    }
}

/// Writes `VALUES`, and the function that returns the serialized value.
fn values(source: &mut Source, enumeration: &Enum<'_>, signature: &str) {
    source.line("/// All values of the model.");
    let values: Vec<String> = enumeration
        .variants
        .iter()
        .map(|variant| format!("Self::{}", variant.name))
        .collect();
    super::structure::array(source, "pub const VALUES: &'static [Self] = &", &values);
    source.blank();
    source.line("/// Returns the serialized value.");
    source.line("#[must_use]");
    source.open(signature);
    source.open("match self {");
    arms(source, enumeration, |name, value| {
        (format!("Self::{name}"), value.to_owned())
    });
    source.line(format!("Self::{}(value) => value,", enumeration.unknown));
    source.close("}");
    source.close("}");
}

fn text(source: &mut Source, enumeration: &Enum<'_>) {
    let (name, unknown) = (&enumeration.name, &enumeration.unknown);
    source.blank();
    source.open(format!("impl {name} {{"));
    values(source, enumeration, "pub fn as_str(&self) -> &str {");
    source.blank();
    source.open("fn known(value: &str) -> Option<Self> {");
    source.open("Some(match value {");
    arms(source, enumeration, |name, value| {
        (value.to_owned(), format!("Self::{name}"))
    });
    source.line("_ => return None,");
    source.close("})");
    source.close("}");
    source.close("}");
    for (ty, make) in [
        ("&str", "value.into()"),
        ("String", "value.into()"),
        ("schema::Text", "value"),
    ] {
        source.blank();
        source.open(format!("impl From<{ty}> for {name} {{"));
        source.open(format!("fn from(value: {ty}) -> Self {{"));
        let borrowed = if ty == "&str" { "value" } else { "&value" };
        source.line(format!(
            "Self::known({borrowed}).unwrap_or_else(|| Self::{unknown}({make}))"
        ));
        source.close("}");
        source.close("}");
    }
    source.blank();
    source.open(format!("impl AsRef<str> for {name} {{"));
    source.open("fn as_ref(&self) -> &str {");
    source.line("self.as_str()");
    source.close("}");
    source.close("}");
    source.blank();
    source.line(format!("impl schema::EncodeKey for {name} {{}}"));
    source.blank();
    source.open(format!("impl std::fmt::Display for {name} {{"));
    source.open("fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {");
    source.line("f.write_str(self.as_str())");
    source.close("}");
    source.close("}");
    codecs(
        source,
        name,
        "encoder.string(at, self.as_str());",
        "decoder.text(at).map(Self::from)",
    );
}

fn number(source: &mut Source, enumeration: &Enum<'_>) {
    let (name, unknown) = (&enumeration.name, &enumeration.unknown);
    source.blank();
    source.open(format!("impl {name} {{"));
    values(source, enumeration, "pub const fn as_i32(self) -> i32 {");
    source.close("}");
    source.blank();
    source.open(format!("impl From<i32> for {name} {{"));
    source.open("fn from(value: i32) -> Self {");
    source.open("match value {");
    arms(source, enumeration, |name, value| {
        (value.to_owned(), format!("Self::{name}"))
    });
    source.line(format!("_ => Self::{unknown}(value),"));
    source.close("}");
    source.close("}");
    source.close("}");
    codecs(
        source,
        name,
        "encoder.integer(at, i64::from(self.as_i32()));",
        "<i32 as schema::Decode<'de>>::decode(at, decoder).map(Self::from)",
    );
}

fn codecs(source: &mut Source, name: &str, encode: &str, decode: &str) {
    source.blank();
    source.open(format!("impl schema::Encode for {name} {{"));
    source.signature(
        "fn encode<E: schema::Encoder + ?Sized>",
        &["&self", "at: schema::Member<'_>", "encoder: &mut E"],
        " {",
    );
    source.line(encode);
    source.close("}");
    source.close("}");
    source.blank();
    source.open(format!("impl<'de> schema::Decode<'de> for {name} {{"));
    source.signature(
        "fn decode<D: schema::Decoder<'de> + ?Sized>",
        &["at: schema::Member<'_>", "decoder: &mut D"],
        " -> Result<Self, schema::Error> {",
    );
    source.line(decode);
    source.close("}");
    source.close("}");
}
