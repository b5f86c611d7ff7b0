//! The metadata and trace context that a client adds to each of its calls.

use std::sync::Arc;

use polywire_frame::Trace;

use super::Client;

const AUTHORIZATION: &str = "authorization";

#[derive(Clone, Debug, Default)]
pub(super) struct CallMetadata {
    metadata: Vec<(Box<str>, Box<[u8]>)>,
    trace: Option<Trace>,
}

impl Client {
    /// The same client with an additional pair of metadata for its calls. Handlers see it as a
    /// [header](crate::Context::headers) of the call, if a header can have the value.
    ///
    /// A key has 1 to 255 lower-case letters, digits and `-_.`. A value can have any bytes. A call with other keys, or with
    /// more than 16,384 bytes of metadata, fails with [`CallErrorKind::Encode`](crate::CallErrorKind::Encode).
    ///
    /// ```
    /// use polywire_rpc::frames::Client;
    /// use polywire_rpc::{Context, Methods, Server};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let methods = Methods::new().method("Tenant", |(): (), context: Context| async move {
    ///     let tenant = context.headers().get("tenant")?;
    ///     Some(tenant.to_str().ok()?.to_owned())
    /// });
    /// # let server = Server::methods(methods).frames(true).build()?;
    /// # let running = server.listen("127.0.0.1:0".parse()?).await?;
    /// # let url = format!("tcp://{}", running.address());
    /// let client = Client::connect(&url).await?;
    /// let acme = client.with_metadata("tenant", "acme");
    /// assert_eq!(acme.call::<Option<String>>("Tenant", ()).await?.as_deref(), Some("acme"));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn with_metadata(&self, key: &str, value: impl AsRef<[u8]>) -> Self {
        self.with_added(|added| added.metadata.push((key.into(), value.as_ref().into())))
    }

    /// The same client with credentials for its calls, such as `Bearer TOKEN`: the metadata `authorization`, which is
    /// replaced. Only `tcp+tls://` and `wss://` encrypt it.
    ///
    /// ```
    /// # use polywire_rpc::frames::Client;
    /// # fn call(client: &Client) {
    /// let client = client.with_authorization("Bearer 4f1b");
    /// # }
    /// ```
    #[must_use]
    pub fn with_authorization(&self, credentials: impl AsRef<[u8]>) -> Self {
        self.with_added(|added| {
            added.metadata.retain(|(key, _)| **key != *AUTHORIZATION);
            let value = credentials.as_ref().into();
            added.metadata.push((AUTHORIZATION.into(), value));
        })
    }

    /// The same client with a trace context for its calls. Handlers see it as the header `traceparent`.
    ///
    /// ```
    /// # use polywire_rpc::frames::{Client, Trace};
    /// # fn call(client: &Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    /// let client = client.with_trace(header.parse()?);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn with_trace(&self, trace: Trace) -> Self {
        self.with_added(|added| added.trace = Some(trace))
    }

    fn with_added(&self, add: impl FnOnce(&mut CallMetadata)) -> Self {
        let mut client = self.clone();
        add(Arc::make_mut(client.metadata.get_or_insert_default()));
        client
    }

    /// The pairs of metadata of its calls, and `more`.
    pub(super) fn pairs<'a>(&'a self, more: &[(&'a str, &'a [u8])]) -> Vec<(&'a str, &'a [u8])> {
        let Some(added) = &self.metadata else {
            return more.to_vec();
        };
        let pairs = added.metadata.iter().map(|(key, value)| (&**key, &**value));
        pairs.chain(more.iter().copied()).collect()
    }

    pub(super) fn trace(&self) -> Option<Trace> {
        self.metadata.as_ref()?.trace
    }
}
