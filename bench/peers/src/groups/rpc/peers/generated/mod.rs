//! The output of the compilers of tonic and capnp-rpc for `adder.proto` and `adder.capnp`. It is
//! committed because they need `capnp` installed, and readers of `.proto` files take long to build.
//!
//! To generate it again, in a crate with `capnpc` 0.27, `protox` 0.9 and `tonic-prost-build` 0.14 as
//! dependencies and `capnp` (package `capnproto`) installed, for the path of this folder:
//!
//! ```ignore
//! capnpc::CompilerCommand::new()
//!     .default_parent_module(["groups", "rpc", "peers", "generated"].map(String::from).to_vec())
//!     .src_prefix(folder)
//!     .file(folder.join("adder.capnp"))
//!     .output_path(folder)
//!     .run()?;
//! let files = protox::compile(["adder.proto"], [folder])?;
//! tonic_prost_build::configure().out_dir(folder).compile_fds(files)?;
//! ```

#![allow(warnings, clippy::all, reason = "generated")]

#[rustfmt::skip]
pub(super) mod adder;
#[rustfmt::skip]
pub(super) mod adder_capnp;
