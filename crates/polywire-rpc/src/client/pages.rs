//! Pages of operations, by name.

use polywire_schema::{Map, Value};

use super::Client;
use crate::CallError;

/// The members of an operation with [`@paginated`](https://smithy.io/2.0/spec/behavior-traits.html#paginated-trait), for
/// [`Client::pages`]. `aws::Paginations` reads them from a model. Generated clients have them in their code.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pagination {
    operation: String,
    input_token: String,
    output_token: Vec<String>,
    items: Vec<String>,
}

impl Pagination {
    /// An operation, the member of its input that names a page, and the path of the member of its output that names the
    /// next one, such as `NextToken` or `List.NextMarker`.
    ///
    /// ```
    /// use polywire_rpc::client::Pagination;
    ///
    /// let objects = Pagination::new("ListObjectsV2", "ContinuationToken", "NextContinuationToken").with_items("Contents");
    /// assert_eq!(objects.operation(), "ListObjectsV2");
    /// ```
    #[must_use]
    pub fn new(operation: &str, input_token: &str, output_token: &str) -> Self {
        Self {
            operation: operation.to_owned(),
            input_token: input_token.to_owned(),
            output_token: path(output_token),
            items: Vec::new(),
        }
    }

    /// Sets the path of the member with the items of a page.
    #[must_use]
    pub fn with_items(mut self, items: &str) -> Self {
        self.items = path(items);
        self
    }

    /// The name of the operation.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.operation
    }
}

fn path(text: &str) -> Vec<String> {
    text.split('.').map(str::to_owned).collect()
}

/// The member at a path.
fn find<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, name| match value {
        Value::Map(members) => members.get(name),
        _ => None,
    })
}

/// The pages of an operation. Each page is one call.
#[derive(Debug)]
#[must_use = "pages are requested by `next`"]
pub struct DynamicPages {
    client: Client,
    pagination: Pagination,
    /// The input of the next call. `None` after the last page.
    next: Option<Map>,
}

impl DynamicPages {
    /// Requests the next page. `None` after the last page, after a failed call, and if the server returns the same token
    /// twice in a row.
    pub async fn next(&mut self) -> Option<Result<Value, CallError>> {
        let mut input = self.next.take()?;
        let own = &self.pagination;
        let output = self.client.call(&own.operation, input.clone()).await;
        if let Ok(output) = &output
            && let Some(token) = find(output, &own.output_token)
            && !is_last(token)
            && input.get(&own.input_token) != Some(token)
        {
            input.insert(own.input_token.clone(), token.clone());
            self.next = Some(input);
        }
        Some(output)
    }

    /// Collects the items of all remaining pages.
    ///
    /// # Errors
    ///
    /// A call fails, or the pagination does not name the [items](Pagination::with_items).
    pub async fn items(mut self) -> Result<Vec<Value>, CallError> {
        if self.pagination.items.is_empty() {
            return Err(CallError::usage("the pagination does not name the items"));
        }
        let mut items = Vec::new();
        while let Some(page) = self.next().await {
            match find(&page?, &self.pagination.items) {
                Some(Value::List(list)) => items.extend_from_slice(list),
                Some(Value::Map(map)) => {
                    let entries = map.iter();
                    let entries =
                        entries.map(|(key, value)| Map::from_iter([(key, value.clone())]));
                    items.extend(entries.map(Value::Map));
                }
                _ => {}
            }
        }
        Ok(items)
    }
}

/// Whether a token means that there is no other page. Some services send an empty one.
fn is_last(token: &Value) -> bool {
    match token {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Map(members) => members.is_empty(),
        _ => false,
    }
}

impl Client {
    /// The pages of an operation with `@paginated`, from the one that `input` names.
    pub fn pages(&self, pagination: &Pagination, input: Map) -> DynamicPages {
        DynamicPages {
            client: self.clone(),
            pagination: pagination.clone(),
            next: Some(input),
        }
    }
}
