//! Runs the output of `polywire generate rust`: a server on a free port, and a client of each
//! protocol.

use generated_package::city::server::{self, Weather};
use generated_package::city::{
    Climate, Coordinates, GetCityError, GetCityInput, GetCityOutput, NoSuchResource, client,
};
use polywire::prelude::*;

struct Cities;

impl Weather for Cities {
    async fn get_city(
        &self,
        input: GetCityInput,
        _: &Context,
    ) -> Result<GetCityOutput, GetCityError> {
        if input.city_id != "oslo" {
            let error = NoSuchResource::builder().message("nothing there");
            return Err(error
                .resource_kind("city")
                .resource_id(input.city_id)
                .build()?
                .into());
        }
        let place = Coordinates::builder().latitude(59.9139).longitude(10.7522);
        let city = GetCityOutput::builder()
            .city_id(input.city_id)
            .name("Oslo <&> \u{f8}")
            .coordinates(place.build()?)
            .climate(Climate::Continental)
            .population(717_710)
            .elevation(23);
        Ok(city.build()?)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = server::builder(Cities).build()?;
    let running = server.listen("127.0.0.1:0".parse()?).await?;
    let url = format!("http://{}", running.address());
    for protocol in [
        ProtocolKind::RestJson1,
        ProtocolKind::RpcV2Cbor,
        ProtocolKind::XmlRpc,
    ] {
        let client = client::connect(&url, protocol)?;
        let city = client.get_city().city_id("oslo").send().await?;
        assert_eq!(city.name, "Oslo <&> \u{f8}", "{protocol}");
        assert_eq!(city.coordinates.latitude, 59.9139, "{protocol}");
        assert_eq!(city.population, Some(717_710), "{protocol}");
        match client.get_city().city_id("atlantis").send().await {
            Err(GetCityError::NoSuchResource(error)) => {
                assert_eq!(error.resource_id, "atlantis", "{protocol}");
            }
            other => panic!("{protocol}: {other:?}"),
        }
    }
    running.shutdown().await;
    println!("done");
    Ok(())
}
