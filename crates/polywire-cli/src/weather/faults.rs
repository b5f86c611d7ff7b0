//! The errors of operations.

use polywire::prelude::*;

/// Returns the modelled error `NoSuchResource`. The kind is `city`, `station` or `region`.
pub(super) fn no_such_resource(kind: &'static str, id: &str) -> Fault {
    no_resource(kind, id, format!("there is no {kind} \"{id}\""))
}

/// Like [`no_such_resource`], with another message.
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

/// Returns the modelled error `InvalidReport`.
pub(super) fn invalid_report(message: &'static str, problems: Map) -> Fault {
    Fault::modelled(
        "example.weather#InvalidReport",
        Map::from_iter([
            ("message", Value::from(message)),
            ("problems", Value::from(problems)),
        ]),
    )
}

/// Returns an error for a constraint without a modelled error.
pub(super) fn invalid(member: &str, expected: &str) -> Fault {
    Fault::new(FaultKind::Invalid, format!("{member}: expected {expected}"))
}
