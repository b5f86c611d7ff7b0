//! A timer whose time changes often.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use polywire_frame::Time;
use tokio::time::Sleep;

use crate::frames::Clock;

/// Wakes a task at a time that is later at almost every call.
#[derive(Debug)]
pub(crate) struct Alarm {
    timer: Option<Pin<Box<Sleep>>>,
    /// When the timer fires.
    fires: Time,
}

impl Alarm {
    pub(crate) const fn new() -> Self {
        Self {
            timer: None,
            fires: Time::NEVER,
        }
    }

    /// Waits until `next`, or ends earlier.
    pub(crate) fn poll(&mut self, clock: Clock, next: Time, context: &mut Context<'_>) -> Poll<()> {
        // A timer that fires too early is set again then. That is rare. Setting it at each call is not.
        if self.timer.is_none() || next < self.fires {
            let Some(instant) = clock.instant(next) else {
                return Poll::Pending;
            };
            self.fires = next;
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
