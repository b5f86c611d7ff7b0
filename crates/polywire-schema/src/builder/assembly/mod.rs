//! Converts the input of a builder to the arrays of a set.

mod constraints;
mod services;
mod tables;

use std::borrow::Cow;

use polywire_text::scan::{Name, RUN_PADDING};

use crate::builder::{BuildError, MemberSpec, SchemaBuilder, ShapeRef, ShapeSpec};
use crate::names::NameParts;
use crate::{
    ConstraintDef, EnumValueDef, ErrorDef, MemberDef, MemberFlags, NameEncoding, NameSource,
    SchemaSet, ShapeDef, ShapeFlags, ShapeKind, Span,
};
use crate::{defaults, variants};
use tables::MAX_NAME_LEN;

/// The arrays of a set during construction.
#[derive(Default)]
pub(super) struct Assembly {
    /// The maximum length of each array, so that indices fit 32 bits. Smaller in tests.
    max_len: usize,
    text: String,
    code: Vec<u8>,
    shapes: Vec<ShapeDef>,
    members: Vec<MemberDef>,
    errors: Vec<ErrorDef>,
    constraints: Vec<ConstraintDef>,
    enum_values: Vec<EnumValueDef>,
    /// For each shape, the index of its constraints plus one, or 0 if it has none.
    shape_constraints: Vec<u32>,
    lists: Vec<u32>,
    buckets: Vec<u16>,
    variants: Vec<variants::Slot>,
    plain: [Vec<Span>; NameSource::COUNT],
    names: [Vec<Name>; NameEncoding::COUNT],
}

impl Assembly {
    pub(super) fn new(max_len: usize) -> Self {
        Self {
            max_len,
            ..Self::default()
        }
    }

    pub(super) fn assemble(
        mut self,
        builder: SchemaBuilder,
    ) -> Result<SchemaSet<'static>, BuildError> {
        let SchemaBuilder {
            shapes,
            operations,
            services,
            invalid_ref,
        } = builder;
        if let Some(invalid) = invalid_ref {
            return Err(BuildError(format!(
                "shape {} does not exist: the builder has {} shapes",
                invalid.0.0,
                shapes.len()
            )));
        }
        // The traits that members inherit from their targets.
        let targets: Vec<(ShapeKind, MemberSpec)> = shapes
            .iter()
            .map(|shape| (shape.kind, shape.root.clone()))
            .collect();
        for (_, root) in &targets {
            let index = self.constraint(&root.constraints, None)?;
            self.shape_constraints.push(index);
        }
        for (index, shape) in shapes.into_iter().enumerate() {
            self.shape(index as u32, shape, &targets)?;
        }
        self.mark_shapes();
        let mut operation_defs = Vec::with_capacity(operations.len());
        for spec in &operations {
            operation_defs.push(self.operation(spec)?);
        }
        let mut service_defs = Vec::with_capacity(services.len());
        for spec in &services {
            service_defs.push(self.service(spec, &mut operation_defs)?);
        }
        self.code.extend_from_slice(&[0; RUN_PADDING]);
        Ok(SchemaSet {
            shapes: Cow::Owned(self.shapes),
            members: Cow::Owned(self.members),
            operations: Cow::Owned(operation_defs),
            services: Cow::Owned(service_defs),
            errors: Cow::Owned(self.errors),
            constraints: Cow::Owned(self.constraints),
            enum_values: Cow::Owned(self.enum_values),
            lists: Cow::Owned(self.lists),
            plain: self.plain.map(Cow::Owned),
            names: self.names.map(Cow::Owned),
            buckets: Cow::Owned(self.buckets),
            variants: Cow::Owned(self.variants),
            text: Cow::Owned(self.text),
            code: Cow::Owned(self.code),
        })
    }

    fn shape(
        &mut self,
        index: u32,
        shape: ShapeSpec,
        targets: &[(ShapeKind, MemberSpec)],
    ) -> Result<(), BuildError> {
        let ShapeSpec {
            id,
            kind,
            mut members,
            root,
            error,
        } = shape;
        let expected_count = match kind {
            ShapeKind::List => Some(1),
            ShapeKind::Map => Some(2),
            ShapeKind::Structure | ShapeKind::Union => None,
            _ => Some(0),
        };
        let count = members.len();
        if expected_count.is_some_and(|expected| expected != count) {
            return Err(BuildError(format!(
                "{id}: a {kind:?} cannot have {count} members"
            )));
        }
        if count >= usize::from(u16::MAX) {
            return Err(BuildError(format!("{id}: too many members: {count}")));
        }
        // XML attributes are part of the start tag, so they are written first.
        members.sort_by_key(|member| !member.flags.contains(MemberFlags::XML_ATTRIBUTE));

        let mut flags = ShapeFlags::default();
        let has_default = |member: &MemberSpec| member.default_json.is_some();
        if kind == ShapeKind::Structure && members.iter().any(has_default) {
            flags = flags.with(ShapeFlags::DEFAULTS);
        }
        let required = members.iter().take(64).enumerate();
        let required = required.filter(|(_, member)| {
            member.flags.contains(MemberFlags::REQUIRED) && !has_default(member)
        });
        let required = required.fold(0, |bits, (ordinal, _)| bits | 1_u64 << ordinal);
        let is_token = |member: &MemberSpec| member.flags.contains(MemberFlags::IDEMPOTENCY_TOKEN);
        if kind == ShapeKind::Structure && members.iter().any(is_token) {
            flags = flags.with(ShapeFlags::TOKEN);
        }
        let is_ambiguous = |member: &MemberSpec| {
            member.flags.contains(MemberFlags::XML_ATTRIBUTE)
                || member
                    .xml_name
                    .as_deref()
                    .unwrap_or(&member.name)
                    .contains(':')
        };
        if members.iter().any(is_ambiguous) {
            flags = flags.with(ShapeFlags::XML_APART);
        }
        let first_member = self.index(self.members.len())?;
        for (ordinal, member) in members.iter().enumerate() {
            self.member((index, &id), ordinal as u32, member, targets)?;
        }
        let root_index = self.index(self.members.len())?;
        self.member((index, &id), u32::MAX, &root, targets)?;
        let lookup = self.lookup(first_member as usize, members.len())?;
        let (variants, variant_bits) = match kind {
            ShapeKind::Union => self.variants(first_member as usize, members.len())?,
            _ => Default::default(),
        };
        if let Some((status, client, retryable, query)) = error {
            let (query_code, query_status) = query.unwrap_or_default();
            let query_code = self.intern(&query_code)?;
            self.errors.push(ErrorDef {
                status,
                client,
                retryable,
                query_code,
                query_status,
            });
        }
        let has_error = self.shapes.iter().filter(|shape| shape.error != 0).count();
        let error = if self.errors.len() > has_error {
            self.errors.len() as u32
        } else {
            0
        };
        let id = self.intern(&id)?;
        self.shapes.push(ShapeDef {
            id,
            kind,
            root: root_index,
            first_member,
            member_count: members.len() as u32,
            required,
            lookup: lookup.tables,
            lookup_bits: lookup.bits,
            lookup_whole: lookup.whole,
            variants,
            variant_bits,
            error,
            flags,
        });
        Ok(())
    }

    fn member(
        &mut self,
        (container, id): (u32, &str),
        ordinal: u32,
        spec: &MemberSpec,
        targets: &[(ShapeKind, MemberSpec)],
    ) -> Result<(), BuildError> {
        let Some((kind, target)) = targets.get(spec.target.0 as usize) else {
            return Err(no_shape(&format!("{id}${}", spec.name), spec.target));
        };
        let inherited = [
            MemberFlags::SPARSE,
            MemberFlags::STREAMING,
            MemberFlags::REQUIRES_LENGTH,
            MemberFlags::SENSITIVE,
        ];
        let mut flags = spec.flags;
        for flag in inherited {
            if target.flags.contains(flag) {
                flags = flags.with(flag);
            }
        }
        let timestamp_format = spec.timestamp_format.or(target.timestamp_format);
        if let Some(json) = &spec.default_json {
            if defaults::value(json, *kind, timestamp_format).is_none() {
                return Err(BuildError(format!(
                    "{id}${}: the default {json:.40} is not {}",
                    spec.name,
                    kind.describe()
                )));
            }
            flags = flags.with(MemberFlags::DEFAULT);
        }
        if spec.xml_name.is_some() {
            flags = flags.with(MemberFlags::XML_NAMED);
        }
        let media_type = if spec.media_type.is_empty() {
            &target.media_type
        } else {
            &spec.media_type
        };
        let def = MemberDef {
            container,
            target: spec.target.0,
            kind: *kind,
            location: spec.location,
            timestamp_format,
            flags,
            ordinal,
            location_name: self.intern(&spec.location_name)?,
            media_type: self.intern(media_type)?,
            constraint: match self.shape_constraints.get(spec.target.0 as usize) {
                // The constraints of root members have already been added.
                Some(index) if ordinal == u32::MAX => *index,
                index => self.constraint(&spec.constraints, index.copied())?,
            },
            default: self.intern(spec.default_json.as_deref().unwrap_or_default())?,
        };
        self.members.push(def);
        let parts = NameParts {
            member: &spec.name,
            json: spec.json_name.as_deref(),
            xml: spec.xml_name.as_deref(),
            xml_namespace: spec
                .xml_namespace
                .as_ref()
                .map(|(prefix, uri)| (prefix.as_deref(), uri.as_str())),
            xml_attribute: spec.flags.contains(MemberFlags::XML_ATTRIBUTE),
            ec2: spec.ec2_name.as_deref(),
        };
        for source in NameSource::ALL {
            let name = parts.plain(source);
            if name.len() > MAX_NAME_LEN {
                let start: String = name.chars().take(40).collect();
                return Err(BuildError(format!(
                    "{id}: the name `{start}...` has {} bytes; the maximum is {MAX_NAME_LEN}",
                    name.len()
                )));
            }
            let span = self.intern(&name)?;
            self.plain[source as usize].push(span);
        }
        for encoding in NameEncoding::ALL {
            let mut run = Vec::new();
            parts.push(&mut run, encoding);
            let name = match Name::short(&run) {
                Some(name) => name,
                None => {
                    let start = self.index(self.code.len())?;
                    self.code.extend_from_slice(&run);
                    // The check includes the padding at the end of the array.
                    let end = self.index(self.code.len() + RUN_PADDING)?;
                    Name::long(start, end - start - RUN_PADDING as u32)
                }
            };
            self.names[encoding as usize].push(name);
        }
        Ok(())
    }

    fn has(&self, shape: ShapeRef) -> bool {
        (shape.0 as usize) < self.shapes.len()
    }

    fn indices(&self, span: Span) -> &[u32] {
        self.lists.get(span.range()).unwrap_or_default()
    }

    fn list(&mut self, indices: &[u32]) -> Result<Span, BuildError> {
        let start = self.index(self.lists.len())?;
        self.lists.extend_from_slice(indices);
        let len = self.index(self.lists.len())? - start;
        Ok(Span { start, len })
    }

    fn intern(&mut self, text: &str) -> Result<Span, BuildError> {
        if text.is_empty() {
            return Ok(Span::default());
        }
        let start = self.index(self.text.len())?;
        self.text.push_str(text);
        let len = self.index(self.text.len())? - start;
        Ok(Span { start, len })
    }

    /// Converts an index to the stored type.
    fn index(&self, index: usize) -> Result<u32, BuildError> {
        match u32::try_from(index) {
            Ok(stored) if index <= self.max_len => Ok(stored),
            _ => Err(BuildError(format!(
                "too large: more than {} names, members or bytes of text",
                self.max_len
            ))),
        }
    }
}

fn no_shape(id: &str, shape: ShapeRef) -> BuildError {
    BuildError(format!("{id}: shape {} does not exist", shape.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::tests::named;

    #[test]
    fn array_lengths_are_limited() {
        let assemble = |max_len| Assembly::new(max_len).assemble(named(100));
        let set = assemble(usize::MAX).unwrap();
        let longest = set.text.len().max(set.code.len());
        assert!(assemble(longest).is_ok());
        let error = assemble(longest - 1).unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "too large: more than {} names, members or bytes of text",
                longest - 1
            )
        );
    }
}
