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
mod http;
mod lifecycle;
mod lookup;
mod members;
mod recursion;
mod references;
mod routes;
mod targets;
mod tokens;
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

pub(crate) fn validate(model: &Model, problems: &mut Problems) {
    members::check_names_by_case(model, problems);
    let mut lookups = Lookups::default();
    let mut values = Values::new(model);
    for shape in model.shapes() {
        if problems.is_full() {
            return;
        }
        targets::check(model, shape, problems);
        members::check(shape, problems);
        enums::check(shape, problems);
        unions::check(model, shape, problems);
        encoding::check_json_names(shape, problems);
        traits::check(model, shape, &mut values, problems);
        defaults::check(model, shape, &mut values, problems);
        http::check(model, shape, &mut lookups, problems);
    }
    recursion::check(model, problems);
    tokens::check(model, problems);
    updates::check(model, problems);
    routes::check(model, problems);
}

/// Every shape that can be meant: for suggestions.
fn everything(model: &Model) -> impl Iterator<Item = &Shape> + Clone {
    model.shape_slice().iter().chain(Bundled::get().shapes())
}
