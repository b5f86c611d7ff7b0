//! `@idempotencyToken` has an effect only in the input of an operation.

use std::collections::HashMap;

use polywire_schema::ShapeId;

use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::{Model, Relation, neighbors};
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Member, Shape, ShapeType};
use crate::source::SourceLocation;

const TOKEN: &str = ids::IDEMPOTENCY_TOKEN;

pub(super) fn check(model: &Model, problems: &mut Problems) {
    let mut holders: HashMap<&ShapeId, Vec<&Member>> = HashMap::new();
    for shape in model.shapes_of(ShapeType::Structure) {
        // Mixins are checked in the shapes that use them.
        let tokens = shape.members().iter().filter(|m| m.traits().has(TOKEN));
        let tokens: Vec<&Member> = tokens.collect();
        if !tokens.is_empty() && !shape.traits().is_mixin() {
            holders.insert(shape.id(), tokens);
        }
    }
    // One finding for each member, at the first use without effect.
    for shape in model.shapes() {
        if holders.is_empty() || problems.is_full() {
            return;
        }
        for (relation, reference) in neighbors(shape) {
            if matches!(relation, Relation::Input | Relation::Mixin) {
                continue;
            }
            for token in holders.remove(reference.id()).unwrap_or_default() {
                report(token, relation, shape, reference.location(), problems);
            }
        }
    }
}

#[cold]
fn report(
    token: &Member,
    relation: Relation,
    user: &Shape,
    used: SourceLocation,
    problems: &mut Problems,
) {
    problems.push_with(Severity::Warning, |_| {
        let applied = token.traits().find(TOKEN);
        let location = applied.map_or(token.location(), |applied| applied.location());
        let what = match relation {
            Relation::Error => "in an error of",
            Relation::Output => "in the output of",
            _ => "in",
        };
        let message = format!(
            "@idempotencyToken on `{}` has no effect {what} `{}`",
            token.id(),
            user.id()
        );
        Problem::warning(rules::IDEMPOTENCY_TOKEN_IGNORED, location, message)
            .expected("a member of the input of an operation")
            .related("used", used)
    });
}
