//! Flattens a model: mixins are removed, and the shapes that used them have their members and
//! traits as their own.

use std::collections::HashMap;

use crate::model::Model;
use crate::shape::Shape;

impl Model {
    /// The same model without mixins. The shapes that used them have the inherited members and
    /// traits as their own, and the mixins are removed.
    ///
    /// Members and traits of an assembled model are flattened already. This changes how the model
    /// is written, and removes the shapes of mixins, which no data has.
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
        // There are at most as many shapes as before, and their indices were u32.
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
