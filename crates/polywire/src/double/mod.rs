//! A test double of a service: it remembers, answers with stubs, and counts calls.
//!
//! An operation is answered by the first of these that applies:
//!
//! 1. a stub: an answer that a test has chosen, [`add_stubs`];
//! 2. a recording of equal inputs, [`DoubleBuilder::replay`];
//! 3. what calls have created before, by the conventions of `docs/double.md`;
//! 4. the mock: [`mock`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use polywire::double::Double;
//! use polywire::model::Loader;
//! use polywire::prelude::*;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let text = r#"
//!     $version: "2"
//!     namespace example
//!     service Zoo { version: "1", operations: [CreateAnimal, GetAnimal] }
//!     operation CreateAnimal { input := { @required name: String, legs: Integer } }
//!     operation GetAnimal {
//!         input := { @required name: String }
//!         output := { name: String, legs: Integer }
//!         errors: [AnimalNotFound]
//!     }
//!     @error("client")
//!     structure AnimalNotFound { message: String }
//! "#;
//! let model = Arc::new(Loader::new().add_text("zoo.smithy", text).assemble()?.model);
//! let service = polywire::service_of(&model, None)?;
//! let double = Double::builder(model, service.clone()).build();
//! let server = Server::builder(service.clone()).protocol(ProtocolKind::RpcV2Cbor);
//! let server = double.serve(server).build()?.listen("127.0.0.1:0".parse()?).await?;
//!
//! let url = format!("http://{}", server.address());
//! let client = Client::builder(service, ProtocolKind::RpcV2Cbor).connect(&url)?;
//! let ibis = || Map::from_iter([("name", Value::from("ibis"))]);
//! assert!(client.call("GetAnimal", ibis()).await.is_err());
//! let mut new = ibis();
//! new.insert("legs", 2);
//! client.call("CreateAnimal", new).await?;
//! assert_eq!(client.call("GetAnimal", ibis()).await?["legs"].as_i64(), Some(2));
//! assert_eq!(double.count("GetAnimal"), 2);
//! # server.shutdown().await;
//! # Ok(()) }).map_err(|error: Box<dyn std::error::Error>| error)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod builder;
mod calls;
mod convention;
#[cfg(feature = "state-file")]
mod file;
mod find;
mod json;
mod pages;
mod replay;
mod state;
mod stubs;
mod tagged;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use polywire_model::Model;
use polywire_rpc::{Context, IntoOutput, ServerBuilder, ServiceHandle, dynamic};
use polywire_schema::Map;

pub use self::builder::{DoubleBuilder, Recorder};
#[cfg(feature = "state-file")]
pub use self::file::{StateFile, StateFileError};
pub use self::find::add_stubs;
pub use self::pages::page;
pub use self::state::{Change, Journal, LoadError};
pub use self::stubs::StubError;

use self::calls::Calls;
use self::convention::Conventions;
use self::replay::Replay;
use self::state::State;
use self::stubs::Stubs;
use crate::mock::{self, BadExample};

/// A test double of a service. Clones share their state.
#[derive(Clone)]
pub struct Double(Arc<Inner>);

pub(crate) struct Inner {
    model: Arc<Model>,
    service: ServiceHandle,
    /// By the index of the operation.
    mocks: Vec<Option<Arc<mock::Answers>>>,
    bad_examples: Vec<(String, BadExample)>,
    conventions: Arc<Conventions>,
    /// `None` if nothing is remembered.
    state: Option<Mutex<State>>,
    stubs: Mutex<Stubs>,
    replay: Mutex<Replay>,
    calls: Mutex<Calls>,
    recorder: Option<Mutex<Recorder>>,
}

impl fmt::Debug for Double {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Double")
            .field("service", &self.0.service)
            .finish_non_exhaustive()
    }
}

impl Double {
    /// Returns a builder of a double for a service of a model.
    #[must_use]
    pub fn builder(model: Arc<Model>, service: ServiceHandle) -> DoubleBuilder {
        DoubleBuilder::new(model, service)
    }

    /// Sets the handlers of all operations.
    pub fn serve(&self, mut builder: ServerBuilder) -> ServerBuilder {
        for operation in self.0.service.service().operations() {
            let (inner, index) = (Arc::clone(&self.0), operation.index());
            let handler = dynamic(move |input: Map, context: Context| {
                let inner = Arc::clone(&inner);
                async move {
                    let answer = answer::answer(inner, index, input, &context).await;
                    answer.map(IntoOutput::into_output)
                }
            });
            builder = builder.operation(operation.name(), handler);
        }
        builder
    }

    /// The service.
    #[must_use]
    pub fn service(&self) -> &ServiceHandle {
        &self.0.service
    }

    /// The examples that the mock cannot answer with, with their operations.
    pub fn bad_examples(&self) -> impl Iterator<Item = (&str, &BadExample)> {
        let bad = self.0.bad_examples.iter();
        bad.map(|(operation, example)| (operation.as_str(), example))
    }

    /// Which operations remember what, and why others do not: a table for people.
    #[must_use]
    pub fn explain(&self) -> String {
        match &self.0.state {
            Some(_) => self.0.conventions.explain(self.0.service.service()),
            None => "nothing is remembered\n".to_owned(),
        }
    }

    /// How often an operation has been called since the last reset. 0 if there is no such
    /// operation.
    #[must_use]
    pub fn count(&self, operation: &str) -> u64 {
        let operation = self.0.service.find_operation(operation);
        operation.map_or(0, |operation| {
            lock(&self.0.calls).count(operation.index(), None).matched
        })
    }

    /// Forgets calls, stubs and all that is remembered. Recordings stay.
    ///
    /// # Errors
    ///
    /// The journal could not store it. Then nothing changes.
    pub fn reset(&self) -> Result<(), polywire_protocol::Fault> {
        if let Some(state) = &self.0.state {
            lock(state).reset()?;
        }
        lock(&self.0.stubs).clear();
        lock(&self.0.calls).clear();
        Ok(())
    }
}

/// Locks what no panic leaves half done: changes are made by single calls.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
