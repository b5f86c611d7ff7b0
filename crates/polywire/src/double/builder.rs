//! Builds doubles.

use std::io;
use std::sync::{Arc, Mutex};

use polywire_model::Model;
use polywire_rpc::ServiceHandle;

use super::calls::Calls;
use super::convention::Conventions;
use super::replay::Replay;
use super::state::{DEFAULT_BYTES, Journal, LoadError, State};
use super::stubs::{StubError, Stubs};
use super::{Double, Inner};
use crate::mock;

/// Writes a line of a recording: JSON with a line break.
pub type Recorder = Box<dyn FnMut(&[u8]) -> io::Result<()> + Send>;

/// Builds a [`Double`].
pub struct DoubleBuilder {
    model: Arc<Model>,
    service: ServiceHandle,
    conventions: Arc<Conventions>,
    state: State,
    is_stateless: bool,
    replay: Replay,
    recorder: Option<Recorder>,
}

impl std::fmt::Debug for DoubleBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DoubleBuilder")
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

impl DoubleBuilder {
    pub(super) fn new(model: Arc<Model>, service: ServiceHandle) -> Self {
        let conventions = Arc::new(Conventions::of(&model, service.service()));
        let namespace = namespace(&model, &service);
        let id = service.service().id().to_owned();
        let state = State::new(&id, &namespace, Arc::clone(&conventions), DEFAULT_BYTES);
        Self {
            model,
            service,
            conventions,
            state,
            is_stateless: false,
            replay: Replay::default(),
            recorder: None,
        }
    }

    /// Sets whether nothing is remembered. Default: false.
    #[must_use]
    pub const fn stateless(mut self, is_stateless: bool) -> Self {
        self.is_stateless = is_stateless;
        self
    }

    /// Sets how many bytes are remembered at most, estimated. Calls that would exceed it fail as
    /// overload. Default: 256 MiB.
    #[must_use]
    pub fn state_bytes(mut self, bytes: usize) -> Self {
        self.state.limit(bytes);
        self
    }

    /// Starts with things that a journal has stored, given by kind and content, and stores all
    /// changes there. Kinds that the service does not have are skipped.
    ///
    /// # Errors
    ///
    /// A content is not what the journal was given, or the model identifies things otherwise now.
    pub fn journal<K: AsRef<str>, C: AsRef<[u8]>>(
        mut self,
        journal: Arc<dyn Journal>,
        things: impl IntoIterator<Item = (K, C)>,
    ) -> Result<Self, LoadError> {
        for (kind, content) in things {
            self.state.restore(kind.as_ref(), content.as_ref())?;
        }
        self.state.keep_in(journal);
        Ok(self)
    }

    /// Adds a recording: JSON lines as [`record`](Self::record) writes them. Calls with the same
    /// input get the recorded answers in their order, and then the last one again.
    ///
    /// # Errors
    ///
    /// The line, and what was expected there.
    pub fn replay(mut self, text: &str) -> Result<Self, StubError> {
        self.replay.read(self.service.service(), text)?;
        Ok(self)
    }

    /// Records all calls. If a line cannot be written, the call fails.
    #[must_use]
    pub fn record(mut self, recorder: Recorder) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// Builds the double.
    #[must_use]
    pub fn build(self) -> Double {
        let service = self.service.service();
        let mut mocks = Vec::new();
        let mut bad_examples = Vec::new();
        for operation in service.operations() {
            let index = operation.index() as usize;
            mocks.resize_with(mocks.len().max(index + 1), || None);
            if let Some(mock) = mock::handler(&self.model, service, operation) {
                mocks[index] = Some(mock.answers);
                let bad = mock.bad_examples.into_iter();
                bad_examples.extend(bad.map(|bad| (operation.name().to_owned(), bad)));
            }
        }
        Double(Arc::new(Inner {
            model: self.model,
            mocks,
            bad_examples,
            conventions: self.conventions,
            state: (!self.is_stateless).then(|| Mutex::new(self.state)),
            stubs: Mutex::new(Stubs::default()),
            replay: Mutex::new(self.replay),
            calls: Mutex::new(Calls::default()),
            recorder: self.recorder.map(Mutex::new),
            service: self.service,
        }))
    }
}

/// The third part of the ARNs of a service.
fn namespace(model: &Model, service: &ServiceHandle) -> String {
    let service = service.service();
    let shape = model.get(service.id());
    let own = shape.and_then(|shape| shape.traits().aws_service());
    let own = own.and_then(|own| own.arn_namespace.map(str::to_owned));
    own.unwrap_or_else(|| service.name().to_ascii_lowercase())
}
