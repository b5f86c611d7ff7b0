//! The world: what is fixed, what callers change, and the locks around that.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use polywire::prelude::*;

use super::cities::{CITIES, City};
use super::faults;
use super::observations::Observations;
use super::storms::Storms;

/// Noon of the first of November 2026: what this world takes for now.
pub(super) const NOW: Timestamp = Timestamp::new(1_793_534_400, 0);
/// The year of [`NOW`].
pub(super) const THIS_YEAR: i64 = 2026;

/// The state of the service. The rest of the data is in `static` tables beside
/// the operations that tell of them.
#[derive(Debug)]
pub(super) struct World {
    /// Which cities were deleted, by their place in [`CITIES`]. There is no
    /// operation that adds cities, so a flag each is enough, and reading about
    /// a city takes no lock.
    forgotten: [AtomicBool; CITIES.len()],
    /// What `GetCity` answers for each of them.
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

    /// The cities that are not forgotten, in the order of their identifiers.
    pub(super) fn cities(&self) -> impl Iterator<Item = &'static City> {
        let known = CITIES.iter().zip(&self.forgotten);
        known.filter_map(|(city, forgotten)| (!forgotten.load(Ordering::Acquire)).then_some(city))
    }

    /// The city with this identifier, or the model's error.
    pub(super) fn city(&self, id: &str) -> Result<&'static City, Fault> {
        let city = self.cities().find(|city| city.id == id);
        city.ok_or_else(|| faults::no_such("city", id))
    }

    /// What `GetCity` answers for this city, or the model's error.
    pub(super) fn city_output(&self, id: &str) -> Result<Arc<Map>, Fault> {
        let city = self.city(id)?;
        let output = CITIES.iter().zip(&self.outputs);
        let mut output = output.filter_map(|(own, output)| (own.id == city.id).then_some(output));
        output
            .next()
            .map(Arc::clone)
            .ok_or_else(|| faults::no_such("city", id))
    }

    /// Forgets a city; whether there ever was one.
    pub(super) fn forget(&self, id: &str) -> bool {
        match CITIES.iter().position(|city| city.id == id) {
            Some(index) => {
                self.forgotten[index].store(true, Ordering::Release);
                true
            }
            None => false,
        }
    }

    /// What stations have filed.
    pub(super) fn observations(&self) -> MutexGuard<'_, Observations> {
        lock(&self.observations)
    }

    /// The storms that were reported.
    pub(super) fn storms(&self) -> MutexGuard<'_, Storms> {
        lock(&self.storms)
    }
}

/// A panic under one of these locks leaves nothing half done that the next
/// caller could trip over, so there is no reason to refuse service after it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
