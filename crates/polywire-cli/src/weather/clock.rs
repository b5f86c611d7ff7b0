//! `GetCurrentTime`.

use std::time::SystemTime;

use polywire::prelude::*;

use super::world::World;

/// What time it is: the same whole second in every form. An HTTP date has no
/// fractions, and the five members shall agree.
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
