//! Calls with streams, subscriptions, and calls without an answer: a connection is found for them as for
//! all, and what becomes of them then is between them and it.

use super::core::{Call, Core};
use super::going::Going;
use super::stats::Outcome;
use crate::frames::error::CallError;
use crate::frames::streams::Open;

impl Core {
    /// Opens a call with streams, or a subscription.
    pub(super) async fn open(&self, call: &Call<'_>, payload: &[u8]) -> Result<Open, CallError> {
        let mut write = copying(payload);
        let mut asked = call.asked(self.clock.now());
        let mut going = Going::new(self);
        going.begin(asked.now)?;
        loop {
            let Some(current) = &going.current else {
                Box::pin(going.connect(&mut asked, &mut write)).await?;
                continue;
            };
            match current.link.open(&asked, payload).await {
                Ok(open) => {
                    going.ends(Outcome::Opened);
                    return Ok(open);
                }
                Err(error) => {
                    Box::pin(going.again(&mut asked, error, &call.options)).await?;
                }
            }
        }
    }

    /// Makes a call that nobody answers.
    pub(super) async fn notify(&self, call: &Call<'_>, payload: &[u8]) -> Result<(), CallError> {
        let mut write = copying(payload);
        let mut asked = call.asked(self.clock.now());
        let mut going = Going::new(self);
        going.begin(asked.now)?;
        loop {
            let Some(current) = &going.current else {
                Box::pin(going.connect(&mut asked, &mut write)).await?;
                continue;
            };
            match current.link.notify(&asked, payload).await {
                Ok(()) => {
                    going.ends(Outcome::Sent);
                    return Ok(());
                }
                Err(error) => {
                    Box::pin(going.again(&mut asked, error, &call.options)).await?;
                }
            }
        }
    }
}

fn copying(payload: &[u8]) -> impl FnMut(&mut Vec<u8>) -> Result<(), CallError> + Send {
    move |out| {
        out.extend_from_slice(payload);
        Ok(())
    }
}
