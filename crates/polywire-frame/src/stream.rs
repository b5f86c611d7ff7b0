//! Credit: how many bytes of items may come and go, on a stream or on a connection.

use crate::draft::bare;
use crate::header::header;
use crate::{Header, Kind, Output};

/// More credit than this together is a mistake.
const MOST: i64 = i32::MAX as i64;

/// What may be sent one way, and may come the other way.
#[derive(Debug)]
pub(crate) struct Credit {
    /// Bytes that may be sent. Below zero, if the last item was larger than what was left.
    send: i64,
    /// Bytes that may come.
    receive: i64,
    /// Bytes that were consumed and not given back yet.
    owed: i64,
}

/// A stream of a call, or two.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Whether the client may send items still.
    pub(crate) open: bool,
    /// Whether it is a subscription, which ends when the client says so.
    pub(crate) topic: bool,
    pub(crate) credit: Credit,
}

/// What a `CREDIT` has come to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Added {
    /// Items may be sent, which could not be before.
    Wakes,
    Nothing,
    TooMuch,
}

impl Credit {
    /// With the window of the other side, and of this one.
    pub(crate) const fn new(theirs: u32, window: u32) -> Self {
        Self {
            send: theirs as i64,
            receive: window as i64,
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

    /// The other side lets more come.
    pub(crate) const fn add(&mut self, bytes: u32) -> Added {
        let before = self.send;
        self.send += bytes as i64;
        match self.send {
            ..=0 => Added::Nothing,
            1..=MOST if before <= 0 => Added::Wakes,
            1..=MOST => Added::Nothing,
            _ => Added::TooMuch,
        }
    }

    /// An item has come. False, if it should not have.
    pub(crate) const fn received(&mut self, cost: u32) -> bool {
        let may = self.receive > 0;
        if may {
            self.receive -= cost as i64;
        }
        may
    }

    /// Items have been consumed: gives credit for them, once they are as much as may still come. That
    /// is half of the window if all was consumed, and less if much of it is held by who does not read.
    pub(crate) fn consumed(&mut self, cost: u32, code: u16, id: u32, output: &mut Output) {
        self.owed += i64::from(cost);
        if self.owed < self.receive {
            return;
        }
        // An item has not more than 2^30 bytes, and half a window not more than that.
        let value = u32::try_from(self.owed).unwrap_or(u32::MAX);
        self.owed -= i64::from(value);
        self.receive += i64::from(value);
        let credit = Header {
            code,
            value,
            ..header(Kind::CREDIT, id)
        };
        bare(output, &credit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_consumed_is_given_back_by_halves() {
        let mut credit = Credit::new(1, 100);
        let mut output = Output::default();
        assert!(credit.received(49));
        credit.consumed(49, 0, 0, &mut output);
        assert!(output.is_empty());
        assert!(credit.received(1));
        credit.consumed(1, 0, 0, &mut output);
        let sent: Vec<_> = output.parts().flatten().copied().collect();
        assert_eq!(&sent[12..], [50, 0, 0, 0]);
        assert!(credit.received(130) && !credit.received(1));
    }

    #[test]
    fn what_others_hold_is_no_reason_to_wait() {
        let mut credit = Credit::new(1, 100);
        let mut output = Output::default();
        // Of somebody who does not read.
        assert!(credit.received(90));
        for _ in 0..100 {
            assert!(credit.received(9));
            credit.consumed(9, 0, 0, &mut output);
        }
    }

    #[test]
    fn who_waits_is_woken_once() {
        let mut credit = Credit::new(10, 0);
        credit.sent(30);
        assert_eq!(credit.add(20), Added::Nothing);
        assert!(!credit.may_send());
        assert_eq!(credit.add(1), Added::Wakes);
        assert_eq!(credit.add(1), Added::Nothing);
        assert_eq!(credit.add(u32::MAX), Added::TooMuch);
    }
}
