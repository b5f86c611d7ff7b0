//! Selectors in models: the locations of their errors, and descriptions of what they match.

use crate::diagnostic::Problem;
use crate::model::Model;
use crate::node::Node;
use crate::rules::Rule;
use crate::selector::SelectorError;
use crate::selector::syntax::{Direction, Function, Sequence, Step, TypeTest};
use crate::source::SourceLocation;

/// A finding about an invalid selector or template of a message: at the exact location, if the file
/// has the text without escapes, else at its start.
#[cold]
pub(super) fn selector_problem(
    model: &Model,
    rule: &'static Rule,
    node: &Node,
    what: &str,
    error: &SelectorError,
) -> Problem {
    let text = node.as_str().unwrap_or_default();
    let exact = place_in_text(model, node, text, error.offset());
    let mut message = format!("{what} is invalid: {}", error.message());
    if exact.is_none() {
        let rest = text.get(error.offset()..).unwrap_or_default();
        let near: String = rest
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(30)
            .collect();
        if !near.is_empty() {
            message.push_str(&format!(", at `{near}`"));
        }
    }
    let problem = Problem::error(rule, exact.unwrap_or(node.location()), message);
    let problem = match error.expected_here() {
        Some(expected) => problem.expected(expected),
        None => problem,
    };
    problem.maybe_hint(error.hint().map(str::to_owned))
}

/// The location of a byte of a text, if the file has the text unchanged: without escapes, and not
/// in a text block.
fn place_in_text(model: &Model, node: &Node, text: &str, offset: usize) -> Option<SourceLocation> {
    let location = node.location();
    let source = model.sources().file(location)?.text();
    let quoted = source.get(location.offset as usize..)?.strip_prefix('"')?;
    let is_same = quoted.strip_prefix(text)?.starts_with('"');
    let start = location.offset as usize + 1;
    is_same.then(|| SourceLocation::new(location.file, start + offset))
}

/// The description of what a selector matches, as in "expected a member of a structure".
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

/// Descriptions of the selectors of most traits: types, members of types, targets of members, and
/// traits.
fn simple_words(steps: &[Step]) -> Option<String> {
    let (first, rest) = steps.split_first()?;
    let mut words = Description {
        text: one_of_words(first)?,
        is_member: matches!(first, Step::Type(TypeTest::Member)),
        has_more: false,
    };
    words.add_all(rest)?;
    Some(words.text)
}

struct Description {
    text: String,
    is_member: bool,
    /// Whether the description has more than the type of the shape.
    has_more: bool,
}

impl Description {
    fn add_all(&mut self, mut steps: &[Step]) -> Option<()> {
        while let Some((step, rest)) = steps.split_first() {
            steps = rest;
            match step {
                // `structure > member`, `structure > :test(member > string)`
                Step::Neighbor {
                    direction: Direction::Forward,
                    relations,
                } if relations.names().is_empty() && !self.is_member && !self.has_more => {
                    let (next, rest) = rest.split_first()?;
                    let nested = match next {
                        Step::Type(TypeTest::Member) => &[][..],
                        _ => match single_test(next)?.split_first()? {
                            (Step::Type(TypeTest::Member), nested) => nested,
                            _ => return None,
                        },
                    };
                    self.text = format!("a member of {}", self.text);
                    self.is_member = true;
                    self.add_tests(nested)?;
                    steps = rest;
                }
                step => self.add_tests(std::slice::from_ref(step))?,
            }
        }
        Some(())
    }

    /// Adds the description of tests: `[trait|x]`, `:test(> string)`. In tests also `> string`, the
    /// target of a member.
    fn add_tests(&mut self, steps: &[Step]) -> Option<()> {
        let mut steps = steps.iter();
        while let Some(step) = steps.next() {
            let and = if self.has_more { " and " } else { " " };
            let more = match step {
                Step::Attribute {
                    path,
                    comparison: None,
                } => match path.segments.as_slice() {
                    [head, name] if head.is_name("trait") => format!("with @{}", name.as_name()?),
                    _ => return None,
                },
                Step::Neighbor {
                    direction: Direction::Forward,
                    relations,
                } if relations.names().is_empty() && self.is_member => {
                    let target = steps.next().filter(|_| steps.len() == 0)?;
                    format!("that targets {}", one_of_words(target)?)
                }
                test => match single_test(test)? {
                    [
                        Step::Neighbor {
                            direction: Direction::Forward,
                            relations,
                        },
                        target,
                    ] if relations.names().is_empty() && self.is_member => {
                        format!("that targets {}", one_of_words(target)?)
                    }
                    _ => return None,
                },
            };
            self.text.push_str(and);
            self.text.push_str(&more);
            self.has_more = true;
        }
        Some(())
    }
}

/// The selector in `:test(selector)`.
fn single_test(step: &Step) -> Option<&[Step]> {
    match step {
        Step::Function {
            function: Function::Test,
            arguments,
        } => match arguments.as_slice() {
            [argument] => Some(&argument.steps),
            _ => None,
        },
        _ => None,
    }
}

/// "a structure", or "a structure or a union" for several selectors.
fn one_of_words(step: &Step) -> Option<String> {
    match step {
        Step::Type(test) => Some(type_words(*test)),
        Step::Function {
            function: Function::Is | Function::Test,
            arguments,
        } => {
            let words = arguments.iter().map(|argument| {
                let steps = argument.steps.as_slice();
                // In a test, `member > string` is the member.
                let is_test = matches!(
                    step,
                    Step::Function {
                        function: Function::Test,
                        ..
                    }
                );
                match steps {
                    [Step::Type(TypeTest::Member), rest @ ..] if is_test => {
                        let mut words = Description {
                            text: type_words(TypeTest::Member),
                            is_member: true,
                            has_more: false,
                        };
                        words.add_tests(rest)?;
                        Some(words.text)
                    }
                    [_] => simple_words(steps),
                    _ if is_test && !argument.is_filter => None,
                    _ => simple_words(steps),
                }
            });
            let words: Option<Vec<String>> = words.collect();
            let words = words?;
            let (last, others) = words.split_last()?;
            Some(match others.is_empty() {
                true => last.clone(),
                false => format!("{} or {last}", others.join(", ")),
            })
        }
        Step::Function {
            function: Function::Not,
            arguments,
        } => match arguments.as_slice() {
            [argument] => match argument.steps.as_slice() {
                [step] => Some(format!("any shape except {}", one_of_words(step)?)),
                _ => None,
            },
            _ => None,
        },
        Step::Attribute { .. } => {
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
        TypeTest::Data => "a data shape".to_owned(),
        TypeTest::Member => "a member".to_owned(),
        TypeTest::Number => "a number".to_owned(),
        TypeTest::Service => "a service, resource or operation".to_owned(),
        TypeTest::Shape(shape_type) => shape_type.with_article(),
        TypeTest::Simple => "a simple shape".to_owned(),
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
        assert_eq!(words(":not(member)"), "any shape except a member");
        assert_eq!(
            words(":not(:test(service, member))"),
            "any shape except a service or a member"
        );
        assert_eq!(words("[trait|trait]"), "a shape with @trait");
        assert_eq!(
            words("structure > member[trait|required]"),
            "a member of a structure with @required"
        );
        for (selector, expected) in [
            (
                ":is(structure, union) > member",
                "a member of a structure or a union",
            ),
            (
                ":is(service, enum, structure > member)",
                "a service, an enum or a member of a structure",
            ),
            (
                "structure > :test(member[trait|required] > string)",
                "a member of a structure with @required and that targets a string",
            ),
            (
                "structure > member :test(> :test(string, number))",
                "a member of a structure that targets a string or a number",
            ),
            (
                ":test(string, member > :is(list, map))",
                "a string or a member that targets a list or a map",
            ),
        ] {
            assert_eq!(words(selector), expected, "{selector}");
        }
        assert_eq!(
            words("list > member > string"),
            "a shape that matches `list > member > string`"
        );
    }
}
