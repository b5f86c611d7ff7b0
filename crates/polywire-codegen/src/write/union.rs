//! Writes unions.

use crate::plan::{Union, UnionVariant, with_lifetime};
use crate::source::Source;

use super::{doc, generics};

pub(super) fn write(source: &mut Source, union: &Union<'_>) {
    declaration(source, union);
    accessors(source, union);
    encode(source, union);
    decode(source, union);
}

impl Union<'_> {
    fn ty(&self, lifetime: &str) -> String {
        with_lifetime(&self.name, self.has_lifetime, lifetime)
    }

    fn has_sensitive(&self) -> bool {
        self.shape.traits().is_sensitive() || self.variants.iter().any(|v| v.is_sensitive)
    }
}

fn declaration(source: &mut Source, union: &Union<'_>) {
    source.blank();
    let fallback = format!("`{}`.", union.shape.id().name());
    doc(source, Some(union.shape.traits()), &fallback);
    source.line("#[non_exhaustive]");
    // With a full-word discriminant, moving a value copies whole words. A one-byte discriminant is
    // copied together with neighbouring bytes, which straddle words that were just stored and cause
    // a failed store-to-load forward.
    if union.variants.iter().any(|variant| variant.ty.is_some()) {
        source.line("#[repr(u64)]");
    }
    source.line(match union.has_sensitive() {
        true => "#[derive(Clone, Default, PartialEq)]",
        false => "#[derive(Clone, Debug, Default, PartialEq)]",
    });
    source.open(format!("pub enum {} {{", union.ty("'a")));
    for variant in &union.variants {
        let fallback = format!("`{}`.", variant.member.name());
        doc(source, Some(variant.member.traits()), &fallback);
        source.line(match &variant.ty {
            Some(ty) => format!("{}({ty}),", variant.name),
            None => format!("{},", variant.name),
        });
    }
    source.line("/// A member that is not in the model. It cannot be serialized.");
    source.line("#[default]");
    source.line(format!("{},", union.unknown));
    source.close("}");
    if union.has_sensitive() {
        debug(source, union);
    }
}

fn debug(source: &mut Source, union: &Union<'_>) {
    source.blank();
    source.open(format!("impl std::fmt::Debug for {} {{", union.ty("'_")));
    source.open("fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {");
    source.open("match self {");
    for variant in &union.variants {
        let (name, hidden) = (
            &variant.name,
            variant.is_sensitive || union.shape.traits().is_sensitive(),
        );
        match (&variant.ty, hidden) {
            (None, _) => source.arm(&format!("Self::{name}"), &format!("f.write_str({name:?})")),
            (Some(_), true) => {
                let value =
                    format!("f.debug_tuple({name:?}).field(&codec::RedactedValue).finish()");
                source.arm(&format!("Self::{name}(_)"), &value);
            }
            (Some(_), false) => {
                let value = format!("f.debug_tuple({name:?}).field(value).finish()");
                source.arm(&format!("Self::{name}(value)"), &value);
            }
        }
    }
    let unknown = &union.unknown;
    source.arm(
        &format!("Self::{unknown}"),
        &format!("f.write_str({unknown:?})"),
    );
    source.close("}");
    source.close("}");
    source.close("}");
}

/// Writes `as_text() -> Option<&Text>` for each variant with data.
fn accessors(source: &mut Source, union: &Union<'_>) {
    let data: Vec<(&UnionVariant<'_>, &String)> = union
        .variants
        .iter()
        .filter_map(|variant| Some((variant, variant.ty.as_ref()?)))
        .collect();
    if data.is_empty() {
        return;
    }
    let generics = generics(union.has_lifetime);
    source.blank();
    source.open(format!("impl{generics} {} {{", union.ty("'a")));
    for (variant, ty) in data {
        source.blank();
        source.line(format!(
            "/// Returns the value of `{}`, if this is the variant.",
            variant.member.name()
        ));
        source.line("#[must_use]");
        let (name, result) = match variant.is_copy {
            true => (&variant.name, ty.clone()),
            false => (&variant.name, format!("&{}", unboxed(ty))),
        };
        source.signature(
            &format!("pub fn as_{}", variant.plain),
            &["&self"],
            &format!(" -> Option<{result}> {{"),
        );
        source.open("match self {");
        let value = if variant.is_copy { "*value" } else { "value" };
        source.line(format!("Self::{name}(value) => Some({value}),"));
        source.line("_ => None,");
        source.close("}");
        source.close("}");
    }
    source.close("}");
}

/// Returns the type inside of a `Box`.
fn unboxed(ty: &str) -> &str {
    let inner = ty.strip_prefix("Box<");
    inner.and_then(|ty| ty.strip_suffix('>')).unwrap_or(ty)
}

fn encode(source: &mut Source, union: &Union<'_>) {
    let generics = generics(union.has_lifetime);
    source.blank();
    source.open(format!(
        "impl{generics} schema::Encode for {} {{",
        union.ty("'a")
    ));
    source.signature(
        "fn encode<E: schema::Encoder + ?Sized>",
        &["&self", "at: schema::Member<'_>", "encoder: &mut E"],
        " {",
    );
    if !union.variants.is_empty() {
        source.line("let shape = at.target();");
    }
    source.line("encoder.begin_structure(at, 1);");
    source.open("match self {");
    for variant in &union.variants {
        let (name, member) = (&variant.name, format!("shape.member({})", variant.ordinal));
        match variant.ty {
            Some(_) => source.arm(
                &format!("Self::{name}(value)"),
                &format!("codec::put(value, {member}, encoder)"),
            ),
            None => source.arm(
                &format!("Self::{name}"),
                &format!("codec::put_unit({member}, encoder)"),
            ),
        }
    }
    source.line(format!(
        "Self::{} => codec::unwritable(at, encoder),",
        union.unknown
    ));
    source.close("}");
    source.line("encoder.end_structure(at);");
    source.close("}");
    source.close("}");
}

fn decode(source: &mut Source, union: &Union<'_>) {
    source.blank();
    source.open(format!(
        "impl<'de> schema::Decode<'de> for {} {{",
        union.ty("'de")
    ));
    source.line(format!(
        "const PLACEHOLDER: Option<fn() -> Self> = Some(|| Self::{});",
        union.unknown
    ));
    source.blank();
    source.line("#[inline]");
    source.signature(
        "fn decode<D: schema::Decoder<'de> + ?Sized>",
        &["at: schema::Member<'_>", "decoder: &mut D"],
        " -> Result<Self, schema::Error> {",
    );
    source.line(format!("let mut value = Self::{};", union.unknown));
    source.line("value.decode_in_place(at, decoder)?;");
    source.line("Ok(value)");
    source.close("}");
    source.blank();
    source.signature(
        "fn decode_in_place<D: schema::Decoder<'de> + ?Sized>",
        &["&mut self", "at: schema::Member<'_>", "decoder: &mut D"],
        " -> Result<(), schema::Error> {",
    );
    source.line("let mut seq = None;");
    source.line("let ordinal = codec::begin_union(at, &mut seq, decoder)?;");
    if !union.variants.is_empty() {
        source.line("let shape = at.target();");
    }
    source.open("match ordinal {");
    for variant in &union.variants {
        let (ordinal, name) = (variant.ordinal.to_string(), &variant.name);
        source.open(format!("{ordinal} => {{"));
        let value = match variant.ty {
            Some(_) => {
                source.line(format!(
                    "let value = schema::Decode::decode(shape.member({ordinal}), decoder)?;"
                ));
                "(value)"
            }
            None => {
                source.line(format!("codec::unit(shape.member({ordinal}), decoder)?;"));
                ""
            }
        };
        source.line(format!(
            "codec::replace_placeholder(self, Self::{name}{value});"
        ));
        source.close("}");
    }
    source.line(format!(
        "schema::END => codec::replace_placeholder(self, Self::{}),",
        union.unknown
    ));
    source.line("_ => return Err(codec::invalid_ordinal(decoder)),");
    source.close("}");
    source.line("codec::end_union(at, ordinal, &mut seq, decoder)");
    source.close("}");
    source.close("}");
}
