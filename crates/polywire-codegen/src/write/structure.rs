//! Writes structures, their builders and codecs.

use crate::plan::{Field, Presence, Structure};
use crate::source::Source;

use super::{brief, doc, generics};

pub(super) fn write(source: &mut Source, structure: &Structure<'_>) {
    declaration(source, structure);
    builder(source, structure);
    debug(source, structure);
    encode(source, structure);
    decode(source, structure);
    if structure.is_error() {
        error(source, structure);
    }
}

impl Field<'_> {
    /// Returns the name of the setter. It must differ from `build`.
    pub(super) fn setter(&self) -> String {
        match self.name.as_str() {
            "build" => "build_".to_owned(),
            name => name.to_owned(),
        }
    }

    /// The type of the field, with `Option` if it is optional.
    fn field_ty(&self) -> String {
        match self.presence.is_option() {
            true => format!("Option<{}>", self.ty),
            false => self.ty.clone(),
        }
    }
}

impl Structure<'_> {
    fn required(&self) -> impl Iterator<Item = &Field<'_>> {
        let is_required = |field: &&Field<'_>| field.presence == Presence::Required;
        self.fields.iter().filter(is_required)
    }

    /// Whether the builder's `build` can fail.
    pub(super) fn needs_check(&self) -> bool {
        self.required().next().is_some()
    }

    fn has_sensitive(&self) -> bool {
        self.is_sensitive() || self.fields.iter().any(|field| field.is_sensitive)
    }

    /// Whether any member's default differs from the default of its type.
    fn has_custom_defaults(&self) -> bool {
        self.fields.iter().any(|field| match &field.presence {
            Presence::Default(expression) => !TYPE_DEFAULTS.contains(&expression.as_str()),
            _ => false,
        })
    }
}

/// Defaults that equal the default of their type, as written by `defaults.rs`.
const TYPE_DEFAULTS: [&str; 9] = [
    "\"\".into()",
    "0",
    "0.0",
    "Default::default()",
    "Vec::new()",
    "false",
    "schema::Blob::default()",
    "schema::ByteStream::default()",
    "schema::EventStream::default()",
];

fn declaration(source: &mut Source, structure: &Structure<'_>) {
    source.blank();
    doc(source, structure.traits, &format!("`{}`.", structure.name));
    source.line("#[non_exhaustive]");
    let derives: Vec<&str> = [
        Some("Clone"),
        (!structure.has_sensitive()).then_some("Debug"),
        (!structure.has_custom_defaults()).then_some("Default"),
        Some("PartialEq"),
    ]
    .into_iter()
    .flatten()
    .collect();
    source.line(format!("#[derive({})]", derives.join(", ")));
    let head = format!("pub struct {}", structure.ty("'a"));
    if structure.fields.is_empty() {
        source.line(format!("{head} {{}}"));
    } else {
        source.open(format!("{head} {{"));
        for field in &structure.fields {
            let fallback = format!("`{}`.", field.member.name());
            doc(source, Some(field.member.traits()), &fallback);
            source.line(format!("pub {}: {},", field.name, field.field_ty()));
        }
        source.close("}");
    }
    if structure.has_custom_defaults() {
        let generics = generics(structure.has_lifetime);
        source.blank();
        source.open(format!(
            "impl{generics} Default for {} {{",
            structure.ty("'a")
        ));
        source.open("fn default() -> Self {");
        source.open("Self {");
        for field in &structure.fields {
            let value = match &field.presence {
                Presence::Default(expression) => expression,
                presence if presence.is_option() => "None",
                _ => "Default::default()",
            };
            source.line(format!("{}: {value},", field.name));
        }
        source.close("}");
        source.close("}");
        source.close("}");
    }
}

/// Allows a setter named after a member to violate naming conventions: clippy expects
/// `is_truncated` to take `&self`.
pub(super) fn allow_self_convention(source: &mut Source, setter: &str) {
    let prefixes = ["as_", "from_", "into_", "is_", "to_"];
    if prefixes.iter().any(|prefix| setter.starts_with(prefix)) {
        source.line("#[allow(clippy::wrong_self_convention, reason = \"named after the member\")]");
    }
}

fn builder(source: &mut Source, structure: &Structure<'_>) {
    let (ty, builder) = (structure.ty("'a"), structure.builder_ty("'a"));
    let generics = generics(structure.has_lifetime);
    let required: Vec<&Field<'_>> = structure.required().collect();

    source.blank();
    source.open(format!("impl{generics} {ty} {{"));
    source.line(format!("/// Returns a builder for [`{}`].", structure.name));
    source.line("#[must_use]");
    source.open(format!("pub fn builder() -> {builder} {{"));
    source.line(format!("{}::default()", structure.builder));
    source.close("}");
    source.close("}");

    source.blank();
    source.line(format!("/// Builder for [`{}`].", structure.name));
    source.line("#[derive(Clone, Debug, Default)]");
    source.open(format!("pub struct {builder} {{"));
    source.line(format!("value: {ty},"));
    if !required.is_empty() {
        let words = required.len().div_ceil(64);
        source.line(format!("set: codec::Marks<{words}>,"));
    }
    source.close("}");

    source.blank();
    source.open(format!("impl{generics} {builder} {{"));
    let mut mark = 0;
    for field in &structure.fields {
        source.blank();
        let fallback = format!("Sets `{}`.", field.member.name());
        brief(source, field.member.traits(), &fallback);
        source.line("#[inline]");
        source.line("#[must_use]");
        let argument = format!(
            "{}: {}",
            field.name,
            field.into.as_ref().unwrap_or(&field.ty)
        );
        allow_self_convention(source, &field.setter());
        source.signature(
            &format!("pub fn {}", field.setter()),
            &["mut self", &argument],
            " -> Self {",
        );
        let value = match field.into {
            Some(_) => format!("{}.into()", field.name),
            None => field.name.clone(),
        };
        let value = match field.presence.is_option() {
            true => format!("Some({value})"),
            false => value,
        };
        source.line(format!("self.value.{} = {value};", field.name));
        if field.presence == Presence::Required {
            source.line(format!("self.set.mark({mark});"));
            mark += 1;
        }
        source.line("self");
        source.close("}");
    }
    source.blank();
    if required.is_empty() {
        source.line(format!("/// Returns the [`{}`].", structure.name));
        source.line("#[must_use]");
        source.open(format!("pub fn build(self) -> {ty} {{"));
        source.line("self.value");
    } else {
        source.line(format!("/// Returns the [`{}`].", structure.name));
        source.line("///");
        source.line("/// # Errors");
        source.line("///");
        source.line("/// Returns an error if a required member is not set.");
        source.open(format!(
            "pub fn build(self) -> Result<{ty}, schema::MissingMember> {{"
        ));
        let names: Vec<String> = required
            .iter()
            .map(|field| format!("{:?}", field.member.name()))
            .collect();
        array(source, "let required = &", &names);
        source.line(format!(
            "self.set.check({:?}, required)?;",
            structure.id.name()
        ));
        source.line("Ok(self.value)");
    }
    source.close("}");
    source.close("}");

    source.blank();
    source.open(format!("impl{generics} From<{ty}> for {builder} {{"));
    source.open(format!("fn from(value: {ty}) -> Self {{"));
    match required.len() {
        0 => source.line("Self { value }"),
        len => {
            source.open("Self {");
            source.line("value,");
            source.line(format!("set: codec::Marks::all({len}),"));
            source.close("}");
        }
    }
    source.close("}");
    source.close("}");
}

/// Writes `START[...];`. Uses one line if it fits, or else one line per item.
pub(super) fn array(source: &mut Source, start: &str, items: &[String]) {
    let whole = format!("{start}[{}];", items.join(", "));
    if source.fits(&whole) {
        source.line(whole);
        return;
    }
    source.open(format!("{start}["));
    for item in items {
        source.line(format!("{item},"));
    }
    source.close("];");
}

/// Writes `Debug` if members are sensitive and must be redacted.
fn debug(source: &mut Source, structure: &Structure<'_>) {
    if !structure.has_sensitive() {
        return;
    }
    let generics = generics(structure.has_lifetime);
    source.blank();
    source.open(format!(
        "impl{generics} std::fmt::Debug for {} {{",
        structure.ty("'a")
    ));
    source.open("fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {");
    source.open(format!("f.debug_struct({:?})", structure.name));
    for field in &structure.fields {
        let value = match field.is_sensitive || structure.is_sensitive() {
            true => "codec::RedactedValue".to_owned(),
            false => format!("self.{}", field.name),
        };
        source.call(
            ".field",
            &[&format!("{:?}", field.plain), &format!("&{value}")],
            "",
        );
    }
    source.line(".finish()");
    source.dedent();
    source.close("}");
    source.close("}");
}

fn encode(source: &mut Source, structure: &Structure<'_>) {
    let generics = generics(structure.has_lifetime);
    source.blank();
    source.open(format!(
        "impl{generics} schema::Encode for {} {{",
        structure.ty("'a")
    ));
    let arguments = ["&self", "at: schema::Member<'_>", "encoder: &mut E"];
    let is_empty = structure.fields.is_empty();
    source.signature("fn encode<E: schema::Encoder + ?Sized>", &arguments, " {");
    if is_empty {
        source.line("encoder.begin_structure(at, 0);");
    } else {
        source.line("let shape = at.target();");
        let is_option = |field: &&Field<'_>| field.presence.is_option();
        let is_counted =
            |field: &&Field<'_>| !field.presence.is_option() && !field.presence.is_event_stream();
        let always = structure.fields.iter().filter(is_counted).count();
        if !structure.fields.iter().any(|field| is_option(&field)) {
            source.line(format!("encoder.begin_structure(at, {always});"));
        } else {
            source.line(format!("let mut present = {always};"));
            for field in structure.fields.iter().filter(is_option) {
                let mut is_there = format!("self.{}.is_some()", field.name);
                if let Presence::ClientOptionalDefault(_) = field.presence {
                    source.line(format!("let member = shape.member({});", field.ordinal));
                    is_there.push_str(" || encoder.fills_default(member)");
                }
                source.line(format!("present += usize::from({is_there});"));
            }
            source.line("encoder.begin_structure(at, present);");
        }
        for field in &structure.fields {
            let value = format!("&self.{}", field.name);
            let member = format!("shape.member({})", field.ordinal);
            match &field.presence {
                Presence::ClientOptionalDefault(default) => {
                    source.line(format!("let default = || {default};"));
                    let arguments = [value.as_str(), member.as_str(), "encoder", "default"];
                    source.call("codec::put_or", &arguments, ";");
                }
                presence if presence.is_option() => {
                    source.call("codec::put_some", &[&value, &member, "encoder"], ";");
                }
                presence if presence.is_event_stream() => {
                    source.call("codec::put_events", &[&value, &member, "encoder"], ";");
                }
                _ => source.call("codec::put", &[&value, &member, "encoder"], ";"),
            }
        }
    }
    source.line("encoder.end_structure(at);");
    source.close("}");
    source.close("}");
}

fn decode(source: &mut Source, structure: &Structure<'_>) {
    // Borrowed data has the lifetime of the message.
    let ty = structure.ty("'de");
    let builder = structure.builder_ty("'de");
    source.blank();
    source.open(format!("impl<'de> schema::Decode<'de> for {ty} {{"));
    source.signature(
        "fn decode<D: schema::Decoder<'de> + ?Sized>",
        &["at: schema::Member<'_>", "decoder: &mut D"],
        " -> Result<Self, schema::Error> {",
    );
    source.line("codec::structure(at, decoder)");
    source.close("}");
    source.close("}");

    source.blank();
    source.open(format!(
        "impl<'de> schema::DecodeStructure<'de> for {ty} {{"
    ));
    source.line(format!("type Builder = {builder};"));
    source.blank();
    let reads = !structure.fields.is_empty();
    let argument = format!("{}: &mut {builder}", if reads { "builder" } else { "_" });
    source.signature(
        "fn decode_part<D: schema::Decoder<'de> + ?Sized>",
        &[&argument, "at: schema::Member<'_>", "decoder: &mut D"],
        " -> Result<(), schema::Error> {",
    );
    if reads {
        members(source, structure);
    } else {
        source.line("codec::unit(at, decoder)");
    }
    source.close("}");
    source.blank();
    build(source, structure, &builder);
    source.close("}");
}

/// Writes the loop over the members.
fn members(source: &mut Source, structure: &Structure<'_>) {
    source.line("let shape = at.target();");
    source.line("let mut seq = decoder.structure(at)?;");
    source.open("loop {");
    source.open("match decoder.member(shape, &mut seq)? {");
    let mut mark = 0;
    for field in &structure.fields {
        let function = match (field.presence.is_option(), field.is_collection) {
            (true, false) => "codec::read_some",
            (true, true) => "codec::read_on_some",
            (false, false) => "codec::read",
            (false, true) => "codec::read_on",
        };
        let pattern = field.ordinal.to_string();
        let place = format!("&mut builder.value.{}", field.name);
        let member = format!("shape.member({})", field.ordinal);
        let call = format!("{function}({place}, {member}, decoder)?");
        if field.presence == Presence::Required {
            source.open(format!("{pattern} => {{"));
            source.call(function, &[&place, &member, "decoder"], "?;");
            source.line(format!("builder.set.mark({mark});"));
            source.close("}");
            mark += 1;
        } else if source.fits(&format!("{pattern} => {call},")) {
            source.line(format!("{pattern} => {call},"));
        } else {
            source.open(format!("{pattern} => {{"));
            source.call(function, &[&place, &member, "decoder"], "?;");
            source.close("}");
        }
    }
    source.line("schema::END => return Ok(()),");
    source.line("_ => return Err(codec::invalid_ordinal(decoder)),");
    source.close("}");
    source.close("}");
}

fn build(source: &mut Source, structure: &Structure<'_>, builder: &str) {
    let required: Vec<String> = structure
        .required()
        .map(|field| field.ordinal.to_string())
        .collect();
    let optional: Vec<&Field<'_>> = structure
        .fields
        .iter()
        .filter(|field| {
            matches!(
                field.presence,
                Presence::ClientOptional | Presence::ClientOptionalDefault(_)
            )
        })
        .collect();
    let flattened: Vec<&Field<'_>> = structure
        .fields
        .iter()
        .filter(|field| field.is_flattened_map())
        .collect();
    let uses_at = !required.is_empty() || !optional.is_empty();
    let is_mutable = optional
        .iter()
        .any(|field| matches!(field.presence, Presence::ClientOptionalDefault(_)));
    let argument = format!("{}builder: {builder}", if is_mutable { "mut " } else { "" });
    let at = match uses_at {
        true => "at: schema::Member<'_>",
        false => "_: schema::Member<'_>",
    };
    let decoder = match uses_at || !flattened.is_empty() {
        true => "decoder: &mut D",
        false => "_: &mut D",
    };
    source.signature(
        "fn build<D: schema::Decoder<'de> + ?Sized>",
        &[&argument, at, decoder],
        " -> Result<Self, schema::Error> {",
    );
    if !required.is_empty() {
        array(source, "let required = &", &required);
        source.line("builder.set.ask(required, at, decoder)?;");
    }
    for field in optional {
        let name = &field.name;
        source.line(format!(
            "let member = at.target().member({});",
            field.ordinal
        ));
        let is_missing = format!("builder.value.{name}.is_none()");
        match &field.presence {
            Presence::ClientOptionalDefault(expression) => {
                source.open(format!(
                    "if {is_missing} && decoder.fills_default(member) {{"
                ));
                source.line(format!("builder.value.{name} = Some({expression});"));
            }
            _ => {
                source.open(format!("if {is_missing} {{"));
                source.line("decoder.missing(member)?;");
            }
        }
        source.close("}");
    }
    for field in flattened {
        let name = &field.name;
        let entries = match field.presence {
            Presence::Required | Presence::Default(_) => format!("&builder.value.{name}"),
            _ => format!("builder.value.{name}.as_deref().unwrap_or_default()"),
        };
        source.line(format!("codec::distinct_keys({entries}, decoder)?;"));
    }
    source.line("Ok(builder.value)");
    source.close("}");
}

fn error(source: &mut Source, structure: &Structure<'_>) {
    let message = structure.fields.iter().find(|field| {
        let names = ["message", "Message", "errorMessage"];
        names.contains(&field.member.name()) && field.is_text() && !field.is_sensitive
    });
    source.blank();
    source.open(format!(
        "impl std::fmt::Display for {} {{",
        structure.ty("'_")
    ));
    source.open("fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {");
    let name = structure.id.name();
    match message {
        Some(field) if field.presence.is_option() => {
            source.line(format!(
                "codec::fmt_error(f, {name:?}, self.{}.as_deref())",
                field.name
            ));
        }
        Some(field) => source.line(format!(
            "codec::fmt_error(f, {name:?}, Some(&self.{}))",
            field.name
        )),
        None => source.line(format!("codec::fmt_error(f, {name:?}, None)")),
    }
    source.close("}");
    source.close("}");
    source.blank();
    source.line(format!(
        "impl std::error::Error for {} {{}}",
        structure.ty("'_")
    ));
}
