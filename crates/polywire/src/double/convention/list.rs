//! How an operation lists things.

use polywire_model::Model;
use polywire_schema::{Member, NameSource, Operation, Schema, Service, ShapeKind};

use super::names::singulars;
use super::{Kind, Role};

/// How an operation lists things.
#[derive(Debug)]
pub(crate) struct ListPlan {
    /// The lists of the output that have a thing as item.
    pub(crate) lists: Vec<ItemList>,
    /// The member of the input that limits the items of a page.
    pub(crate) page_size: Option<String>,
    /// The largest page that the model allows.
    pub(crate) largest: usize,
    /// The member of the input with the position of the page.
    pub(crate) input_token: Option<String>,
    /// The path in the output to the position of the next page.
    pub(crate) output_token: Option<Vec<String>>,
    /// The path in the output to the boolean that says whether there is a next page.
    pub(crate) more_results: Option<Vec<String>>,
    /// The member of the input with the start of identifiers.
    pub(crate) prefix: Option<String>,
    /// The member of the input with the separator of groups, and the path to the list of groups: of
    /// structures with a member `Prefix`.
    pub(crate) groups: Option<(String, ItemList, String)>,
}

/// A list of the output.
#[derive(Debug)]
pub(crate) struct ItemList {
    pub(crate) path: Vec<String>,
    /// The role of the items, if they are strings. They are structures otherwise.
    pub(crate) role: Option<Role>,
}

const PAGE_SIZES: [&str; 6] = [
    "maxresults",
    "limit",
    "maxitems",
    "maxkeys",
    "pagesize",
    "maxrecords",
];

/// How many items a page has at most, if neither caller nor model limits it.
const LARGEST: usize = 1_000;

impl ListPlan {
    /// The plan of an operation. `None` if its output has no list of such things.
    pub(crate) fn of(
        model: &Model,
        service: Service<'_>,
        operation: Operation<'_>,
        kind: &Kind,
    ) -> Option<Self> {
        let shape = model.get(operation.id())?;
        let paginated = model.pagination(model.get(service.id()), shape);
        let output = operation.output();
        let mut lists = Vec::new();
        find_lists(kind, operation, output, &mut lists);
        if lists.is_empty() {
            return None;
        }
        let input = operation.input();
        let path = |path: &str| path.split('.').map(str::to_owned).collect::<Vec<_>>();
        let is_string = |token: &str| {
            member_at(input, &[token.to_owned()])
                .is_some_and(|member| member.kind() == ShapeKind::String)
        };
        let input_token = paginated.as_ref().and_then(|own| own.input_token);
        // Positions that are not strings cannot be written: those lists have one page.
        let input_token = input_token.filter(|token| is_string(token));
        let output_token = paginated.as_ref().and_then(|own| own.output_token);
        let own_size = paginated.as_ref().and_then(|own| own.page_size);
        let named_size = || {
            let mut members = input.members();
            let named = members.find(|member| PAGE_SIZES.contains(&&*super::normal(member.name())));
            named.map(Member::name)
        };
        let page_size = input_token.and_then(|_| own_size.or_else(named_size));
        let range = page_size.and_then(|name| member_at(input, &[name.to_owned()]));
        let largest = range.and_then(|member| member.constraints()?.range()?.1);
        let largest = largest.and_then(|largest| largest.parse::<usize>().ok());
        let mut members = input.members();
        let prefix = members.find(|member| {
            member.kind() == ShapeKind::String && super::normal(member.name()).ends_with("prefix")
        });
        let more_results = match &paginated {
            Some(paginated) => model.more_results(shape, paginated),
            None => output
                .members()
                .map(|member| member.name())
                .find(|name| {
                    let own = model.get(output.id()).and_then(|shape| shape.member(name));
                    own.is_some_and(|own| model.is_more_results(own))
                })
                .map(str::to_owned),
        };
        Some(Self {
            lists,
            page_size: page_size.map(str::to_owned),
            largest: largest.unwrap_or(LARGEST).clamp(1, LARGEST),
            input_token: input_token.map(str::to_owned),
            output_token: input_token.and(output_token).map(path),
            more_results: more_results.as_deref().map(path),
            prefix: prefix.map(|member| member.name().to_owned()),
            groups: groups(operation),
        })
    }
}

/// The member of the input that separates groups, the list of groups in the output, and the member of
/// a group with its prefix.
fn groups(operation: Operation<'_>) -> Option<(String, ItemList, String)> {
    let mut members = operation.input().members();
    let delimiter = members.find(|member| {
        member.kind() == ShapeKind::String && super::normal(member.name()) == "delimiter"
    })?;
    let mut lists = operation.output().members();
    let (list, prefix) = lists.find_map(|list| {
        let is_list = list.kind() == ShapeKind::List;
        let element = is_list.then(|| list.element())?;
        let is_structure = element.kind() == ShapeKind::Structure;
        let mut members = is_structure.then(|| element.target().members())?;
        let prefix = members.find(|member| super::normal(member.name()) == "prefix")?;
        Some((list, prefix))
    })?;
    let list = ItemList {
        path: vec![list.name().to_owned()],
        role: None,
    };
    Some((delimiter.name().to_owned(), list, prefix.name().to_owned()))
}

/// Finds the lists of things in the input or output of an operation, and in structures below it.
pub(super) fn find_lists(
    kind: &Kind,
    operation: Operation<'_>,
    at: Schema<'_>,
    lists: &mut Vec<ItemList>,
) {
    let members = operation.input().members();
    let members = members.filter(|member| super::is_scalar(member.kind()));
    let given: Vec<Role> = members.map(|member| kind.role(member.name())).collect();
    let finder = ListFinder { kind, given };
    finder.find(at, &mut Vec::new(), lists);
}

struct ListFinder<'k> {
    kind: &'k Kind,
    /// The roles of all things of a list, which tell none of them apart.
    given: Vec<Role>,
}

impl ListFinder<'_> {
    fn find(&self, at: Schema<'_>, path: &mut Vec<String>, lists: &mut Vec<ItemList>) {
        for member in at.members() {
            path.push(member.name().to_owned());
            match member.kind() {
                ShapeKind::List => {
                    if let Some(role) = self.item_role(member) {
                        lists.push(ItemList {
                            path: path.clone(),
                            role,
                        });
                    }
                }
                ShapeKind::Structure if path.len() < 3 => {
                    self.find(member.target(), path, lists);
                }
                _ => {}
            }
            path.pop();
        }
    }

    /// `None` if the items are not things of this kind.
    fn item_role(&self, list: Member<'_>) -> Option<Option<Role>> {
        let element = list.element();
        match element.kind() {
            ShapeKind::String => {
                let roles = singulars(list.name()).map(|name| self.kind.role(&name));
                let mut roles = roles.filter(|role| self.kind.identifies(role));
                roles.next().map(Some)
            }
            ShapeKind::Structure => {
                let mut members = element.target().members();
                let shows = |member: Member<'_>| {
                    let role = self.kind.role(member.name());
                    let is_part = self.kind.part(&role).is_some() && !self.given.contains(&role);
                    let is_own = role.is_own() && named(self.kind, list);
                    super::is_scalar(member.kind()) && (is_part || is_own)
                };
                members.any(shows).then_some(None)
            }
            _ => None,
        }
    }
}

/// Whether a list or its items are named after the kind. `Tags` with a `Name` are not.
fn named(kind: &Kind, list: Member<'_>) -> bool {
    let names = [
        super::normal(list.name()),
        super::normal(list.element().target().name()),
    ];
    super::tails(&kind.noun).any(|tail| names.iter().any(|name| name.contains(&tail)))
}

/// The member at a path.
pub(crate) fn member_at<'s>(at: Schema<'s>, path: &[String]) -> Option<Member<'s>> {
    let (first, rest) = path.split_first()?;
    let member = at.member(at.find(NameSource::Member, first.as_bytes())?);
    match rest.is_empty() {
        true => Some(member),
        false => member_at(member.target(), rest),
    }
}
