//! HTTP bindings of the members of one structure, which must not conflict.

use std::collections::HashMap;

use super::bindings::{self, Binding, Direction, body_of};
use super::http::Http;
use super::index::Index;
use super::listed;
use super::values::beginning;
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::Relation;
use crate::rules::{self, Rule};
use crate::severity::Severity;
use crate::shape::{Member, Shape};
use crate::traits::AppliedTrait;

/// Headers that clients, servers and proxies set: sorted, in lower case.
const BLOCKED_HEADERS: [&str; 15] = [
    "authorization",
    "connection",
    "content-length",
    "expect",
    "host",
    "max-forwards",
    "proxy-authenticate",
    "server",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "www-authenticate",
    "x-forwarded-for",
];

struct Bound<'m> {
    member: &'m Member,
    applied: &'m AppliedTrait,
    name: &'m str,
}

/// Checks the headers and query parameters of a structure.
pub(super) fn check(structure: &Shape, problems: &mut Problems) {
    let mut headers: Vec<Bound<'_>> = Vec::new();
    let mut queries: Vec<Bound<'_>> = Vec::new();
    let mut prefix = None;
    let mut params = None;
    for member in structure.members() {
        let Some((binding, applied)) = bindings::of(member) else {
            continue;
        };
        let bound = |name| Bound {
            member,
            applied,
            name,
        };
        match binding {
            Binding::Header(name) => headers.push(bound(name)),
            Binding::PrefixHeaders(name) => prefix = prefix.or_else(|| Some(bound(name))),
            Binding::Query(name) => queries.push(bound(name)),
            Binding::QueryParams => params = params.or_else(|| Some(bound(""))),
            Binding::Label | Binding::Payload | Binding::ResponseCode => {}
        }
    }
    if !headers.is_empty() {
        for header in &headers {
            check_header(header, problems);
        }
        check_repeated(
            structure,
            &headers,
            rules::HTTP_HEADER_TRAIT,
            "header",
            problems,
        );
    }
    if let Some(prefix) = &prefix {
        check_prefix(prefix, &headers, problems);
    }
    if !queries.is_empty() {
        let what = "query parameter";
        check_repeated(structure, &queries, rules::HTTP_QUERY_TRAIT, what, problems);
    }
    if let Some(params) = params.filter(|_| !queries.is_empty()) {
        problems.push_with(Severity::Note, |_| {
            let message = format!(
                "`{}` receives all query parameters except those of {}",
                params.member.id(),
                listed(queries.iter().map(|query| query.member.name()))
            );
            Problem::note(
                rules::HTTP_QUERY_PARAMS_TRAIT,
                params.applied.location(),
                message,
            )
            .hint("a key of the map that another member is bound to is lost")
        });
    }
}

fn check_header(header: &Bound<'_>, problems: &mut Problems) {
    // Inherited from a mixin, where it was checked.
    if header.applied.is_inherited() {
        return;
    }
    let is_blocked = || {
        let name = header.name.to_ascii_lowercase();
        BLOCKED_HEADERS.binary_search(&name.as_str()).is_ok()
    };
    let (what, expected) = if !header.name.bytes().all(is_token) {
        (
            "is not a valid name of a header",
            "letters, digits and some of !#$%&'*+-.^_`|~",
        )
    } else if is_blocked() {
        (
            "is a header that a model should not use",
            "another header: clients, servers or proxies set this one themselves",
        )
    } else {
        return;
    };
    problems.push_with(Severity::Danger, |_| {
        let name = beginning(header.name);
        let message = format!("`{name}` of `{}` {what}", header.member.id());
        Problem::danger(
            rules::HTTP_HEADER_TRAIT,
            header.applied.value().location(),
            message,
        )
        .expected(expected)
    });
}

/// `tchar` of RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn check_repeated(
    structure: &Shape,
    all: &[Bound<'_>],
    rule: &'static Rule,
    what: &str,
    problems: &mut Problems,
) {
    let mut firsts: HashMap<String, &Bound<'_>> = HashMap::with_capacity(all.len());
    for bound in all {
        // Headers are case-insensitive, query parameters are not.
        let key = match rule {
            rules::HTTP_HEADER_TRAIT => bound.name.to_ascii_lowercase(),
            _ => bound.name.to_owned(),
        };
        let first = *firsts.entry(key).or_insert(bound);
        if std::ptr::eq(first, bound) || is_of_one_mixin(first.member, bound.member) {
            continue;
        }
        problems.push_with(Severity::Error, |_| {
            let message = format!(
                "`{}` and `{}` of `{}` have the same {what} `{}`",
                first.member.name(),
                bound.member.name(),
                structure.id(),
                beginning(bound.name)
            );
            Problem::error(rule, bound.applied.value().location(), message)
                .expected(format!("a different {what}"))
                .related("the other", first.applied.value().location())
        });
    }
}

fn check_prefix(prefix: &Bound<'_>, headers: &[Bound<'_>], problems: &mut Problems) {
    let length = prefix.name.len();
    let takes = |name: &str| {
        let start = name.get(..length);
        start.is_some_and(|start| start.eq_ignore_ascii_case(prefix.name))
    };
    for header in headers {
        if !takes(header.name) || is_of_one_mixin(prefix.member, header.member) {
            continue;
        }
        let location = header.applied.value().location();
        let message = || {
            format!(
                "the header `{}` of `{}` is included in `{}`",
                beginning(header.name),
                header.member.id(),
                prefix.member.id()
            )
        };
        // A note only: some services take all headers, and know their own ones.
        if length == 0 {
            problems.push_with(Severity::Note, |_| {
                Problem::note(rules::HTTP_PREFIX_HEADERS_TRAIT, location, message())
                    .hint("a server cannot tell to which of the two members such a header belongs")
                    .related("the prefix", prefix.applied.value().location())
            });
        } else {
            problems.push_with(Severity::Error, |_| {
                Problem::error(rules::HTTP_PREFIX_HEADERS_TRAIT, location, message())
                    .expected(format!(
                        "a name that doesn't begin with `{}`",
                        beginning(prefix.name)
                    ))
                    .related("the prefix", prefix.applied.value().location())
            });
        }
    }
}

/// Both members are from one mixin, where they are reported.
fn is_of_one_mixin(left: &Member, right: &Member) -> bool {
    left.is_inherited() && left.origin() == right.origin()
}

/// Checks a structure against the operations with `@http` that use it.
pub(super) fn check_uses(index: &Index<'_>, structure: &Shape, problems: &mut Problems) {
    let uses = index.uses(structure);
    let with_http = |relation| {
        let uses = uses.iter().filter(move |used| used.relation == relation);
        uses.filter_map(|used| Some((used.by, used.by.traits().find(ids::HTTP)?)))
    };
    let queries = structure.members().iter().filter_map(|member| {
        let (binding, applied) = bindings::of(member)?;
        match binding {
            Binding::Query(name) => Some((name, (member, applied))),
            _ => None,
        }
    });
    let queries: HashMap<&str, (&Member, &AppliedTrait)> = queries.collect();
    if !queries.is_empty() {
        for (operation, applied) in with_http(Relation::Input) {
            if let Some(http) = Http::of(applied) {
                check_query(structure, operation, &http, &queries, problems);
            }
        }
    }
    if with_http(Relation::Input).next().is_some() {
        check_payload(structure, Direction::Request, problems);
    }
    let is_response = with_http(Relation::Output).next().is_some();
    if is_response || structure.traits().has(ids::ERROR) {
        check_payload(structure, Direction::Response, problems);
    }
}

/// Query parameters that both the uri and a member of the input have.
fn check_query(
    structure: &Shape,
    operation: &Shape,
    http: &Http<'_>,
    queries: &HashMap<&str, (&Member, &AppliedTrait)>,
    problems: &mut Problems,
) {
    for (name, _) in http.uri.query() {
        let Some((member, applied)) = queries.get(name.as_str()) else {
            continue;
        };
        problems.push_with(Severity::Error, |_| {
            let message = format!(
                "the query parameter `{}` of `{}` is also in the uri of `{}`",
                beginning(name),
                member.id(),
                operation.id()
            );
            Problem::error(rules::HTTP_QUERY_TRAIT, applied.value().location(), message)
                .about(structure.id())
                .expected("another name, or a uri without it")
                .related("the uri", http.location)
        });
    }
}

/// If a member is the whole body, all others must have bindings.
fn check_payload(structure: &Shape, direction: Direction, problems: &mut Problems) {
    let body = body_of(structure, direction);
    let (Some(payload), Some(first)) = (body.payload, body.unbound.first()) else {
        return;
    };
    problems.push_with(Severity::Error, |_| {
        let message = format!(
            "`{}` is the whole body, but other members of `{}` have no binding: {}",
            payload.name(),
            structure.id(),
            listed(body.unbound.iter().map(|member| member.name()))
        );
        let hint = match direction {
            Direction::Request => "bind them with @httpHeader, @httpQuery or @httpLabel",
            Direction::Response => "bind them with @httpHeader",
        };
        Problem::error(rules::HTTP_PAYLOAD, first.location(), message)
            .about(structure.id())
            .expected("members in headers, the query or the path")
            .hint(hint)
            .related("the body", payload.location())
    });
}
