//! Asking a second time before the first answer.

use std::pin::pin;
use std::sync::Arc;

use tokio::time::sleep;

use super::core::Core;
use super::flow::Ended;
use super::going::{Current, Going};
use crate::frames::asked::Asked;
use crate::frames::error::CallError;
use crate::frames::link::Write;
use crate::frames::payload::Payload;

/// The second time that a call is asked. When this is dropped, it is no more.
struct Second<'a> {
    core: &'a Core,
    current: Option<Current>,
}

impl Drop for Second<'_> {
    fn drop(&mut self) {
        if let Some(current) = &self.current {
            current.settle(&mut self.core.flow(), current.ended, self.core.clock);
        }
    }
}

impl Going<'_> {
    /// Asks, and asks again where the answer takes longer than nearly all do. The answer that comes
    /// first counts; the other call is cancelled. What is left in `self` is the connection of the
    /// one that counts.
    pub(super) async fn hedged<R, F>(
        &mut self,
        asked: &Asked<'_>,
        write: &mut Write<'_>,
        read: F,
    ) -> Result<R, CallError>
    where
        F: FnOnce(Payload<'_>) -> Result<R, CallError> + Copy + Send,
    {
        let core = self.core;
        let Some(current) = &self.current else {
            return Err(CallError::Full);
        };
        let (lane, link) = (current.lane, Arc::clone(&current.link));
        let Some(delay) = core.flow().hedges_after(asked.now) else {
            return link.ask(asked, write, read).await;
        };
        let mut input = Vec::new();
        write(&mut input)?;
        let mut copy = |out: &mut Vec<u8>| {
            out.extend_from_slice(&input);
            Ok(())
        };
        let mut again = copy;
        let mut first = pin!(link.ask(asked, &mut copy, read));
        tokio::select! {
            biased;
            result = &mut first => return result,
            () = sleep(delay) => {}
        }
        let now = core.clock.now();
        let Some((lane, other)) = core.flow().hedge(now, lane) else {
            return first.await;
        };
        let mut second = Second {
            core,
            current: Some(Current {
                lane,
                link: Arc::clone(&other),
                began: now,
                ended: Ended::Abandoned,
                second: true,
            }),
        };
        let asked = Asked { now, ..*asked };
        let mut more = pin!(other.ask(&asked, &mut again, read));
        let mut failed = false;
        // Where one of them fails the other may do better.
        let (result, is_second) = tokio::select! {
            biased;
            result = &mut first => match result {
                Err(error) => {
                    // It has failed, and was not overtaken.
                    failed = true;
                    self.may_have_begun |= !error.is_before_start();
                    if let Some(current) = &mut self.current {
                        current.ended_by(&error);
                    }
                    (more.await, true)
                }
                reply => (reply, false),
            },
            result = &mut more => match result {
                Err(error) => {
                    self.may_have_begun |= !error.is_before_start();
                    if let Some(current) = &mut second.current {
                        current.ended_by(&error);
                    }
                    (first.await, false)
                }
                reply => (reply, true),
            },
        };
        if is_second {
            if result.is_ok()
                && !failed
                && let Some(first) = &mut self.current
            {
                first.ended = Ended::Overtaken;
            }
            std::mem::swap(&mut self.current, &mut second.current);
        }
        result
    }
}
