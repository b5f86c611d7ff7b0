//! Traits about encodings: `@jsonName`, the XML traits and `@mediaType`.

use std::collections::HashMap;

use super::traits::Owner;
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::Model;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Member, Shape, ShapeType};
use crate::traits::AppliedTrait;

/// Members of a shape must have different names in JSON.
pub(super) fn check_json_names(shape: &Shape, problems: &mut Problems) {
    let members = shape.members();
    if !members
        .iter()
        .any(|member| member.traits().json_name().is_some())
    {
        return;
    }
    let mut seen: HashMap<&str, &Member> = HashMap::with_capacity(members.len());
    for member in members {
        let renamed = member.traits().json_name();
        let name = renamed.unwrap_or(member.name());
        let first = *seen.entry(name).or_insert(member);
        // Without `@jsonName` it is a duplicate member.
        let is_same = renamed.is_none() && first.traits().json_name().is_none();
        if std::ptr::eq(first, member) || is_same {
            continue;
        }
        // Both members are from one mixin, where they are reported.
        if member.is_inherited() && first.origin() == member.origin() {
            continue;
        }
        problems.push_with(Severity::Error, |_| {
            let applied = member.traits().find(ids::JSON_NAME);
            let location = applied.map_or(member.location(), |applied| applied.value().location());
            let message = format!(
                "`{}` and `{}` of `{}` are both `{name}` in JSON",
                first.name(),
                member.name(),
                shape.id()
            );
            Problem::error(rules::JSON_NAME, location, message)
                .expected("a unique name")
                .related("the other", first.location())
        });
    }
}

/// `@xmlFlattened` omits the element of the list, and the name of its items.
pub(super) fn xml_flattened(model: &Model, owner: Owner<'_>, problems: &mut Problems) {
    let (Some(member), Some(list)) = (owner.member, owner.data) else {
        return;
    };
    if list.shape_type() != ShapeType::List || member.traits().xml_name().is_some() {
        return;
    }
    let Some((item, name)) = list
        .member("member")
        .and_then(|item| Some((item, item.traits().xml_name()?)))
    else {
        return;
    };
    // Bundled lists are not checked.
    if name == member.name() || model.is_bundled(list.id()) {
        return;
    }
    problems.push_with(Severity::Warning, |_| {
        let message = format!(
            "the items of `{}` are `{}` in XML, not `{name}`",
            member.id(),
            member.name()
        );
        Problem::warning(rules::XML_FLATTENED_TRAIT, member.location(), message)
            .hint(format!(
                "@xmlFlattened omits the name of the items; apply @xmlName(\"{name}\") to `{}`",
                member.name()
            ))
            .related("the name without effect", item.location())
    });
}

/// `@xmlNamespace`: the URI must be valid.
pub(super) fn xml_namespace(owner: Owner<'_>, applied: &AppliedTrait, problems: &mut Problems) {
    let Some(node) = applied.value().get("uri") else {
        return;
    };
    if node.as_str().is_none_or(is_uri) {
        return;
    }
    problems.push_with(Severity::Error, |_| {
        let message = format!("the namespace of `{}` is not a URI", owner.id);
        Problem::error(rules::XML_NAMESPACE_TRAIT, node.location(), message)
            .expected("a URI such as `http://example.com/weather`")
    });
}

/// Checks the characters of RFC 3986, the digits after percent signs, and the scheme before the
/// first colon. Letters beyond ASCII are allowed.
fn is_uri(text: &str) -> bool {
    let is_allowed = |c: char| match c {
        _ if c.is_ascii_alphanumeric() => true,
        _ if c.is_ascii() => "-._~:/?#[]@!$&'()*+,;=%".contains(c),
        _ => !c.is_whitespace() && !c.is_control(),
    };
    let is_escape = |rest: &str| {
        rest.bytes()
            .take_while(u8::is_ascii_hexdigit)
            .take(2)
            .count()
            == 2
    };
    let (path_and_query, fragment) = text.split_once('#').unwrap_or((text, ""));
    text.chars().all(is_allowed)
        && text.split('%').skip(1).all(is_escape)
        && !fragment.contains('#')
        && !path_and_query.starts_with(':')
}

/// `@mediaType`: `type/subtype; name=value` of RFC 6838 and RFC 9110.
pub(super) fn media_type(owner: Owner<'_>, applied: &AppliedTrait, problems: &mut Problems) {
    let value = applied.value();
    if value
        .as_str()
        .is_none_or(|text| is_media_type(text).is_some())
    {
        return;
    }
    problems.push_with(Severity::Error, |_| {
        let message = format!("the media type of `{}` is malformed", owner.id);
        Problem::error(rules::MEDIA_TYPE, value.location(), message)
            .expected("a media type such as `image/png` or `text/plain; charset=utf-8`")
    });
}

fn is_media_type(text: &str) -> Option<()> {
    let rest = token(text)?.strip_prefix('/')?;
    let mut rest = token(rest)?.trim_start_matches(' ');
    while let Some(parameter) = rest.strip_prefix(';') {
        let value = token(parameter.trim_start_matches(' '))?.strip_prefix('=')?;
        rest = match value.strip_prefix('"') {
            Some(quoted) => after_quoted(quoted)?,
            None => token(value)?,
        };
        rest = rest.trim_start_matches(' ');
    }
    rest.is_empty().then_some(())
}

/// The text after the token at the start.
fn token(text: &str) -> Option<&str> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let rest = text.trim_start_matches(is_token);
    (rest.len() < text.len()).then_some(rest)
}

fn after_quoted(text: &str) -> Option<&str> {
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some(&text[at + 1..]),
            '\\' => {
                characters.next();
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types() {
        for text in [
            "text/plain",
            "application/vnd.api+json",
            "text/plain;charset=utf-8",
            "a/b; c=\"d \\\" e\" ; f=g",
        ] {
            assert!(is_media_type(text).is_some(), "{text}");
        }
        for text in [
            "",
            "text",
            "text/",
            "/x",
            "a b/c",
            "a/b; c",
            "a/b; c=",
            "a/b;c=\"d",
            "a/b c",
        ] {
            assert!(is_media_type(text).is_none(), "{text}");
        }
    }

    #[test]
    fn uris() {
        for text in ["http://a.b/c?d=%20#e", "urn:x", "relative", "http://\u{e9}"] {
            assert!(is_uri(text), "{text}");
        }
        for text in ["not a uri", ":x", "a%2", "a#b#c", "<a>"] {
            assert!(!is_uri(text), "{text}");
        }
    }
}
