//! The users of each shape.

use std::collections::HashMap;

use crate::model::{Model, Relation, neighbors};
use crate::shape::Shape;

/// For each shape of a model, the shapes that refer to it, with the relation.
///
/// It is built in one pass over the model. It does not include uses by bundled definitions, and
/// traits.
///
/// # Examples
///
/// ```
/// use polywire_model::{Loader, Relation};
///
/// let text = r#"
///     $version: "2"
///     namespace example
///     operation GetCity { output := { where: Place } }
///     structure Place { latitude: Double, longitude: Double }
///     list Places { member: Place }
/// "#;
/// let model = Loader::new().add_text("example.smithy", text).assemble()?.model;
/// let uses = model.uses();
/// let users: Vec<&str> = uses.of("example#Place").map(|(_, shape)| shape.id().name()).collect();
/// assert_eq!(users, ["GetCityOutput", "Places"]);
/// let (relation, user) = uses.of("example#GetCityOutput").next().unwrap();
/// assert_eq!((relation, user.id().name()), (Relation::Output, "GetCity"));
/// assert!(uses.of("example#GetCity").next().is_none());
/// # Ok::<(), polywire_model::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Uses<'m> {
    users: HashMap<&'m str, Vec<(Relation, &'m Shape)>>,
}

impl<'m> Uses<'m> {
    pub(crate) fn in_model(model: &'m Model) -> Self {
        let mut users: HashMap<&str, Vec<(Relation, &Shape)>> = HashMap::new();
        for shape in model.shapes() {
            for (relation, reference) in neighbors(shape) {
                users
                    .entry(reference.id().as_str())
                    .or_default()
                    .push((relation, shape));
            }
        }
        Self { users }
    }

    /// The shapes that refer to this one, sorted by id, with the relation. A shape occurs once for
    /// each reference.
    pub fn of(&self, id: &str) -> impl ExactSizeIterator<Item = (Relation, &'m Shape)> {
        self.users
            .get(id)
            .map(Vec::as_slice)
            .unwrap_or_default()
            .iter()
            .copied()
    }
}
