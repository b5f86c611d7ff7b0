//! Checks of the assembled model: what only shows when all files are joined.
//!
//! Each file here holds one subject and can be read alone; all of them walk the
//! shapes in order and add to the same list of findings.

mod access;
mod constraints;
mod defaults;
mod definitions;
mod encoding;
mod enums;
mod exclusive;
mod http;
mod lifecycle;
mod lookup;
mod members;
mod metadata;
mod policy;
mod protocols;
mod recursion;
mod references;
mod routes;
mod selectors;
mod targets;
mod tokens;
mod trait_rules;
mod traits;
mod unions;
mod updates;
mod values;

use crate::bundled::Bundled;
use crate::diagnostic::Problems;
use crate::model::Model;
use crate::shape::Shape;

use self::lookup::Lookups;
use self::values::Values;

pub(crate) use self::policy::Policy;

pub(crate) fn validate(model: &Model, problems: &mut Problems) {
    let policy = Policy::of(model, problems);
    problems.set_policy(policy);
    check_all(model, problems);
    problems.subject(None);
    problems.name_members(|shape, location| policy::member_at(model, shape, location));
}

fn check_all(model: &Model, problems: &mut Problems) {
    members::check_names_by_case(model, problems);
    let mut lookups = Lookups::default();
    let mut values = Values::new(model);
    for shape in model.shapes() {
        if problems.is_full() {
            return;
        }
        problems.subject(Some(shape.id().clone()));
        targets::check(model, shape, problems);
        members::check(shape, problems);
        enums::check(shape, problems);
        unions::check(model, shape, problems);
        encoding::check_json_names(shape, problems);
        traits::check(model, shape, &mut values, problems);
        defaults::check(model, shape, &mut values, problems);
        http::check(model, shape, &mut lookups, problems);
    }
    problems.subject(None);
    trait_rules::check(model, problems);
    metadata::check(model, &mut values, problems);
    protocols::check(model, problems);
    recursion::check(model, problems);
    tokens::check(model, problems);
    updates::check(model, problems);
    routes::check(model, problems);
    policy::check(model, problems);
}

/// Every shape that can be meant: for suggestions.
fn everything(model: &Model) -> impl Iterator<Item = &Shape> + Clone {
    model.shape_slice().iter().chain(Bundled::get().shapes())
}
