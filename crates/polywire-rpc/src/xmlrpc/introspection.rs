//! What a server tells of its methods, if it does.

use polywire_schema::Value;

use super::Client;
use crate::CallError;

impl Client {
    /// The names of the server's methods, by `system.listMethods`.
    ///
    /// # Errors
    ///
    /// As [`CallError`] says; a fault that
    /// [`is_unknown_method`](super::Fault::is_unknown_method) if the server does not tell.
    pub async fn list_methods(&self) -> Result<Vec<String>, CallError> {
        self.call("system.listMethods", ()).await
    }

    /// The types of each way to call a method, the result's first: `[["int", "string"]]`
    /// takes a string and gives an int. By `system.methodSignature`. Empty where the
    /// server knows none, for which servers answer a string of their own choice.
    /// supervisord has one signature, without the list around it.
    ///
    /// # Errors
    ///
    /// As of [`list_methods`](Self::list_methods).
    pub async fn method_signatures(&self, method: &str) -> Result<Vec<Vec<String>>, CallError> {
        let value: Value = self.call("system.methodSignature", (method,)).await?;
        let list = value.as_list().unwrap_or_default();
        Ok(match list.first() {
            Some(Value::String(_)) => vec![words(list)],
            _ => list.iter().filter_map(Value::as_list).map(words).collect(),
        })
    }

    /// What a method does, in the server's words, by `system.methodHelp`; may be empty.
    ///
    /// # Errors
    ///
    /// As of [`list_methods`](Self::list_methods).
    pub async fn method_help(&self, method: &str) -> Result<String, CallError> {
        let value: Value = self.call("system.methodHelp", (method,)).await?;
        Ok(value.as_str().unwrap_or_default().to_owned())
    }
}

fn words(types: &[Value]) -> Vec<String> {
    let words = types.iter().map(|it| it.as_str().unwrap_or("?").to_owned());
    words.collect()
}
