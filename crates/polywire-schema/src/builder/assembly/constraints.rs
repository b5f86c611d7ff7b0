//! Builds the constraints of shapes and members.

use super::Assembly;
use crate::builder::BuildError;
use crate::{
    BigDecimal, ConstraintDef, ConstraintSpec, EnumValueDef, MemberDef, MemberFlags, ShapeFlags,
    Span,
};

impl Assembly {
    /// Adds the constraints of a member, combined with those of its target, to the array. `target`
    /// and the result are an index plus one, or 0 for no constraints.
    pub(super) fn constraint(
        &mut self,
        spec: &ConstraintSpec,
        target: Option<u32>,
    ) -> Result<u32, BuildError> {
        let target = target.unwrap_or(0);
        if spec.is_empty() {
            return Ok(target);
        }
        let mut def = match target.checked_sub(1) {
            Some(index) => self.constraints[index as usize],
            None => ConstraintDef {
                min_length: 0,
                max_length: u64::MAX,
                least: Span::default(),
                most: Span::default(),
                pattern: Span::default(),
                unique_items: false,
                values: Span::default(),
            },
        };
        if let Some((min, max)) = spec.length {
            def.min_length = min.unwrap_or(0);
            def.max_length = max.unwrap_or(u64::MAX);
        }
        if let Some((min, max)) = &spec.range {
            def.least = self.decimal(min.as_deref())?;
            def.most = self.decimal(max.as_deref())?;
        }
        if let Some(pattern) = &spec.pattern {
            def.pattern = self.intern(pattern)?;
        }
        def.unique_items |= spec.unique_items;
        if !spec.values.is_empty() {
            let start = self.index(self.enum_values.len())?;
            for value in &spec.values {
                let (text, number) = match &value.value {
                    Ok(text) => (self.intern(text)?, 0),
                    Err(number) => (Span::default(), *number),
                };
                self.enum_values.push(EnumValueDef {
                    text,
                    number,
                    is_internal: value.is_internal,
                });
            }
            let len = self.index(self.enum_values.len())? - start;
            def.values = Span { start, len };
        }
        self.constraints.push(def);
        self.index(self.constraints.len())
    }

    /// Stores a bound of a range.
    pub(super) fn decimal(&mut self, text: Option<&str>) -> Result<Span, BuildError> {
        let Some(text) = text else {
            return Ok(Span::default());
        };
        match text.parse::<BigDecimal>() {
            Ok(_) => self.intern(text),
            Err(_) => Err(BuildError(format!(
                "a bound of a range is not a number: {text:.40}"
            ))),
        }
    }

    /// Marks the shapes that contain constraints or sensitive data. Called after all shapes have
    /// been added.
    pub(super) fn mark_shapes(&mut self) {
        self.mark_above(
            |member| member.constraint > 0,
            MemberFlags::CONSTRAINED,
            ShapeFlags::CONSTRAINED,
        );
        self.mark_above(
            |member| member.flags.contains(MemberFlags::SENSITIVE),
            MemberFlags::NONE,
            ShapeFlags::SENSITIVE,
        );
    }

    /// Adds `member_flag` to the members that `is_start` selects and to all members whose values
    /// contain them, and adds `shape_flag` to the shapes of these members. Visits each member at
    /// most twice.
    fn mark_above(
        &mut self,
        is_start: impl Fn(&MemberDef) -> bool,
        member_flag: MemberFlags,
        shape_flag: ShapeFlags,
    ) {
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); self.shapes.len()];
        let mut work = Vec::new();
        for (index, member) in self.members.iter().enumerate() {
            users[member.target as usize].push(index as u32);
            if is_start(member) {
                work.push(index as u32);
            }
        }
        while let Some(index) = work.pop() {
            let member = &mut self.members[index as usize];
            member.flags = member.flags.with(member_flag);
            // A root member is not part of its shape.
            let shape = &mut self.shapes[member.container as usize];
            if member.ordinal != u32::MAX && !shape.flags.contains(shape_flag) {
                shape.flags = shape.flags.with(shape_flag);
                work.append(&mut users[member.container as usize]);
            }
        }
    }
}
