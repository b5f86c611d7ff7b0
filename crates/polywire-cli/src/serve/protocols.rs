//! Which protocols are offered, and where.

use polywire::prelude::*;
use polywire::protocol::{Protocol, conflict};
use polywire::rpc::server::Mount;

use super::Arguments;
use crate::models::protocol;

/// Returns the mounts of protocols. The default mount is the whole server.
pub(super) fn offers(arguments: &Arguments, own: &[ProtocolKind]) -> Vec<(Mount, ProtocolKind)> {
    let mounted = |kind: &ProtocolKind| arguments.mount.iter().any(|(own, _)| own == kind);
    let everywhere = own.iter().filter(|kind| !mounted(kind));
    let everywhere = everywhere.map(|kind| (Mount::default(), *kind));
    let mounts = arguments.mount.iter();
    everywhere
        .chain(mounts.map(|(kind, mount)| (mount.clone(), *kind)))
        .collect()
}

/// Returns all protocols, those of the model first. A protocol that conflicts with an earlier one
/// gets its name as path.
pub(super) fn all_protocols(
    arguments: &Arguments,
    service: &ServiceHandle,
) -> Vec<(Mount, ProtocolKind)> {
    let own = service.service().protocols();
    let mut kinds: Vec<ProtocolKind> = own.filter_map(ProtocolKind::from_name).collect();
    let others = ProtocolKind::http();
    kinds.extend(
        others
            .filter(|kind| !kinds.contains(kind))
            .collect::<Vec<_>>(),
    );
    let mut offers = offers(arguments, &kinds);
    let mut everywhere: Vec<Box<dyn Protocol>> = Vec::new();
    for (mount, kind) in &mut offers {
        // The server reports protocols that cannot be built.
        let Ok(protocol) = kind.build(service.service()) else {
            continue;
        };
        let mut others = everywhere.iter();
        let clashes = others.any(|other| conflict(&**other, &*protocol).is_some());
        match (*mount == Mount::default(), clashes) {
            (true, true) => *mount = Mount::path(&format!("/{kind}")).unwrap_or_default(),
            (true, false) => everywhere.push(protocol),
            (false, _) => {}
        }
    }
    offers
}

/// Formats a protocol and its mount.
pub(super) fn describe_offer(mount: &Mount, kind: ProtocolKind) -> String {
    match *mount == Mount::default() {
        true => kind.to_string(),
        false => format!("{kind} at {mount}"),
    }
}

/// Parses `PROTOCOL=PLACE`.
pub(super) fn mount(text: &str) -> Result<(ProtocolKind, Mount), String> {
    let (name, place) = text
        .split_once('=')
        .ok_or("expected PROTOCOL=/PATH or PROTOCOL=//HOST")?;
    let place = place.parse::<Mount>();
    Ok((protocol(name)?, place.map_err(|error| error.to_string())?))
}
