//! The relay through real connections: what each NIP says, limits, restarts and kills.

mod auth;
mod deletion;
mod events;
mod limits;
mod reconciliation;
mod requests;
mod restart;
mod support;
mod web;
