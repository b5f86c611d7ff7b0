//! A model without mixins: what they give stands in the shapes themselves.

use std::collections::HashMap;

use crate::model::Model;
use crate::shape::Shape;

impl Model {
    /// The same model without mixins: the shapes that use them hold what they
    /// give as their own, and the mixins themselves are gone.
    ///
    /// Members and traits of an assembled model are already flattened; what
    /// changes is how the model is written, and that nobody meets a shape that
    /// no data has.
    ///
    /// # Examples
    ///
    /// ```
    /// use polywire_model::Loader;
    ///
    /// let text = r#"
    ///     $version: "2"
    ///     namespace example
    ///     @mixin
    ///     structure Named { @required name: String }
    ///     structure City with [Named] { population: Long }
    /// "#;
    /// let model = Loader::new().add_text("example.smithy", text).assemble()?.model;
    /// let flat = model.without_mixins();
    /// assert!(flat.get("example#Named").is_none());
    /// let city = flat.get("example#City").unwrap();
    /// assert!(city.mixins().is_empty());
    /// assert!(!city.member("name").unwrap().is_inherited());
    /// # Ok::<(), polywire_model::ModelError>(())
    /// ```
    #[must_use]
    pub fn without_mixins(&self) -> Self {
        let shapes: Vec<Shape> = self
            .shapes()
            .filter(|shape| !shape.traits().is_mixin())
            .map(|shape| {
                let mut shape = shape.clone();
                shape.flatten();
                shape
            })
            .collect();
        // As many as there are: an index of u32 held them before.
        let index: HashMap<_, _> = (0..)
            .zip(&shapes)
            .map(|(at, shape)| (shape.id().clone(), at))
            .collect();
        Self::new(
            shapes,
            index,
            self.metadata().clone(),
            self.sources().clone(),
            self.bundled(),
        )
    }
}
