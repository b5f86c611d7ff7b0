//! Traits: their definitions must exist and not be private, and their values must match them.
//! Further rules about traits of Smithy are called from here.

use polywire_schema::ShapeId;

use super::selectors::selector_problem;
use super::values::{Leniency, Subject, Values, beginning};
use super::{access, constraints, definitions, encoding, enums, everything, lifecycle, references};
use crate::assemble::suggest_shape;
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::Model;
use crate::rules;
use crate::selector::Selector;
use crate::severity::Severity;
use crate::shape::{Member, Shape, ShapeType};
use crate::spelling::did_you_mean;
use crate::traits::{AppliedTrait, Traits};

/// The shape or member to which a trait is applied.
#[derive(Clone, Copy)]
pub(super) struct Owner<'m> {
    /// The id of the shape or member.
    pub(super) id: &'m ShapeId,
    /// The shape, or the shape of the member.
    pub(super) shape: &'m Shape,
    /// The member, if it is one.
    pub(super) member: Option<&'m Member>,
    /// The shape of the values: the target of the member, or the shape itself.
    pub(super) data: Option<&'m Shape>,
}

pub(super) fn check<'m>(
    model: &'m Model,
    shape: &'m Shape,
    values: &mut Values<'m>,
    problems: &mut Problems,
) {
    let owner = Owner {
        id: shape.id(),
        shape,
        member: None,
        data: Some(shape),
    };
    check_all(model, owner, shape.traits(), values, problems);
    for member in shape.members() {
        let owner = Owner {
            id: member.id(),
            shape,
            member: Some(member),
            data: model.target(member),
        };
        check_all(model, owner, member.traits(), values, problems);
    }
}

fn check_all<'m>(
    model: &'m Model,
    owner: Owner<'m>,
    traits: &'m Traits,
    values: &mut Values<'m>,
    problems: &mut Problems,
) {
    // Inherited from a mixin, where it was checked.
    for applied in traits.iter().filter(|applied| !applied.is_inherited()) {
        if problems.is_full() {
            return;
        }
        check_trait(model, owner, applied, values, problems);
    }
}

fn check_trait<'m>(
    model: &'m Model,
    owner: Owner<'m>,
    applied: &'m AppliedTrait,
    values: &mut Values<'m>,
    problems: &mut Problems,
) {
    let Some(definition) = model.get(applied.id()) else {
        let severity = problems.severity_of_unknown_traits();
        problems.push_with(severity, |hints| {
            let hint = hints.then(|| suggest_trait(model, applied)).flatten();
            let (id, owner) = (applied.id(), owner.id);
            let message = format!("the trait `{id}` on `{owner}` is not defined");
            let mut problem = Problem::warning(rules::UNKNOWN_TRAIT, applied.location(), message);
            problem.severity = severity;
            problem.maybe_hint(hint)
        });
        return;
    };
    if !definition.traits().is_trait_definition() {
        problems.push(
            Problem::error(
                rules::NOT_A_TRAIT,
                applied.location(),
                format!("`{}` is not a trait", applied.id()),
            )
            .expected("a shape with @trait")
            .related("defined", definition.location()),
        );
        return;
    }
    lifecycle::check_trait(owner, applied, definition, problems);
    access::check_trait(owner, applied, definition, problems);
    let subject = Subject {
        rule: rules::TRAIT_VALUE,
        what: "the value of the trait",
        id: applied.id(),
        at: applied.location(),
        leniency: Leniency::default(),
    };
    values.check(subject, applied.value(), definition, problems);
    let Some(name) = ids::in_prelude(applied.id()) else {
        return;
    };
    match name {
        "box" => check_box(owner, applied, problems),
        "enum" => enums::check_trait(owner, applied, problems),
        "externalDocumentation" => check_urls(owner, applied, problems),
        "idRef" => check_id_ref(model, owner, applied, problems),
        "length" => constraints::length(owner, applied, problems),
        "mediaType" => encoding::media_type(owner, applied, problems),
        "pattern" => constraints::pattern(owner, applied, problems),
        "private" => access::check_private_member(owner, applied, problems),
        "range" => constraints::range(owner, applied, problems),
        "references" => references::check(model, owner, applied, problems),
        "trait" => definitions::check(model, owner.shape, applied, problems),
        "xmlFlattened" => encoding::xml_flattened(model, owner, problems),
        "xmlNamespace" => encoding::xml_namespace(owner, applied, problems),
        _ => {}
    }
}

/// `@box` in files of Smithy 2.0 is reported elsewhere.
fn check_box(owner: Owner<'_>, applied: &AppliedTrait, problems: &mut Problems) {
    if owner.shape.shape_type() == ShapeType::Union {
        problems.push_with(Severity::Warning, |_| {
            let message = format!("@box on `{}` has no effect", owner.id);
            Problem::warning(rules::UNION, applied.location(), message)
                .hint("members of unions can always be absent")
        });
    }
}

/// `@externalDocumentation`: URLs must be absolute.
fn check_urls(owner: Owner<'_>, applied: &AppliedTrait, problems: &mut Problems) {
    let is_url = |text: &str| {
        text.split_once(':').is_some_and(|(scheme, _)| {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
            scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme.bytes().all(is_part)
        })
    };
    let links = applied.value().as_object();
    for (name, node) in links.iter().flat_map(|links| links.iter()) {
        if node.as_str().is_none_or(is_url) {
            continue;
        }
        problems.push_with(Severity::Error, |_| {
            let shown = beginning(name);
            let message = format!("the link `{shown}` of `{}` is not a URL", owner.id);
            Problem::error(rules::TRAIT_VALUE, node.location(), message)
                .expected("a URL with a scheme, such as `https://example.com/`")
        });
    }
}

/// The selector of `@idRef` must be valid, even if no value is checked.
fn check_id_ref(model: &Model, owner: Owner<'_>, applied: &AppliedTrait, problems: &mut Problems) {
    let Some(node) = applied.value().get("selector") else {
        return;
    };
    if let Some(Err(error)) = node.as_str().map(Selector::parse) {
        let what = format!("the selector of @idRef on `{}`", owner.id);
        let problem = selector_problem(model, rules::TRAIT_VALUE, node, &what, &error);
        problems.push(problem.about(owner.id));
    }
}

fn suggest_trait(model: &Model, applied: &AppliedTrait) -> Option<String> {
    suggest_shape(
        applied.id(),
        everything(model).filter(|shape| shape.id().name() == applied.id().name()),
    )
    .or_else(|| {
        let definitions = everything(model)
            .filter(|shape| shape.traits().is_trait_definition())
            .filter(|shape| {
                [applied.id().namespace(), ids::PRELUDE].contains(&shape.id().namespace())
            });
        did_you_mean(
            applied.id().name(),
            definitions.map(|shape| shape.id().name()),
        )
    })
}
