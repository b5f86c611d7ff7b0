//! How the server is connected to.

use std::time::Duration;

use polywire::rpc::xmlrpc::{Client, Leniency};

use crate::call::Headers;
use crate::user::UserArguments;
use crate::way::WayArguments;
use crate::{Failure, call};

#[derive(Debug, clap::Args)]
pub(super) struct ConnectionArguments {
    #[command(flatten)]
    user: UserArguments,
    /// Add a header to the request; those of a file, one a line, by @FILE.
    #[arg(long, short = 'H', value_name = "NAME: VALUE", value_parser = call::headers)]
    header: Vec<Headers>,
    #[command(flatten)]
    way: WayArguments,
    /// Read answers that are wrong in these ways, by names apart by commas, or in
    /// all. Names: bare_multicall, boolean_words, control_characters,
    /// empty_numbers, foreign_encodings, missing_params, odd_dates,
    /// padded_scalars, wide_ints.
    #[arg(
        long,
        value_name = "NAMES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all",
        value_parser = leniency
    )]
    lenient: Option<Leniency>,
    /// Seconds until the call is given up.
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
    pub(super) fn client(&self, url: &str, raw: bool) -> Result<Client, Failure> {
        if !(self.timeout > 0.0 && self.timeout < 1e9) {
            return Err(Failure::usage(
                "--timeout must be a positive number of seconds",
            ));
        }
        // What is wrong with the URL is said before a password is asked for.
        let _ = Client::builder(url).map_err(Failure::usage)?;
        let url = self.user.url(url)?;
        let builder = Client::builder(&url).map_err(Failure::usage)?;
        let mut builder = builder
            .deadline(Duration::from_secs_f64(self.timeout))
            .leniency(self.lenient.unwrap_or(Leniency::STRICT))
            .tls(self.way.tls()?)
            .proxy(self.way.proxy()?);
        if let Some((user, password)) = self.user.credentials()? {
            builder = builder.basic(user, password);
        }
        for (name, value) in self.header.iter().flat_map(|Headers(all)| all) {
            builder = builder.header(name.clone(), value.clone());
        }
        if raw {
            builder = builder.observer(call::show);
        }
        builder.build().map_err(Failure::usage)
    }
}

fn leniency(names: &str) -> Result<Leniency, String> {
    if names == "all" {
        return Ok(Leniency::ALL);
    }
    let mut each = names.split(',').map(str::trim);
    each.try_fold(Leniency::STRICT, |all, name| {
        all.with_name(name)
            .ok_or_else(|| format!("no `{name}`; there are {}", Leniency::NAMES.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leniencies_by_name() {
        assert_eq!(leniency("all"), Ok(Leniency::ALL));
        let both = leniency("wide_ints, odd_dates").unwrap();
        assert!(both.wide_ints() && both.odd_dates() && !both.boolean_words());
        assert!(leniency("wide").unwrap_err().contains("wide_ints"));
    }

    /// What --help lists is all there is.
    #[test]
    fn leniencies_are_listed() {
        use clap::CommandFactory;

        #[derive(Debug, clap::Parser)]
        struct Program {
            #[command(flatten)]
            arguments: ConnectionArguments,
        }

        let help = Program::command().render_long_help().to_string();
        let help = help.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(help.contains(&Leniency::NAMES.join(", ")), "{help}");
    }
}
