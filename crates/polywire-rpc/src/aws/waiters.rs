//! Waiters and paginations of models at run time.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use polywire_aws::waiter::{Step, WaitFailure, Waiter};
use polywire_codec::Dynamic;
use polywire_schema::{Map, Value};
use serde_json::Value as Json;
use tokio::time::Instant;

use super::json::json_of;
use crate::client::Pagination;
use crate::random::Random;
use crate::{CallError, Client};

type BoxError = Box<dyn Error + Send + Sync>;

/// The waiters of a model, by name.
///
/// ```
/// use polywire_rpc::aws::Waiters;
///
/// let model = r#"{ "smithy": "2.0", "shapes": { "example#HeadBucket": { "type": "operation", "traits": {
///     "smithy.waiters#waitable": { "BucketExists": { "acceptors": [
///         { "state": "success", "matcher": { "success": true } },
///         { "state": "retry", "matcher": { "errorType": "NotFound" } }
///     ] } }
/// } } } }"#;
/// let waiters = Waiters::from_model(model)?;
/// assert_eq!(waiters.get("BucketExists").unwrap().operation(), "HeadBucket");
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Waiters(BTreeMap<String, OperationWaiter>);

/// A waiter and its operation, for [`Client::wait_until`].
#[derive(Clone, Debug)]
pub struct OperationWaiter {
    operation: String,
    waiter: Waiter,
}

impl Waiters {
    /// Reads the trait `smithy.waiters#waitable` of all operations of a model in the JSON AST.
    ///
    /// # Errors
    ///
    /// The text is not JSON, or a waiter is not valid.
    pub fn from_model(model: &str) -> Result<Self, BoxError> {
        let mut waiters = BTreeMap::new();
        for (operation, value) in traits(model, "operation", "smithy.waiters#waitable")? {
            let found = Waiter::all_from_json(&value);
            let found = found.map_err(|error| format!("the waiters of {operation}: {error}"))?;
            for (name, waiter) in found {
                let operation = operation.clone();
                waiters.insert(name, OperationWaiter { operation, waiter });
            }
        }
        Ok(Self(waiters))
    }

    /// The waiter `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OperationWaiter> {
        self.0.get(name)
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl OperationWaiter {
    /// A waiter of an operation.
    #[must_use]
    pub fn new(operation: &str, waiter: Waiter) -> Self {
        Self {
            operation: operation.to_owned(),
            waiter,
        }
    }

    /// The name of the operation that the waiter calls.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.operation
    }
}

/// Why a waiter ended without success.
#[derive(Clone, Debug)]
pub struct WaitError {
    failure: Option<WaitFailure>,
    last: Option<CallError>,
}

impl WaitError {
    /// What the waiter says. `None` if a call did not get a response of the service.
    #[must_use]
    pub fn failure(&self) -> Option<&WaitFailure> {
        self.failure.as_ref()
    }

    /// The error of the last call, if it failed.
    #[must_use]
    pub fn last(&self) -> Option<&CallError> {
        self.last.as_ref()
    }
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.failure, &self.last) {
            (Some(failure), Some(last)) => write!(f, "{failure}: {last}"),
            (Some(failure), None) => failure.fmt(f),
            (None, Some(last)) => last.fmt(f),
            (None, None) => f.write_str("the waiter failed"),
        }
    }
}

impl Error for WaitError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.last.as_ref().map(|last| last as _)
    }
}

impl Client {
    /// Calls an operation until a resource has the state of a waiter, at most as long as `max_wait`. Returns the last
    /// output, or `None` if an error is what the waiter waits for.
    ///
    /// Each call has the deadline and the retries of the client.
    ///
    /// # Errors
    ///
    /// The resource cannot reach the state, did not in time, or a call failed.
    pub async fn wait_until(
        &self,
        waiter: &OperationWaiter,
        input: Map,
        max_wait: Duration,
    ) -> Result<Option<Value>, WaitError> {
        let call_failed = |error| WaitError {
            failure: None,
            last: Some(error),
        };
        let operation = self.service().find_operation(&waiter.operation);
        let operation = operation
            .ok_or_else(|| call_failed(CallError::unknown_operation(&waiter.operation)))?;
        let own = Value::Map(input.clone());
        let json = json_of(&Dynamic(&own), operation.input().root(), &|_| true);
        let mut waiting = waiter.waiter.start(max_wait);
        let start = Instant::now();
        let mut random = Random::new(None);
        loop {
            let result = self.call(&waiter.operation, input.clone()).await;
            let output = result.as_ref().map(|output| {
                let root = operation.output().root();
                json_of(&Dynamic(output), root, &|_| true)
            });
            let response: Result<&Json, &str> = match &output {
                Ok(output) => Ok(output),
                Err(error) => match error.fault() {
                    Some(fault) => Err(fault.name()),
                    None => return Err(call_failed((*error).clone())),
                },
            };
            let step = waiting.responded(start.elapsed(), &json, response, random.fraction());
            match step {
                Step::Succeeded => return Ok(result.ok()),
                Step::Wait(delay) => tokio::time::sleep(delay).await,
                Step::Failed(failure) => {
                    return Err(WaitError {
                        failure: Some(failure),
                        last: result.err(),
                    });
                }
            }
        }
    }
}

/// The paginations of a model, by operation.
///
/// ```
/// use polywire_rpc::aws::Paginations;
///
/// let model = r#"{ "smithy": "2.0", "shapes": { "example#List": { "type": "operation", "traits": {
///     "smithy.api#paginated": { "inputToken": "Marker", "outputToken": "NextMarker", "items": "Names" }
/// } } } }"#;
/// let paginations = Paginations::from_model(model)?;
/// assert!(paginations.get("List").is_some());
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Paginations(BTreeMap<String, Pagination>);

impl Paginations {
    /// Reads the trait `@paginated` of all operations of a model in the JSON AST. The one of the service has the members
    /// that those of operations leave out.
    ///
    /// # Errors
    ///
    /// The text is not JSON, or a token is missing.
    pub fn from_model(model: &str) -> Result<Self, BoxError> {
        let name = "smithy.api#paginated";
        let services = traits(model, "service", name)?;
        let default = services.first().map(|(_, value)| value);
        let mut paginations = BTreeMap::new();
        for (operation, value) in traits(model, "operation", name)? {
            let member = |name: &str| {
                let own = value.get(name).or_else(|| default?.get(name));
                own.and_then(Json::as_str)
            };
            let (Some(input), Some(output)) = (member("inputToken"), member("outputToken")) else {
                return Err(format!("the pagination of {operation} has no tokens").into());
            };
            let mut pagination = Pagination::new(&operation, input, output);
            if let Some(items) = member("items") {
                pagination = pagination.with_items(items);
            }
            paginations.insert(operation, pagination);
        }
        Ok(Self(paginations))
    }

    /// The pagination of an operation, for [`Client::pages`].
    #[must_use]
    pub fn get(&self, operation: &str) -> Option<&Pagination> {
        self.0.get(operation)
    }
}

/// The values of a trait of the shapes of a type, with the names of the shapes.
fn traits(model: &str, kind: &str, name: &str) -> Result<Vec<(String, Json)>, BoxError> {
    let model: Json = serde_json::from_str(model)?;
    let shapes = model.get("shapes").and_then(Json::as_object);
    let shapes = shapes.ok_or("expected a model in the JSON AST, with `shapes`")?;
    let is_kind = |shape: &Json| shape.get("type").and_then(Json::as_str) == Some(kind);
    let found = shapes.iter().filter(|(_, shape)| is_kind(shape));
    let found = found.filter_map(|(id, shape)| {
        let value = shape.get("traits")?.get(name)?;
        let name = id.rsplit('#').next().unwrap_or(id);
        Some((name.to_owned(), value.clone()))
    });
    Ok(found.collect())
}
