//! Keeping credentials until they expire.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::super::authenticator::now;
use super::super::{Credentials, CredentialsFuture, CredentialsProvider};
use super::{ProviderError, boxed};

/// Credentials are renewed in the background from this time before their expiry.
const REFRESH_BEFORE: Duration = Duration::from_secs(5 * 60);
/// Credentials are not used any more from this time before their expiry: a request needs time to arrive.
const EXPIRED_BEFORE: Duration = Duration::from_secs(10);
/// The time between two attempts to renew credentials in the background.
const PAUSE: Duration = Duration::from_secs(60);

/// Keeps the credentials of another provider, and renews them before they expire.
///
/// From five minutes before the expiry, a request starts one refresh in the background and is signed with the current
/// credentials. If there are none, or if they expire within ten seconds, all requests wait for the same refresh. It
/// runs in a task of its own, so a request that is cancelled does not cancel it for others. A refresh that failed is tried
/// again after a minute while the current credentials are valid, and otherwise by the next request.
///
/// ```
/// use polywire_rpc::aws::providers::{CachedProvider, Environment, InstanceMetadataProvider};
///
/// let provider = CachedProvider::new(InstanceMetadataProvider::new(Environment::process()));
/// # let _ = provider;
/// ```
pub struct CachedProvider<P>(Arc<Inner<P>>);

struct Inner<P> {
    provider: P,
    /// Locked briefly, never while something is awaited.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    current: Option<Credentials>,
    /// The refresh in progress. Its value is the result.
    refresh: Option<watch::Receiver<Option<RefreshResult>>>,
    /// The earliest time of the next refresh in the background.
    next: Option<Instant>,
}

type RefreshResult = Result<Credentials, ProviderError>;

impl State {
    /// The refresh in progress, or a new one.
    fn refresh<P: CredentialsProvider>(
        &mut self,
        inner: &Arc<Inner<P>>,
    ) -> watch::Receiver<Option<RefreshResult>> {
        // The sender of a task that panicked is gone.
        let refresh = self.refresh.take();
        let refresh = refresh.filter(|refresh| refresh.has_changed().is_ok());
        let refresh = refresh.unwrap_or_else(|| inner.start());
        self.refresh.insert(refresh).clone()
    }
}

/// How credentials can be used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Age {
    Fresh,
    RefreshDue,
    Expired,
}

impl Age {
    fn of(credentials: &Credentials) -> Self {
        let Some(expiry) = credentials.expiry() else {
            return Self::Fresh;
        };
        let left = expiry.seconds().saturating_sub(now().seconds());
        let left = Duration::from_secs(u64::try_from(left).unwrap_or(0));
        match left {
            left if left <= EXPIRED_BEFORE => Self::Expired,
            left if left <= REFRESH_BEFORE => Self::RefreshDue,
            _ => Self::Fresh,
        }
    }
}

impl<P: CredentialsProvider> CachedProvider<P> {
    /// Keeps the credentials of `provider`.
    pub fn new(provider: P) -> Self {
        Self(Arc::new(Inner {
            provider,
            state: Mutex::default(),
        }))
    }

    async fn fetch(&self) -> RefreshResult {
        let mut refresh = {
            let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(current) = &state.current {
                let current = current.clone();
                match Age::of(&current) {
                    Age::Fresh => return Ok(current),
                    Age::RefreshDue => {
                        let is_early = state.next.is_some_and(|next| Instant::now() < next);
                        if !is_early {
                            state.refresh(&self.0);
                        }
                        return Ok(current);
                    }
                    Age::Expired => {}
                }
            }
            state.refresh(&self.0)
        };
        let result = refresh.wait_for(Option::is_some).await;
        match result.as_deref() {
            Ok(Some(result)) => result.clone(),
            _ => Err(ProviderError::new("the refresh", "its task panicked")),
        }
    }
}

impl<P: CredentialsProvider> Inner<P> {
    /// Starts a refresh.
    fn start(self: &Arc<Self>) -> watch::Receiver<Option<RefreshResult>> {
        let (sender, receiver) = watch::channel(None);
        let own = Arc::clone(self);
        tokio::spawn(async move {
            let result = own.provider.credentials().await;
            let result = result.map_err(|error| match error.downcast::<ProviderError>() {
                Ok(error) => *error,
                Err(error) => ProviderError::new("the provider", error),
            });
            let mut state = own.state.lock().unwrap_or_else(PoisonError::into_inner);
            match &result {
                Ok(credentials) => state.current = Some(credentials.clone()),
                Err(error) => tracing::warn!(%error, "credentials are not renewed"),
            }
            state.next = Instant::now().checked_add(PAUSE);
            state.refresh = None;
            drop(state);
            sender.send_replace(Some(result));
        });
        receiver
    }
}

impl<P> Clone for CachedProvider<P> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<P: fmt::Debug> fmt::Debug for CachedProvider<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CachedProvider")
            .field(&self.0.provider)
            .finish()
    }
}

impl<P: CredentialsProvider> CredentialsProvider for CachedProvider<P> {
    fn credentials(&self) -> CredentialsFuture<'_> {
        Box::pin(async { boxed(self.fetch().await) })
    }
}
