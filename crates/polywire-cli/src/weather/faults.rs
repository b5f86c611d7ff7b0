//! What calls can end in instead of an output.

use polywire::prelude::*;

/// What was asked for is not there: the model's `NoSuchResource`. The kind is
/// `city`, `station` or `region`.
pub(super) fn no_such(kind: &'static str, id: &str) -> Fault {
    no_resource(kind, id, format!("there is no {kind} \"{id}\""))
}

/// As [`no_such`], in other words.
pub(super) fn no_resource(kind: &'static str, id: &str, message: String) -> Fault {
    Fault::modelled(
        "example.weather#NoSuchResource",
        Map::from_iter([
            ("message", Value::from(message)),
            ("resourceKind", Value::from(kind)),
            ("resourceId", Value::from(id)),
        ]),
    )
}

/// The report of a storm makes no sense: the model's `InvalidReport`.
pub(super) fn invalid_report(message: &'static str, problems: Map) -> Fault {
    Fault::modelled(
        "example.weather#InvalidReport",
        Map::from_iter([
            ("message", Value::from(message)),
            ("problems", Value::from(problems)),
        ]),
    )
}

/// A member that breaks a constraint of the model, where the model has no error
/// of its own for that.
pub(super) fn invalid(member: &str, expected: &str) -> Fault {
    Fault::new(FaultKind::Invalid, format!("{member}: expected {expected}"))
}
