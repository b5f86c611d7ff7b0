//! The bundled weather service: what `polywire serve` offers without a model.
//!
//! A small world in memory that does what `models/weather.smithy` says, and
//! whose data are those of the model's `@examples`: three cities, a station in
//! each, and a calendar that stands still at noon of the first of November
//! 2026. Only [`clock`] looks at the real time. What callers change (cities
//! forgotten, observations and storms filed) lasts until the program ends, and
//! each list of it has an upper bound.
//!
//! | module | operations |
//! |---|---|
//! | [`cities`] | `GetCity`, `ListCities`, `DeleteCity` |
//! | [`clock`] | `GetCurrentTime` |
//! | [`forecast`] | `GetForecast` |
//! | [`images`] | `GetStationImage` |
//! | [`observations`] | `PutObservation` |
//! | [`regions`] | `DescribeRegion` |
//! | [`search`] | `SearchStations` |
//! | [`statistics`] | `GetStatistics` |
//! | [`storms`] | `ReportStorm` |
//!
//! No operation answers `Throttled`: with inputs of a usual size all of this takes microseconds.

mod cities;
mod clock;
mod faults;
mod forecast;
mod images;
mod input;
mod ledger;
mod observations;
mod output;
mod png;
mod regions;
mod search;
mod stations;
mod statistics;
mod storms;
#[cfg(test)]
mod tests;
mod world;

use std::sync::Arc;

use polywire::prelude::*;
use polywire::rpc::blocking::BlockingPool;
use polywire::rpc::{Handler, IntoOutput, ServerBuilder};

use world::World;

/// The model of the bundled service.
pub(crate) const MODEL: &str = include_str!("../../models/weather.smithy");

/// Sets the handlers of all operations of the bundled service. Each call makes
/// a world of its own, in which nothing has been changed yet.
pub(crate) fn handlers(builder: ServerBuilder) -> ServerBuilder {
    let world = Arc::new(World::new());
    // Inputs of these may have megabytes, which are hashed: not on the thread of a connection.
    let pool = BlockingPool::default();
    let (put, report) = (Arc::clone(&world), Arc::clone(&world));
    let put = pool.dynamic(move |input, _| observations::put(&put, &input));
    let report = pool.dynamic(move |input, _| storms::report(&report, &input));
    builder
        .operation("DeleteCity", answer(&world, cities::delete))
        .operation("DescribeRegion", answer(&world, regions::describe))
        .operation("GetCity", answer(&world, cities::get))
        .operation("GetCurrentTime", answer(&world, clock::now))
        .operation("GetForecast", answer(&world, forecast::get))
        .operation("GetStationImage", answer(&world, images::get))
        .operation("GetStatistics", answer(&world, statistics::get))
        .operation("ListCities", answer(&world, cities::list))
        .operation("PutObservation", put)
        .operation("ReportStorm", report)
        .operation("SearchStations", answer(&world, search::search))
}

/// A handler that answers at once, on the thread of the connection: nothing in this world has to be waited for,
/// and so no lock is ever held across an `await`.
fn answer<O: IntoOutput + Send + 'static>(
    world: &Arc<World>,
    operation: fn(&World, &Map) -> Result<O, Fault>,
) -> impl Handler + use<O> {
    let world = Arc::clone(world);
    dynamic(move |input: Map, _| std::future::ready(operation(&world, &input)))
}
