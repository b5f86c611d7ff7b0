//! The partitions of AWS: facts that AWS publishes, as of November 2026.

use regex::Regex;

use super::{Partition, Partitions};

struct Row {
    name: &'static str,
    pattern: &'static str,
    dns_suffix: &'static str,
    dual_stack_dns_suffix: &'static str,
    implicit_global_region: &'static str,
    regions: &'static [&'static str],
}

/// All of these support FIPS and dual stack.
const ROWS: [Row; 8] = [
    Row {
        name: "aws",
        pattern: r"^(us|eu|ap|sa|ca|me|af|il|mx)\-\w+\-\d+$",
        dns_suffix: "amazonaws.com",
        dual_stack_dns_suffix: "api.aws",
        implicit_global_region: "us-east-1",
        regions: &[
            "af-south-1",
            "ap-east-1",
            "ap-east-2",
            "ap-northeast-1",
            "ap-northeast-2",
            "ap-northeast-3",
            "ap-south-1",
            "ap-south-2",
            "ap-southeast-1",
            "ap-southeast-2",
            "ap-southeast-3",
            "ap-southeast-4",
            "ap-southeast-5",
            "ap-southeast-6",
            "ap-southeast-7",
            "aws-global",
            "ca-central-1",
            "ca-west-1",
            "eu-central-1",
            "eu-central-2",
            "eu-north-1",
            "eu-south-1",
            "eu-south-2",
            "eu-west-1",
            "eu-west-2",
            "eu-west-3",
            "il-central-1",
            "me-central-1",
            "me-south-1",
            "me-west-1",
            "mx-central-1",
            "sa-east-1",
            "sa-west-1",
            "us-east-1",
            "us-east-2",
            "us-west-1",
            "us-west-2",
        ],
    },
    Row {
        name: "aws-cn",
        pattern: r"^cn\-\w+\-\d+$",
        dns_suffix: "amazonaws.com.cn",
        dual_stack_dns_suffix: "api.amazonwebservices.com.cn",
        implicit_global_region: "cn-northwest-1",
        regions: &["aws-cn-global", "cn-north-1", "cn-northwest-1"],
    },
    Row {
        name: "aws-eusc",
        pattern: r"^eusc\-(de)\-\w+\-\d+$",
        dns_suffix: "amazonaws.eu",
        dual_stack_dns_suffix: "api.amazonwebservices.eu",
        implicit_global_region: "eusc-de-east-1",
        regions: &["eusc-de-east-1"],
    },
    Row {
        name: "aws-iso",
        pattern: r"^us\-iso\-\w+\-\d+$",
        dns_suffix: "c2s.ic.gov",
        dual_stack_dns_suffix: "api.aws.ic.gov",
        implicit_global_region: "us-iso-east-1",
        regions: &["aws-iso-global", "us-iso-east-1", "us-iso-west-1"],
    },
    Row {
        name: "aws-iso-b",
        pattern: r"^us\-isob\-\w+\-\d+$",
        dns_suffix: "sc2s.sgov.gov",
        dual_stack_dns_suffix: "api.aws.scloud",
        implicit_global_region: "us-isob-east-1",
        regions: &["aws-iso-b-global", "us-isob-east-1", "us-isob-west-1"],
    },
    Row {
        name: "aws-iso-e",
        pattern: r"^eu\-isoe\-\w+\-\d+$",
        dns_suffix: "cloud.adc-e.uk",
        dual_stack_dns_suffix: "api.cloud-aws.adc-e.uk",
        implicit_global_region: "eu-isoe-west-1",
        regions: &["aws-iso-e-global", "eu-isoe-west-1"],
    },
    Row {
        name: "aws-iso-f",
        pattern: r"^us\-isof\-\w+\-\d+$",
        dns_suffix: "csp.hci.ic.gov",
        dual_stack_dns_suffix: "api.aws.hci.ic.gov",
        implicit_global_region: "us-isof-south-1",
        regions: &["aws-iso-f-global", "us-isof-east-1", "us-isof-south-1"],
    },
    Row {
        name: "aws-us-gov",
        pattern: r"^us\-gov\-\w+\-\d+$",
        dns_suffix: "amazonaws.com",
        dual_stack_dns_suffix: "api.aws",
        implicit_global_region: "us-gov-west-1",
        regions: &["aws-us-gov-global", "us-gov-east-1", "us-gov-west-1"],
    },
];

pub(super) fn aws() -> Partitions {
    let mut regions = Vec::new();
    let mut patterns = Vec::new();
    for (index, row) in ROWS.iter().enumerate() {
        regions.extend(row.regions.iter().map(|name| ((*name).to_owned(), index)));
        #[expect(
            clippy::unwrap_used,
            reason = "the patterns are constants, which a test compiles"
        )]
        patterns.push((Regex::new(row.pattern).unwrap(), index));
    }
    regions.sort();
    let partition = |row: &Row| Partition {
        name: row.name.to_owned(),
        dns_suffix: row.dns_suffix.to_owned(),
        dual_stack_dns_suffix: row.dual_stack_dns_suffix.to_owned(),
        implicit_global_region: Some(row.implicit_global_region.to_owned()),
        supports_dual_stack: true,
        supports_fips: true,
    };
    Partitions {
        partitions: ROWS.iter().map(partition).collect(),
        regions,
        patterns,
        fallback: Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_region_has_one_partition() {
        let table = Partitions::aws();
        let rows: usize = ROWS.iter().map(|row| row.regions.len()).sum();
        assert_eq!(table.regions().count(), rows);
        for row in &ROWS {
            for region in row.regions {
                assert_eq!(table.find(region).unwrap().name(), row.name);
                // The pattern of the partition alone matches the regions that are no aliases of all.
                let is_alias = region.ends_with("-global");
                assert_eq!(Regex::new(row.pattern).unwrap().is_match(region), !is_alias);
            }
            assert!(row.regions.contains(&row.implicit_global_region));
        }
        assert_eq!(table.find("somewhere").unwrap().name(), "aws");
    }
}
