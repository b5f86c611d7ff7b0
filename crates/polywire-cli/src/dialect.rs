//! Options for peers that deviate from XML-RPC.

use polywire::codec::xmlrpc::XmlRpcProfile;
use polywire::rpc::xmlrpc::{Leniency, Style};

/// How to read and write XML-RPC.
#[derive(Debug, clap::Args)]
pub(crate) struct DialectArguments {
    /// Accept these deviations from XML-RPC, separated by commas, or all if no names are given.
    /// Names: array_structs, bare_multicall, boolean_words, control_characters, empty_numbers,
    /// foreign_encodings, leading_space, missing_params, odd_dates, padded_scalars,
    /// string_fault_codes, surrogate_pairs, wide_ints, zero_dates
    #[arg(
        long,
        value_name = "NAMES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all",
        value_parser = leniency
    )]
    lenient: Option<Leniency>,
    /// Change how XML-RPC is written: detail=on-request|always|never (whether servers add the
    /// structure of a modelled error to its fault; the default is on-request, which adds it if the
    /// caller requests it), forbidden=base64|replace|strip (characters that XML does not allow),
    /// fractions=yes (fractional seconds), i8=prefixed, nil=prefixed|reject, strings=untyped. Can be
    /// repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    style: Vec<Setting>,
}

/// A checked setting of [`Style`].
#[derive(Clone, Debug)]
struct Setting {
    name: String,
    value: String,
}

impl DialectArguments {
    pub(crate) fn leniency(&self) -> Leniency {
        self.lenient.unwrap_or(Leniency::STRICT)
    }

    pub(crate) fn profile(&self) -> XmlRpcProfile {
        XmlRpcProfile::DEFAULT.with_leniency(self.leniency())
    }

    pub(crate) fn style(&self) -> Style {
        let settings = self.style.iter();
        settings.fold(Style::DEFAULT, |style, Setting { name, value }| {
            // The argument parser has checked it.
            style.with_setting(name, value).unwrap_or(style)
        })
    }
}

fn leniency(names: &str) -> Result<Leniency, String> {
    if names == "all" {
        return Ok(Leniency::ALL);
    }
    let mut each = names.split(',').map(str::trim);
    each.try_fold(Leniency::STRICT, |all, name| {
        all.with_name(name).ok_or_else(|| {
            format!(
                "unknown name `{name}`: expected one of {}",
                Leniency::NAMES.join(", ")
            )
        })
    })
}

fn setting(text: &str) -> Result<Setting, String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    if Style::DEFAULT.with_setting(name, value).is_some() {
        return Ok(Setting {
            name: name.to_owned(),
            value: value.to_owned(),
        });
    }
    let settings: Vec<String> = Style::SETTINGS
        .iter()
        .map(|(name, values)| format!("{name}={}", values.join("|")))
        .collect();
    Err(format!("expected one of {}", settings.join(", ")))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Program {
        #[command(flatten)]
        arguments: DialectArguments,
    }

    #[test]
    fn leniencies_by_name() {
        assert_eq!(leniency("all"), Ok(Leniency::ALL));
        let both = leniency("wide_ints, odd_dates").unwrap();
        assert!(both.wide_ints() && both.odd_dates() && !both.boolean_words());
        assert!(leniency("wide").unwrap_err().contains("wide_ints"));
    }

    #[test]
    fn styles_by_name() {
        let style = |arguments: &[&str]| {
            let all = ["polywire"].iter().chain(arguments);
            Program::try_parse_from(all).map(|program| program.arguments.style())
        };
        assert_eq!(style(&[]).unwrap(), Style::DEFAULT);
        let both = style(&["--style", "fractions=yes", "--style", "i8=prefixed"]).unwrap();
        let expected = Style::DEFAULT.with_fractions(true).with_prefixed_i8(true);
        assert_eq!(both, expected);
        for wrong in ["nil", "nil=maybe", "color=red"] {
            let error = style(&["--style", wrong]).unwrap_err().to_string();
            assert!(error.contains("nil=plain|prefixed|reject"), "{error}");
        }
    }

    /// --help must list every name.
    #[test]
    fn help_lists_all_names() {
        let help = Program::command().render_long_help().to_string();
        let help = help.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(help.contains(&Leniency::NAMES.join(", ")), "{help}");
        for (name, _) in Style::SETTINGS {
            assert!(help.contains(&format!("{name}=")), "{name}: {help}");
        }
    }
}
