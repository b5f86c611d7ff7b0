//! Selectors in models: where a flaw of one stands in its file, and what a
//! selector asks for in words.

use crate::diagnostic::Problem;
use crate::model::Model;
use crate::node::Node;
use crate::selector::SelectorError;
use crate::selector::syntax::{Direction, Function, Sequence, Step, TypeTest};
use crate::source::SourceLocation;

/// The place of a byte of a text, where the file has the text letter by letter;
/// else the place where the text begins.
pub(super) fn place_in_text(model: &Model, node: &Node, offset: usize) -> SourceLocation {
    let location = node.location();
    let exact = || {
        let source = model.sources().file(location)?.text();
        let quoted = source.get(location.offset as usize..)?.strip_prefix('"')?;
        let text = node.as_str()?;
        let start = location.offset as usize + 1;
        quoted
            .strip_prefix(text)?
            .starts_with('"')
            .then(|| SourceLocation::new(location.file, start + offset))
    };
    exact().unwrap_or(location)
}

/// A finding about a selector that can't be read.
#[cold]
pub(super) fn selector_problem(
    code: &'static str,
    location: SourceLocation,
    what: &str,
    error: &SelectorError,
) -> Problem {
    let message = format!("{what} can't be read: {}", error.message());
    let problem = Problem::error(code, location, message);
    let problem = match error.expected_here() {
        Some(expected) => problem.expected(expected),
        None => problem,
    };
    problem.maybe_hint(error.hint().map(str::to_owned))
}

/// What a selector matches, as in "expected a member of a structure".
pub(super) fn in_words(sequence: &Sequence) -> String {
    simple_words(&sequence.steps).unwrap_or_else(|| {
        const LONGEST: usize = 160;
        let text = sequence.to_string();
        let end = text.char_indices().nth(LONGEST);
        match end {
            Some((end, _)) => format!("a shape that matches `{}...`", &text[..end]),
            None => format!("a shape that matches `{text}`"),
        }
    })
}

/// Words for selectors of the simplest kinds: types, traits, members of types.
fn simple_words(steps: &[Step]) -> Option<String> {
    let (first, mut rest) = steps.split_first()?;
    let mut words = types(first, "")?;
    if let [
        Step::Neighbor {
            direction: Direction::Forward,
            relations,
        },
        Step::Type(TypeTest::Member),
        others @ ..,
    ] = rest
        && relations.names().is_empty()
    {
        words = types(first, "a member of ")?;
        rest = others;
    }
    let mut names = Vec::new();
    for step in rest {
        let Step::Attribute {
            path,
            comparison: None,
        } = step
        else {
            return None;
        };
        let [head, name] = path.segments.as_slice() else {
            return None;
        };
        if !head.is_name("trait") {
            return None;
        }
        names.push(format!("@{}", name.as_name()?));
    }
    if !names.is_empty() {
        words.push_str(" with ");
        words.push_str(&names.join(" and "));
    }
    Some(words)
}

/// "a structure or a union", each with `before` in front.
fn types(step: &Step, before: &str) -> Option<String> {
    match step {
        Step::Type(test) => Some(format!("{before}{}", type_words(*test))),
        Step::Function {
            function: Function::Is,
            arguments,
        } => {
            let mut words = Vec::new();
            for argument in arguments {
                words.push(match (argument.steps.as_slice(), before) {
                    ([step], _) => types(step, before)?,
                    (steps, "") => simple_words(steps)?,
                    _ => return None,
                });
            }
            let (last, others) = words.split_last()?;
            Some(match others.is_empty() {
                true => last.clone(),
                false => format!("{} or {last}", others.join(", ")),
            })
        }
        Step::Function {
            function: Function::Not,
            arguments,
        } if before.is_empty() => match arguments.as_slice() {
            [argument] if matches!(argument.steps.as_slice(), [Step::Type(TypeTest::Member)]) => {
                Some("a shape, no member".to_owned())
            }
            _ => None,
        },
        Step::Attribute { .. } if before.is_empty() => {
            let any = Step::Type(TypeTest::Any);
            simple_words(&[any, step.clone()])
        }
        _ => None,
    }
}

fn type_words(test: TypeTest) -> String {
    match test {
        TypeTest::Aggregate => "a list, map, structure or union".to_owned(),
        TypeTest::Any => "a shape".to_owned(),
        TypeTest::Data => "a shape of data".to_owned(),
        TypeTest::Member => "a member".to_owned(),
        TypeTest::Number => "a number".to_owned(),
        TypeTest::Service => "a service, resource or operation".to_owned(),
        TypeTest::Shape(shape_type) => shape_type.with_article(),
        TypeTest::Simple => "a shape of a simple type".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;
    use crate::Selector;

    #[test]
    fn simple_selectors_have_words() {
        let words = |text| in_words(Selector::parse(text).unwrap().sequence());
        assert_eq!(words("structure"), "a structure");
        assert_eq!(words("structure[trait|error]"), "a structure with @error");
        assert_eq!(words(":not(member)"), "a shape, no member");
        assert_eq!(words("[trait|trait]"), "a shape with @trait");
        assert_eq!(
            words("structure > member[trait|required]"),
            "a member of a structure with @required"
        );
        assert_eq!(
            words(":is(structure, union) > member"),
            "a member of a structure or a member of a union"
        );
        assert_eq!(
            words(":is(service, enum, structure > member)"),
            "a service, an enum or a member of a structure"
        );
        assert_eq!(
            words("list > member > string"),
            "a shape that matches `list > member > string`"
        );
    }
}
