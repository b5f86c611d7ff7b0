//! Arguments for the accepted events: a profile, single leniencies and limits.

use clap::ValueEnum;
use polywire_nostr::{Limits, Profile};

#[derive(Clone, Debug, clap::Args)]
pub(super) struct AcceptArguments {
    /// The accepted deviations from NIP-01: none, or all leniencies of --allow.
    #[arg(long, value_enum, default_value = "strict")]
    profile: ProfileName,
    /// Accept a deviation. Can be repeated, or given several values separated by commas.
    #[arg(long, value_enum, value_name = "LENIENCY", value_delimiter = ',')]
    allow: Vec<Leniency>,
    /// The maximum length of an event in bytes, without the line end.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::DEFAULT.bytes)]
    max_bytes: usize,
    /// The maximum number of tags of an event.
    #[arg(long, value_name = "COUNT", default_value_t = Limits::DEFAULT.tags)]
    max_tags: usize,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ProfileName {
    Strict,
    Compatible,
}

/// The fields of [`Profile`].
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Leniency {
    /// `A-F` in id, pubkey and sig
    UpperCaseHex,
    /// Whole numbers such as `17e8` and `1.0`
    WholeFloats,
    /// Duplicate members; the last one counts
    DuplicateKeys,
    /// Escapes of lone surrogates
    LoneSurrogates,
    /// Unescaped control characters
    RawControlCharacters,
    /// Tags without items
    EmptyTags,
}

impl AcceptArguments {
    pub(super) fn profile(&self) -> Profile {
        let mut profile = match self.profile {
            ProfileName::Strict => Profile::STRICT,
            ProfileName::Compatible => Profile::COMPATIBLE,
        };
        for leniency in &self.allow {
            match leniency {
                Leniency::UpperCaseHex => profile.upper_case_hex = true,
                Leniency::WholeFloats => profile.whole_floats = true,
                Leniency::DuplicateKeys => profile.duplicate_keys = true,
                Leniency::LoneSurrogates => profile.lone_surrogates = true,
                Leniency::RawControlCharacters => profile.raw_control_characters = true,
                Leniency::EmptyTags => profile.empty_tags = true,
            }
        }
        profile
    }

    pub(super) fn limits(&self) -> Limits {
        Limits::DEFAULT
            .with_bytes(self.max_bytes())
            .with_tags(self.max_tags)
    }

    /// Returns the limit in bytes, at most the range of offsets in events.
    pub(super) fn max_bytes(&self) -> usize {
        self.max_bytes.min(u32::MAX as usize)
    }
}
