//! Partitions: groups of regions that share a DNS suffix.

mod read;
mod table;

use std::sync::LazyLock;

use regex::Regex;

use super::RuleSetError;

/// A partition, as `aws.partition` returns it
/// ([specification](https://smithy.io/2.0/aws/rules-engine/library-functions.html#partition-structure)).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Partition {
    pub(super) name: String,
    pub(super) dns_suffix: String,
    pub(super) dual_stack_dns_suffix: String,
    pub(super) implicit_global_region: Option<String>,
    pub(super) supports_dual_stack: bool,
    pub(super) supports_fips: bool,
}

impl Partition {
    /// The name, such as `aws`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The last part of host names, such as `amazonaws.com`.
    #[must_use]
    pub fn dns_suffix(&self) -> &str {
        &self.dns_suffix
    }

    /// The last part of host names with IPv4 and IPv6 addresses, such as `api.aws`.
    #[must_use]
    pub fn dual_stack_dns_suffix(&self) -> &str {
        &self.dual_stack_dns_suffix
    }

    /// The region that signs requests to global services, such as `us-east-1`.
    #[must_use]
    pub fn implicit_global_region(&self) -> Option<&str> {
        self.implicit_global_region.as_deref()
    }

    /// Whether there are endpoints with IPv4 and IPv6.
    #[must_use]
    pub fn supports_dual_stack(&self) -> bool {
        self.supports_dual_stack
    }

    /// Whether there are endpoints with certified cryptography (FIPS).
    #[must_use]
    pub fn supports_fips(&self) -> bool {
        self.supports_fips
    }
}

/// A table of partitions.
///
/// ```
/// use polywire_aws::endpoint::Partitions;
///
/// let partitions = Partitions::aws();
/// let found = partitions.find("cn-north-1").unwrap();
/// assert_eq!(found.dns_suffix(), "amazonaws.com.cn");
/// // Regions that the table does not have belong to the partition whose pattern matches.
/// assert_eq!(partitions.find("us-gov-north-7").unwrap().name(), "aws-us-gov");
/// ```
#[derive(Clone, Debug)]
pub struct Partitions {
    /// Partitions, then those of regions that differ from their partition.
    partitions: Vec<Partition>,
    /// Region and index, sorted by region.
    regions: Vec<(String, usize)>,
    patterns: Vec<(Regex, usize)>,
    /// The partition of regions that match nothing.
    fallback: Option<usize>,
}

impl Partitions {
    /// The partitions of AWS that were known when this crate was released. Programs that run longer can replace them by
    /// [`Self::from_json`].
    #[must_use]
    pub fn aws() -> &'static Self {
        static AWS: LazyLock<Partitions> = LazyLock::new(table::aws);
        &AWS
    }

    /// Reads the published format, `partitions.json` of version 1.x.
    ///
    /// Numbers, texts and members that the table does not need are ignored. Patterns are those of the crate `regex`:
    /// they match in linear time, and large ones are rejected.
    ///
    /// # Errors
    ///
    /// The text is not JSON, or a member is missing or has another type. The error names its path.
    pub fn from_json(text: &str) -> Result<Self, RuleSetError> {
        read::partitions(&super::compile::parse(text)?)
    }

    /// The partition of `region`: the one that lists it, else the first whose pattern matches, else `aws`. `None`
    /// only if the table has no partition `aws`.
    #[must_use]
    pub fn find(&self, region: &str) -> Option<&Partition> {
        let listed = self
            .regions
            .binary_search_by(|(known, _)| known.as_str().cmp(region));
        let index = match listed {
            Ok(place) => Some(self.regions[place].1),
            Err(_) => {
                let matching = |(pattern, _): &&(Regex, usize)| pattern.is_match(region);
                let found = self.patterns.iter().find(matching);
                found.map(|(_, index)| *index).or(self.fallback)
            }
        };
        self.partitions.get(index?)
    }

    /// The known regions with their partitions, sorted by name.
    pub fn regions(&self) -> impl Iterator<Item = (&str, &Partition)> {
        self.regions
            .iter()
            .map(|(region, index)| (region.as_str(), &self.partitions[*index]))
    }
}
