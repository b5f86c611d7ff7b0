//! `GetCurrentTime`.

use std::time::SystemTime;

use polywire::prelude::*;

use super::world::World;

/// The current time, as the same whole second in every format. HTTP dates have no fractions, and
/// all five members must be equal.
pub(super) fn now(_: &World, _: &Map) -> Result<Map, Fault> {
    let now = Timestamp::from(SystemTime::now());
    let second = Timestamp::new(now.seconds(), 0);
    let members = [
        "time",
        "dateTime",
        "httpDate",
        "epochSeconds",
        "lastModified",
    ];
    Ok(members.into_iter().map(|name| (name, second)).collect())
}
