//! Comparators. Numbers are compared as numbers, everything else as text. Projections match if any
//! of their values does, except for the comparators of sets.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;

use super::syntax::Comparator;
use super::value::{Scope, Value};
use crate::node::Number;

pub(crate) fn compare<'m>(
    scope: Scope<'_, 'm>,
    comparator: Comparator,
    left: &Value<'m>,
    right: &Value<'m>,
    ignores_case: bool,
) -> bool {
    match comparator {
        Comparator::Exists => {
            let wanted = if left.exists() { "true" } else { "false" };
            right.text(scope.graph) == wanted
        }
        Comparator::SetEqual => sets(scope, left, right, ignores_case) == Some(Ordering::Equal),
        Comparator::SetNotEqual => sets(scope, left, right, ignores_case) != Some(Ordering::Equal),
        Comparator::ProperSubset => sets(scope, left, right, ignores_case) == Some(Ordering::Less),
        Comparator::Subset => sets(scope, left, right, ignores_case).is_some_and(Ordering::is_le),
        _ => any_pair(scope, comparator, left, right, ignores_case),
    }
}

/// Compares two sets: a proper subset is less. `None` if either side is not a projection, or if the
/// left one is not a subset.
fn sets<'m>(
    scope: Scope<'_, 'm>,
    left: &Value<'m>,
    right: &Value<'m>,
    ignores_case: bool,
) -> Option<Ordering> {
    if !matches!((left, right), (Value::Many(_), Value::Many(_))) {
        return None;
    }
    let set = |value: &Value<'m>| {
        let mut texts = HashSet::new();
        value.any(&mut |item| {
            texts.insert(folded(item.text(scope.graph), ignores_case).into_owned());
            false
        });
        texts
    };
    let (left, right) = (set(left), set(right));
    left.is_subset(&right).then(|| left.len().cmp(&right.len()))
}

fn any_pair<'m>(
    scope: Scope<'_, 'm>,
    comparator: Comparator,
    left: &Value<'m>,
    right: &Value<'m>,
    ignores_case: bool,
) -> bool {
    left.any(&mut |left| {
        if !left.exists() || !scope.budget.spend(1) {
            return false;
        }
        let left = folded(left.text(scope.graph), ignores_case);
        right.any(&mut |right| {
            right.exists()
                && scope.budget.spend(1)
                && holds(
                    comparator,
                    &left,
                    &folded(right.text(scope.graph), ignores_case),
                )
        })
    })
}

fn holds(comparator: Comparator, left: &str, right: &str) -> bool {
    let order = || {
        let (left, right) = (number(left)?, number(right)?);
        left.partial_cmp(&right)
    };
    match comparator {
        Comparator::Contains => left.contains(right),
        Comparator::EndsWith => left.ends_with(right),
        Comparator::Equal => left == right,
        Comparator::NotEqual => left != right,
        Comparator::StartsWith => left.starts_with(right),
        Comparator::Greater => order().is_some_and(Ordering::is_gt),
        Comparator::GreaterOrEqual => order().is_some_and(Ordering::is_ge),
        Comparator::Less => order().is_some_and(Ordering::is_lt),
        Comparator::LessOrEqual => order().is_some_and(Ordering::is_le),
        // Decided by `compare`.
        Comparator::Exists
        | Comparator::ProperSubset
        | Comparator::SetEqual
        | Comparator::SetNotEqual
        | Comparator::Subset => false,
    }
}

/// A JSON number. `None` for other text.
fn number(text: &str) -> Option<Number> {
    Number::parse(text)
}

fn folded(text: Cow<'_, str>, ignores_case: bool) -> Cow<'_, str> {
    match ignores_case {
        true => Cow::Owned(text.to_lowercase()),
        false => text,
    }
}
