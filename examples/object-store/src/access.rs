//! Access control lists. There is one owner, who may do everything. Lists cannot be changed.

use polywire::protocol::Fault;
use polywire::rpc::Context;

use crate::convert::version_id;
use crate::error::Error;
use crate::listing::owner;
use crate::object::find;
use crate::s3::{
    GetBucketAclOutput, GetBucketAclRequest, GetObjectAclOutput, GetObjectAclRequest, Grant,
    Grantee, Permission, Type,
};
use crate::service::ObjectStore;

/// GetBucketAcl.
pub(crate) async fn bucket(
    own: &ObjectStore,
    input: GetBucketAclRequest,
    _: &Context,
) -> Result<GetBucketAclOutput, Fault> {
    own.store
        .view()?
        .bucket(&input.bucket)
        .map_err(Error::from)?;
    let mut output = GetBucketAclOutput::default();
    output.owner = Some(owner());
    output.grants = Some(vec![full_control()]);
    Ok(output)
}

/// GetObjectAcl.
pub(crate) async fn object(
    own: &ObjectStore,
    input: GetObjectAclRequest,
    _: &Context,
) -> Result<GetObjectAclOutput, Fault> {
    let id = version_id(&input.version_id)?;
    let view = own.store.view()?;
    find(&view, &input.bucket, &input.key, id.as_deref()).map_err(Error::from)?;
    let mut output = GetObjectAclOutput::default();
    output.owner = Some(owner());
    output.grants = Some(vec![full_control()]);
    Ok(output)
}

fn full_control() -> Grant {
    let mut grantee = Grantee::default();
    grantee.r#type = Type::CanonicalUser;
    (grantee.id, grantee.display_name) = (owner().id, owner().display_name);
    let mut grant = Grant::default();
    grant.grantee = Some(grantee);
    grant.permission = Some(Permission::FullControl);
    grant
}
