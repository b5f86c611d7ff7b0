//! Credit: how many bytes of items each side may send, on a stream or on a connection.

use crate::{Header, Kind, Settings};

/// More credit than this is a violation of the protocol.
const MOST: i64 = i32::MAX as i64;

/// Credit in both directions.
#[derive(Debug)]
pub(crate) struct Credit {
    /// Bytes that may be sent. Negative if the last item was larger than the rest.
    send: i64,
    /// Bytes that may be received.
    receive: i64,
    /// Bytes that were consumed and not yet given back.
    owed: i64,
}

/// The streams of a call, one in each direction.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Whether the client may still send items.
    pub(crate) open: bool,
    /// Whether it is a subscription, which ends on the client's request.
    pub(crate) topic: bool,
    pub(crate) credit: Credit,
}

impl Stream {
    /// A stream between two sides with these settings.
    pub(crate) fn new(peer: &Settings, own: &Settings, open: bool, topic: bool) -> Box<Self> {
        Box::new(Self {
            open,
            topic,
            credit: Credit::new(peer.window(), own.window()),
        })
    }
}

/// The effect of a `CREDIT`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum CreditEffect {
    /// Items may be sent again.
    Unblocks,
    Nothing,
    TooMuch,
}

impl Credit {
    /// The initial credit, by the windows of the peer and of this side.
    pub(crate) const fn new(peer: u32, own: u32) -> Self {
        Self {
            send: peer as i64,
            receive: own as i64,
            owed: 0,
        }
    }

    /// Whether an item may be sent.
    pub(crate) const fn may_send(&self) -> bool {
        self.send > 0
    }

    /// An item was sent.
    pub(crate) const fn sent(&mut self, cost: i64) {
        self.send -= cost;
    }

    /// The peer gives credit.
    pub(crate) const fn add(&mut self, bytes: u32) -> CreditEffect {
        let before = self.send;
        self.send += bytes as i64;
        match self.send {
            ..=0 => CreditEffect::Nothing,
            1..=MOST if before <= 0 => CreditEffect::Unblocks,
            1..=MOST => CreditEffect::Nothing,
            _ => CreditEffect::TooMuch,
        }
    }

    /// An item has arrived. `false` if there was no credit for it.
    pub(crate) const fn received(&mut self, cost: u32) -> bool {
        let may = self.receive > 0;
        if may {
            self.receive -= cost as i64;
        }
        may
    }

    /// Items have been consumed. Gives credit for them once they are as much as may still be received: half of the
    /// window if all items were consumed, less if some streams are not read.
    pub(crate) fn consumed(&mut self, cost: u32, code: u16, id: u32, output: &mut Vec<u8>) {
        self.owed += i64::from(cost);
        if self.owed < self.receive {
            return;
        }
        // An item has at most 2^30 bytes, and so does half a window.
        let value = u32::try_from(self.owed).unwrap_or(u32::MAX);
        self.owed -= i64::from(value);
        self.receive += i64::from(value);
        let credit = Header {
            code,
            value,
            ..Header::new(Kind::CREDIT, id)
        };
        credit.append_to(output);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credit_of_consumed_items_is_returned_in_halves() {
        let mut credit = Credit::new(1, 100);
        let mut output = Vec::new();
        assert!(credit.received(49));
        credit.consumed(49, 0, 0, &mut output);
        assert!(output.is_empty());
        assert!(credit.received(1));
        credit.consumed(1, 0, 0, &mut output);
        assert_eq!(&output[12..], [50, 0, 0, 0]);
        assert!(credit.received(130) && !credit.received(1));
    }

    #[test]
    fn unread_streams_do_not_block_others() {
        let mut credit = Credit::new(1, 100);
        let mut output = Vec::new();
        // The items of another stream are not consumed.
        assert!(credit.received(90));
        for _ in 0..100 {
            assert!(credit.received(9));
            credit.consumed(9, 0, 0, &mut output);
        }
    }

    #[test]
    fn a_blocked_sender_is_woken_once() {
        let mut credit = Credit::new(10, 0);
        credit.sent(30);
        assert_eq!(credit.add(20), CreditEffect::Nothing);
        assert!(!credit.may_send());
        assert_eq!(credit.add(1), CreditEffect::Unblocks);
        assert_eq!(credit.add(1), CreditEffect::Nothing);
        assert_eq!(credit.add(u32::MAX), CreditEffect::TooMuch);
    }
}
