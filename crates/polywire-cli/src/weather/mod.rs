//! The bundled weather service, which `polywire serve` offers without a model.
//!
//! An in-memory implementation of `models/weather.smithy`. Its data is that of the model's
//! `@examples`: three cities with one station each, at a fixed time, noon of 1 November 2026. Only
//! [`clock`] uses the real time. Changes by callers (deleted cities, stored observations and
//! storms) last until the program ends. The number of stored items is limited.
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
//! No operation returns `Throttled`: calls with inputs of usual size take microseconds.

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

/// Adds the handlers of all operations. Each call of this function creates a new, unmodified world.
pub(crate) fn handlers(builder: ServerBuilder) -> ServerBuilder {
    let world = Arc::new(World::new());
    // Inputs of these operations may have megabytes, which are hashed. Do not do that on the thread
    // of a connection.
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

/// Runs a handler on the thread of the connection. Handlers never wait, so no lock is held across
/// an `await`.
fn answer<O: IntoOutput + Send + 'static>(
    world: &Arc<World>,
    operation: fn(&World, &Map) -> Result<O, Fault>,
) -> impl Handler + use<O> {
    let world = Arc::clone(world);
    dynamic(move |input: Map, _| std::future::ready(operation(&world, &input)))
}
