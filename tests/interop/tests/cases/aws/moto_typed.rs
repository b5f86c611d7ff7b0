//! Generated clients of services of AWS against moto's server.

#[cfg(aws_models)]
mod typed;

/// Without the models there is nothing to build these cases of.
#[cfg(not(aws_models))]
#[test]
fn generated_clients_call_moto() {
    let case = polywire_interop::Case::begin("generated_clients_call_moto");
    case.skip("built without the models of POLYWIRE_DATA");
}
