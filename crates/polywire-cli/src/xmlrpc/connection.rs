//! Options for the connection to the server.

use std::time::Duration;

use polywire::rpc::xmlrpc::Client;

use super::advice::Advice;
use crate::call::Headers;
use crate::dialect::DialectArguments;
use crate::transport::TransportArguments;
use crate::user::UserArguments;
use crate::{Failure, call};

#[derive(Debug, clap::Args)]
pub(super) struct ConnectionArguments {
    #[command(flatten)]
    user: UserArguments,
    /// Add a header to the request, or all headers in a file with @FILE, one per line
    #[arg(long, short = 'H', value_name = "NAME: VALUE", value_parser = call::headers)]
    header: Vec<Headers>,
    #[command(flatten)]
    transport: TransportArguments,
    #[command(flatten)]
    dialect: DialectArguments,
    /// The timeout of the call in seconds
    #[arg(
        long,
        visible_alias = "deadline",
        value_name = "SECONDS",
        default_value_t = 60.0,
        allow_negative_numbers = true
    )]
    timeout: f64,
}

impl ConnectionArguments {
    /// Returns a client, and the hints for failed calls.
    pub(super) fn client(&self, url: &str, raw: bool) -> Result<(Client, Advice), Failure> {
        if !(self.timeout > 0.0 && self.timeout < 1e9) {
            return Err(Failure::usage(
                "--timeout must be a positive number of seconds",
            ));
        }
        // Report invalid URLs before the password prompt.
        let _ = Client::builder(url).map_err(Failure::usage)?;
        let url = self.user.url(url)?;
        let builder = Client::builder(&url).map_err(Failure::usage)?;
        let mut builder = builder
            .deadline(Duration::from_secs_f64(self.timeout))
            .leniency(self.dialect.leniency())
            .style(self.dialect.style())
            .tls(self.transport.tls()?)
            .proxy(self.transport.proxy()?);
        if let Some((user, password)) = self.user.credentials()? {
            builder = builder.basic(user, password);
        }
        for (name, value) in self.header.iter().flat_map(|Headers(all)| all) {
            builder = builder.header(name.clone(), value.clone());
        }
        let advice = Advice::new(self.dialect.leniency(), &self.transport);
        let answers = advice.clone();
        let builder = builder.observer(move |exchange| {
            if raw {
                call::show(exchange);
            }
            answers.keep(exchange);
        });
        let client = builder.build().map_err(Failure::usage)?;
        Ok((client, advice))
    }
}
