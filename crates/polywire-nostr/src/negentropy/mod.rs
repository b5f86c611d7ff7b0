//! Set reconciliation with Negentropy Protocol V1 (NIP-77): finds the events that only one of two
//! sides has.
//!
//! Each side holds a set of [`Record`]s: a timestamp and the id of an event, sorted by both. The
//! [`Initiator`] finds the ids that only it has and the ids that only the [`Responder`] has.
//! Traffic grows with the differences, not with the size of the sets.
//!
//! A message divides the space of timestamps and ids into ranges. Each range has one of three
//! modes: *skip*, a *fingerprint* of the sender's ids in the range, or the *list* of these ids. The
//! receiver answers a fingerprint that differs from its own with the fingerprints of 16 smaller
//! ranges, or with a list if it has fewer than 32 ids in the range. The initiator compares lists
//! with its own ids. The session ends when it has no range to answer.
//!
//! This module reads and writes bytes. NIP-77 sends them as hexadecimal text in `NEG-OPEN` and
//! `NEG-MSG`. The format is specified in
//! <https://github.com/hoytech/negentropy/blob/master/docs/negentropy-protocol-v1.md>. Where the
//! specification leaves a choice, such as the number of ranges, this module follows the reference
//! implementation. Its names correspond to these:
//!
//! | reference implementation | this module |
//! |---|---|
//! | `NegentropyStorageBase` | [`Storage`] |
//! | `NegentropyStorageVector` | [`Records`] |
//! | `Item` | [`Record`] |
//! | `Bound` | [`Bound`] |
//! | `Negentropy::initiate` | [`Initiator::initial_message`] |
//! | `Negentropy::reconcile` with ids | [`Initiator::reconcile`] |
//! | `Negentropy::reconcile` | [`Responder::respond`] |
//!
//! # Hostile peers
//!
//! Parsing is strict: malformed bytes are an [`InvalidMessage`] with an offset and a reason. A
//! count is checked against the remaining bytes before memory is reserved. An answer is never
//! longer than the [`FrameSizeLimit`]. The work for one message grows with its length, that limit
//! and, on the initiator, the number of records. One range costs a binary search and one digest.
//!
//! The number of messages is not limited: a peer that always reports a difference keeps a session
//! open. The caller should limit the number of messages or set a deadline.
//!
//! # Example
//!
//! ```
//! use polywire_nostr::EventId;
//! use polywire_nostr::negentropy::{Initiator, Record, Records, Responder};
//!
//! let record = |created_at, byte| Record::new(created_at, EventId::from_bytes([byte; 32]));
//! let ours: Records = [record(1, 0xaa), record(2, 0xbb)].into_iter().collect::<Result<_, _>>()?;
//! let theirs: Records = [record(1, 0xaa), record(3, 0xcc)].into_iter().collect::<Result<_, _>>()?;
//!
//! let mut initiator = Initiator::new(&ours);
//! let responder = Responder::new(&theirs);
//! let (mut have, mut need) = (Vec::new(), Vec::new());
//! let mut message = initiator.initial_message()?;
//! loop {
//!     let answer = responder.respond(&message)?;
//!     let step = initiator.reconcile(&answer)?;
//!     have.extend(step.have);
//!     need.extend(step.need);
//!     match step.next_message {
//!         Some(next) => message = next,
//!         None => break,
//!     }
//! }
//! assert_eq!(have, [EventId::from_bytes([0xbb; 32])]);
//! assert_eq!(need, [EventId::from_bytes([0xcc; 32])]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accumulator;
mod answer;
mod error;
mod frame;
mod initiator;
mod record;
mod records;
mod responder;
mod storage;
mod wire;

pub use accumulator::{Accumulator, Fingerprint};
pub use error::{Error, InvalidMessage, Reason};
pub use frame::FrameSizeLimit;
pub use initiator::{Initiator, Step};
pub use record::{Bound, Record, ReservedTimestamp};
pub use records::Records;
pub use responder::Responder;
pub use storage::Storage;
