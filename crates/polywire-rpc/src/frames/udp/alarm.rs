//! A timer that is seldom set.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use polywire_frame::Time;
use tokio::time::Sleep;

use crate::frames::Clock;

/// Wakes a task at a time that changes all the while.
#[derive(Debug)]
pub(crate) struct Alarm {
    timer: Option<Pin<Box<Sleep>>>,
    /// When the timer rings.
    rings: Time,
}

impl Alarm {
    pub(crate) const fn new() -> Self {
        Self {
            timer: None,
            rings: Time::NEVER,
        }
    }

    /// Waits until then, or for less long.
    pub(crate) fn poll(&mut self, clock: Clock, next: Time, context: &mut Context<'_>) -> Poll<()> {
        // One that rings too early is set again then, which is seldom; setting it at each call is
        // not.
        if self.timer.is_none() || next < self.rings {
            let Some(instant) = clock.instant(next) else {
                return Poll::Pending;
            };
            self.rings = next;
            match &mut self.timer {
                Some(timer) => timer.as_mut().reset(instant),
                None => self.timer = Some(Box::pin(tokio::time::sleep_until(instant))),
            }
        }
        let Some(timer) = &mut self.timer else {
            return Poll::Pending;
        };
        ready!(timer.as_mut().poll(context));
        self.timer = None;
        Poll::Ready(())
    }
}
