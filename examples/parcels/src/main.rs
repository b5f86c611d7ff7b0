//! The service of docs/codegen.md.
#![allow(
    clippy::print_stdout,
    reason = "an example that talks to whoever runs it"
)]

use std::sync::{Mutex, PoisonError};

use parcels::server::Parcels;
use parcels::{
    GetParcelError, GetParcelInput, GetParcelOutput, ListParcelsError, ListParcelsInput,
    ListParcelsOutput, NoSuchParcel, Parcel, SendParcelError, SendParcelInput, SendParcelOutput,
    State,
};
use polywire::prelude::*;

polywire::include_service!(pub mod parcels);

/// How many parcels a page has.
const PAGE: usize = 2;

#[derive(Debug, Default)]
struct Office {
    parcels: Mutex<Vec<Parcel>>,
}

impl Office {
    fn parcels(&self) -> std::sync::MutexGuard<'_, Vec<Parcel>> {
        self.parcels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Parcels for Office {
    async fn send_parcel(
        &self,
        input: SendParcelInput,
        _context: &Context,
    ) -> Result<SendParcelOutput, SendParcelError> {
        let mut parcels = self.parcels();
        let parcel = Parcel::builder()
            .id((parcels.len() + 1).to_string())
            .to(input.to)
            .grams(input.grams)
            .state(State::OnItsWay)
            .build()?;
        parcels.push(parcel.clone());
        Ok(SendParcelOutput::builder().parcel(parcel).build()?)
    }

    async fn get_parcel(
        &self,
        input: GetParcelInput,
        _context: &Context,
    ) -> Result<GetParcelOutput, GetParcelError> {
        match self.parcels().iter().find(|parcel| parcel.id == input.id) {
            Some(parcel) => Ok(GetParcelOutput::builder().parcel(parcel.clone()).build()?),
            None => Err(NoSuchParcel::builder().message("lost?").build().into()),
        }
    }

    async fn list_parcels(
        &self,
        input: ListParcelsInput,
        _context: &Context,
    ) -> Result<ListParcelsOutput, ListParcelsError> {
        let token = input.next_token.unwrap_or_else(|| "0".into());
        let Ok(start) = token.parse::<usize>() else {
            return Err(Fault::new(FaultKind::Invalid, "no such page").into());
        };
        let parcels = self.parcels();
        let page = parcels.iter().skip(start).take(PAGE).cloned().collect();
        let mut output = ListParcelsOutput::builder().parcels(page);
        if start + PAGE < parcels.len() {
            output = output.next_token((start + PAGE).to_string());
        }
        Ok(output.build()?)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = parcels::server::builder(Office::default())
        .build()?
        .listen("127.0.0.1:8083".parse()?)
        .await?;
    println!("http://{}", server.address());
    tokio::signal::ctrl_c().await?;
    server.shutdown().await;
    Ok(())
}

#[cfg(test)]
mod tests;
