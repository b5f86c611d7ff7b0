//! Generated clients of services of AWS against moto's server.

#[cfg(aws_models)]
mod typed;

/// Without the models there is nothing to build these cases of.
#[cfg(not(aws_models))]
#[test]
#[ignore = "no data: built without the models of POLYWIRE_DATA"]
fn generated_clients_call_moto() {
    panic!("built without the models of POLYWIRE_DATA");
}
