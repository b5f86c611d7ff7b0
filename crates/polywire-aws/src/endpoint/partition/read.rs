//! Reads the published format of partitions.

use regex::RegexBuilder;
use serde_json::Value;

use super::{Partition, Partitions};
use crate::endpoint::RuleSetError;
use crate::endpoint::document::Node;

/// The most memory of one compiled pattern, in bytes.
const PATTERN_SIZE: usize = 1 << 20;

pub(super) fn partitions(document: &Value) -> Result<Partitions, RuleSetError> {
    let root = Node::root(document);
    let version = root.member("version")?;
    if !version.text()?.starts_with("1.") {
        return Err(version.error("expected a version 1.x"));
    }
    let mut table = Partitions {
        partitions: Vec::new(),
        regions: Vec::new(),
        patterns: Vec::new(),
        fallback: None,
    };
    // Regions that differ from their partition; they follow all partitions.
    let mut different = Vec::new();
    for node in root.member("partitions")?.items()? {
        let index = table.partitions.len();
        let id = node.member("id")?.text()?;
        let partition = outputs(&node.member("outputs")?, id, None)?;
        let pattern = node.member("regionRegex")?;
        let compiled = RegexBuilder::new(pattern.text()?)
            .size_limit(PATTERN_SIZE)
            .build()
            .map_err(|error| pattern.error(format!("not a pattern: {error}")))?;
        table.patterns.push((compiled, index));
        if let Some(regions) = node.optional("regions")? {
            for (name, region) in regions.members()? {
                let own = outputs(&region, id, Some(&partition))?;
                if own == partition {
                    table.regions.push((name.to_owned(), index));
                } else {
                    different.push((name.to_owned(), own));
                }
            }
        }
        if id == "aws" {
            table.fallback = Some(index);
        }
        table.partitions.push(partition);
    }
    for (name, partition) in different {
        table.regions.push((name, table.partitions.len()));
        table.partitions.push(partition);
    }
    table.regions.sort();
    Ok(table)
}

/// The members of a partition, or those in which a region differs from it.
fn outputs(
    node: &Node<'_, '_>,
    id: &str,
    base: Option<&Partition>,
) -> Result<Partition, RuleSetError> {
    let text = |key: &str, from: fn(&Partition) -> &String| match (node.optional(key)?, base) {
        (Some(found), _) => Ok(found.text()?.to_owned()),
        (None, Some(base)) => Ok(from(base).clone()),
        (None, None) => Err(node.error(format!("the member `{key}` is missing"))),
    };
    let boolean = |key: &str, from: fn(&Partition) -> bool| match (node.optional(key)?, base) {
        (Some(found), _) => found.boolean(),
        (None, Some(base)) => Ok(from(base)),
        (None, None) => Err(node.error(format!("the member `{key}` is missing"))),
    };
    let name = match (node.optional("name")?, base) {
        (Some(found), _) => found.text()?.to_owned(),
        (None, Some(base)) => base.name.clone(),
        (None, None) => id.to_owned(),
    };
    Ok(Partition {
        name,
        dns_suffix: text("dnsSuffix", |base| &base.dns_suffix)?,
        dual_stack_dns_suffix: text("dualStackDnsSuffix", |base| &base.dual_stack_dns_suffix)?,
        implicit_global_region: match node.optional("implicitGlobalRegion")? {
            Some(found) => Some(found.text()?.to_owned()),
            None => base.and_then(|base| base.implicit_global_region.clone()),
        },
        supports_dual_stack: boolean("supportsDualStack", |base| base.supports_dual_stack)?,
        supports_fips: boolean("supportsFIPS", |base| base.supports_fips)?,
    })
}
