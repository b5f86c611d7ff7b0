//! Calls that begin at set times, as the load program of UVRPC makes them.

use std::marker::PhantomData;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::super::layout::Layout;
use super::super::tally::{self, Ended, Times};
use super::super::transport::Wire;
use super::super::trial::Peer;
use super::caller::Caller;
use super::ended;

/// Every so many milliseconds each client makes as many calls as its window has. It never has more
/// than two windows open: what would be more is left out, and is missing in the rate.
pub(crate) struct Paced<C, const MILLISECONDS: u64>(PhantomData<C>);

impl<W: Wire, C: Caller<W>, const MILLISECONDS: u64> Peer<W> for Paced<C, MILLISECONDS> {
    async fn serve(listener: W::Listener) -> Result<(), String> {
        C::serve(listener).await
    }

    async fn call(
        url: &str,
        layout: Layout,
        start: impl FnOnce() -> Result<Times, String>,
    ) -> Result<(), String> {
        let mut clients = Vec::new();
        for _ in 0..layout.clients {
            clients.push(C::connect(url).await?);
        }
        let times = start()?;
        let mut tasks = JoinSet::new();
        for client in clients {
            tasks.spawn(bursts::<W, C>(client, layout.window, MILLISECONDS, times));
        }
        ended(times, &mut tasks).await
    }
}

async fn bursts<W: Wire, C: Caller<W>>(
    client: C::Client,
    window: u32,
    milliseconds: u64,
    times: Times,
) {
    let mut ticks = tokio::time::interval(Duration::from_millis(milliseconds));
    // What was late is made up for.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut open = JoinSet::new();
    let mut left = 0;
    while !times.over(Instant::now()) {
        ticks.tick().await;
        while open.try_join_next().is_some() {}
        if open.len() > window as usize {
            continue;
        }
        for _ in 0..window {
            left = (left + 1) | 0x4000_0000;
            let client = client.clone();
            open.spawn(async move {
                let (right, from) = (0x0100_0000, Instant::now());
                let sum = C::add(&client, left, right).await;
                tally::count(Ended::of(sum, left, right), from, Instant::now());
            });
        }
    }
    while open.join_next().await.is_some() {}
}
