//! The bundled example: a weather service.

/// The model.
pub(crate) const MODEL: &str = include_str!("../../models/weather.smithy");

/// Sets the handlers of all operations of the bundled service.
pub(crate) fn handlers(builder: polywire::rpc::ServerBuilder) -> polywire::rpc::ServerBuilder {
    builder
}
