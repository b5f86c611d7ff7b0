//! Processes at Unix sockets.

use super::{AuthError, Authentication, Authenticator, CallHead, Identity};
use crate::peer::Credentials;

/// Accepts processes at a Unix socket by the credentials that the operating system reports for them.
///
/// ```
/// use polywire_rpc::ServerBuilder;
/// use polywire_rpc::auth::UnixUserAuth;
///
/// fn protect(builder: ServerBuilder) -> ServerBuilder {
///     builder.authenticate(UnixUserAuth::uids([0, 1000]))
/// }
/// ```
pub struct UnixUserAuth {
    identify: Identify,
}

type Identify = Box<dyn Fn(Credentials) -> Option<Identity> + Send + Sync>;

impl UnixUserAuth {
    /// Accepts processes of these users. The name of the caller is `uid:` and the number.
    pub fn uids(uids: impl IntoIterator<Item = u32>) -> Self {
        let uids = uids.into_iter();
        let uids: Vec<(u32, Identity)> = uids
            .map(|uid| (uid, Identity::new(format!("uid:{uid}"))))
            .collect();
        Self::identify_with(move |credentials| {
            let user = uids.iter().find(|(uid, _)| *uid == credentials.uid);
            user.map(|(_, identity)| identity.clone())
        })
    }

    /// Accepts the processes for which a function returns an identity.
    pub fn identify_with(
        identify: impl Fn(Credentials) -> Option<Identity> + Send + Sync + 'static,
    ) -> Self {
        Self {
            identify: Box::new(identify),
        }
    }
}

impl Authenticator for UnixUserAuth {
    fn authenticate(&self, head: &CallHead<'_>) -> Authentication {
        let Some(credentials) = head.peer().credentials() else {
            return Authentication::Ready(Err(AuthError::MissingCredentials));
        };
        let identity = (self.identify)(credentials);
        identity.ok_or(AuthError::InvalidCredentials).into()
    }
}

impl_debug!(UnixUserAuth {});
