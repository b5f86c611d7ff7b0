//! What is generated from `model/library.smithy`, compiled under the lints of
//! the workspace: nothing is allowed here that a program would not allow.
#![deny(warnings)]

polywire::include_service!(
    /// Everything.
    pub mod library
);
polywire::include_service!(
    /// Maps in wire order.
    pub mod library_vectors
);
polywire::include_service!(
    /// Types that borrow from the message.
    pub mod library_borrowed
);
