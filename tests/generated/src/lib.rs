//! What is generated from `model/library.smithy`, compiled under the lints of
//! the workspace: nothing is allowed here that a program would not allow.
#![deny(warnings)]

/// Everything.
pub mod library {
    include!(concat!(env!("OUT_DIR"), "/library.rs"));
}

/// Types that borrow from the message.
pub mod library_borrowed {
    include!(concat!(env!("OUT_DIR"), "/library_borrowed.rs"));
}
