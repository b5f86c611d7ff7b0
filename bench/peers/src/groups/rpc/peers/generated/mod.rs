//! What the compilers of tonic and capnp-rpc made of `adder.proto` and `adder.capnp`, as it came: they
//! want `capnp` installed, and what reads `.proto` files takes long to build.
//!
//! To make it again, in a crate with `capnpc` 0.27, `protox` 0.9 and `tonic-prost-build` 0.14 as
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

#![allow(warnings, clippy::all, reason = "nobody writes it")]

#[rustfmt::skip]
pub(super) mod adder;
#[rustfmt::skip]
pub(super) mod adder_capnp;
