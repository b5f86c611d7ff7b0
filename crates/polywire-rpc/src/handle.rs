//! A service that is kept.

use std::fmt;
use std::sync::{Arc, LazyLock};

use polywire_schema::{Operation, SchemaBuilder, SchemaSet, Service, ServiceSpec};

/// A service and the set that it stands in, kept alive together.
///
/// Cloning counts up.
#[derive(Clone)]
pub struct ServiceHandle {
    set: Arc<SchemaSet<'static>>,
    index: u32,
}

impl ServiceHandle {
    /// The service at an index of a set.
    ///
    /// # Panics
    ///
    /// There is no such service.
    #[must_use]
    pub fn new(set: Arc<SchemaSet<'static>>, index: u32) -> Self {
        // Looked up once here, so that later look-ups cannot fail.
        let _ = set.service(index);
        Self { set, index }
    }

    /// A service without operations: that of a server which has methods only.
    pub(crate) fn empty() -> Self {
        static EMPTY: LazyLock<Arc<SchemaSet<'static>>> = LazyLock::new(|| {
            let mut builder = SchemaBuilder::new();
            builder.service(ServiceSpec {
                id: "polywire#Methods".to_owned(),
                ..ServiceSpec::default()
            });
            #[expect(clippy::expect_used, reason = "nothing is in it that could be wrong")]
            Arc::new(builder.finish().expect("a service without operations"))
        });
        Self::new(Arc::clone(&EMPTY), 0)
    }

    /// The service.
    #[must_use]
    pub fn service(&self) -> Service<'_> {
        self.set.service(self.index)
    }

    /// The operation at an index, as routes give it.
    #[must_use]
    pub fn operation(&self, index: u32) -> Operation<'_> {
        self.set.operation(index)
    }

    /// The operation with a name.
    #[must_use]
    pub fn find_operation(&self, name: &str) -> Option<Operation<'_>> {
        self.service().find_operation(name)
    }

    /// The set.
    #[must_use]
    pub fn set(&self) -> &Arc<SchemaSet<'static>> {
        &self.set
    }
}

impl fmt::Debug for ServiceHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.service())
    }
}
