//! The state of the service, with the locks that protect it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use polywire::prelude::*;

use super::cities::{CITIES, City};
use super::faults;
use super::observations::Observations;
use super::storms::Storms;

/// Noon of 1 November 2026: the fixed time of this service.
pub(super) const NOW: Timestamp = Timestamp::new(1_793_534_400, 0);
/// The year of [`NOW`].
pub(super) const THIS_YEAR: i64 = 2026;

/// The state of the service. Constant data is in `static` tables in the modules of the operations.
#[derive(Debug)]
pub(super) struct World {
    /// Which cities were deleted, by index in [`CITIES`]. No operation adds cities, so flags are
    /// enough, and reading does not need a lock.
    forgotten: [AtomicBool; CITIES.len()],
    /// The output of `GetCity` for each city.
    outputs: [Arc<Map>; CITIES.len()],
    observations: Mutex<Observations>,
    storms: Mutex<Storms>,
}

impl World {
    pub(super) fn new() -> Self {
        Self {
            forgotten: [const { AtomicBool::new(false) }; CITIES.len()],
            outputs: CITIES.each_ref().map(|city| Arc::new(city.output())),
            observations: Mutex::new(Observations::default()),
            storms: Mutex::new(Storms::default()),
        }
    }

    /// Returns the cities that were not deleted, sorted by identifier.
    pub(super) fn cities(&self) -> impl Iterator<Item = &'static City> {
        let known = CITIES.iter().zip(&self.forgotten);
        known.filter_map(|(city, forgotten)| (!forgotten.load(Ordering::Acquire)).then_some(city))
    }

    /// Returns the city with this identifier, or the modelled error.
    pub(super) fn city(&self, id: &str) -> Result<&'static City, Fault> {
        let city = self.cities().find(|city| city.id == id);
        city.ok_or_else(|| faults::no_such_resource("city", id))
    }

    /// Returns the output of `GetCity` for this city, or the modelled error.
    pub(super) fn city_output(&self, id: &str) -> Result<Arc<Map>, Fault> {
        let city = self.city(id)?;
        let output = CITIES.iter().zip(&self.outputs);
        let mut output = output.filter_map(|(own, output)| (own.id == city.id).then_some(output));
        output
            .next()
            .map(Arc::clone)
            .ok_or_else(|| faults::no_such_resource("city", id))
    }

    /// Deletes a city. Returns whether it ever existed.
    pub(super) fn forget(&self, id: &str) -> bool {
        match CITIES.iter().position(|city| city.id == id) {
            Some(index) => {
                self.forgotten[index].store(true, Ordering::Release);
                true
            }
            None => false,
        }
    }

    /// The stored observations.
    pub(super) fn observations(&self) -> MutexGuard<'_, Observations> {
        lock(&self.observations)
    }

    /// The stored storms.
    pub(super) fn storms(&self) -> MutexGuard<'_, Storms> {
        lock(&self.storms)
    }
}

/// The data is consistent even after a panic, so poisoned locks can be used.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
