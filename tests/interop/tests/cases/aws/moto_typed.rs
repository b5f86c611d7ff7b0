//! Generated clients of AWS services against moto's server.

#[cfg(aws_models)]
mod typed;

/// These cases cannot be built without the models.
#[cfg(not(aws_models))]
#[test]
#[ignore = "no data: built without the models of POLYWIRE_DATA"]
fn generated_clients_call_moto() {
    panic!("built without the models of POLYWIRE_DATA");
}
