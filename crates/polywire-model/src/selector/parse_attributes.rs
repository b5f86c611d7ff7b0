//! Parses attributes in brackets: paths, comparisons, scoped assertions. Paths are checked here as
//! far as possible without a shape: `[id|nmae = X]` is a syntax error.

use polywire_schema::{is_identifier, is_namespace};

use super::error::SelectorError;
use super::parser::Parser;
use super::scanner::Scanner;
use super::syntax::{Assertion, Comparator, Comparison, Operand, Path, Segment, Step};
use crate::spelling::did_you_mean;

impl Parser<'_> {
    /// `[path]` or `[path = a, b i]`
    pub(super) fn attribute(&mut self) -> Result<Step, SelectorError> {
        let scanner = &mut self.scanner;
        scanner.take("[");
        let (path, _) = attribute_path(scanner, Kind::Shape)?;
        scanner.skip_space();
        if scanner.take("]") {
            let comparison = None;
            return Ok(Step::Attribute { path, comparison });
        }
        let start = scanner.at;
        let comparator = comparator(scanner, "`]`, `|` or a comparator such as `=`")?;
        if comparator.is_of_sets() {
            let message = format!(
                "`{}` compares sets, which is possible in `[@...]` only",
                comparator.symbol()
            );
            let error = scanner.error_from(start, message);
            return Err(error.expected("`[@: @{...} {<} @{...}]`, or another comparator"));
        }
        let mut values = Vec::new();
        loop {
            values.push(scanner.value("a value")?);
            scanner.skip_space();
            if !scanner.take(",") {
                break;
            }
        }
        let ignores_case = case_token(scanner);
        scanner.need("]", "`,`, `i` or `]`")?;
        let comparison = Some(Comparison {
            comparator,
            values,
            ignores_case,
        });
        Ok(Step::Attribute { path, comparison })
    }

    /// `[@path: @{a} = b && ...]`
    pub(super) fn scoped(&mut self) -> Result<Step, SelectorError> {
        let scanner = &mut self.scanner;
        scanner.take("[@");
        scanner.skip_space();
        let (path, scope) = match scanner.peek() {
            Some(':') => (Path::default(), Kind::Shape),
            _ => attribute_path(scanner, Kind::Shape)?,
        };
        scanner.skip_space();
        scanner.need(":", "`|` or `:`")?;
        let mut assertions = Vec::new();
        loop {
            let left = operand(scanner, scope)?;
            scanner.skip_space();
            let comparator = comparator(scanner, "a comparator such as `=`")?;
            let mut right = Vec::new();
            loop {
                right.push(operand(scanner, scope)?);
                scanner.skip_space();
                if !scanner.take(",") {
                    break;
                }
            }
            let ignores_case = case_token(scanner);
            assertions.push(Assertion {
                left,
                comparator,
                right,
                ignores_case,
            });
            if scanner.take("]") {
                return Ok(Step::Scoped { path, assertions });
            }
            scanner.need("&&", "`,`, `i`, `&&` or `]`")?;
        }
    }
}

fn case_token(scanner: &mut Scanner<'_>) -> bool {
    scanner.skip_space();
    let ignores_case = scanner.take("i");
    scanner.skip_space();
    ignores_case
}

fn comparator(scanner: &mut Scanner<'_>, expected: &str) -> Result<Comparator, SelectorError> {
    let found = Comparator::ALL
        .into_iter()
        .find(|(symbol, _)| scanner.take(symbol));
    match found {
        Some((_, comparator)) => Ok(comparator),
        None => Err(scanner.unexpected(expected)),
    }
}

fn operand(scanner: &mut Scanner<'_>, scope: Kind) -> Result<Operand, SelectorError> {
    scanner.skip_space();
    if scanner.peek() == Some('@') {
        return context(scanner, Some(scope)).map(Operand::Context);
    }
    scanner.value("a value or `@{...}`").map(Operand::Literal)
}

/// `@{path}`. Templates of messages have no scope to check paths: unknown attributes are empty
/// there.
pub(super) fn context(
    scanner: &mut Scanner<'_>,
    scope: Option<Kind>,
) -> Result<Path, SelectorError> {
    scanner.need("@{", "`@{` and a path")?;
    let mut kind = scope.map(|scope| (scope, false));
    let mut segments = Vec::new();
    loop {
        kind = segment(scanner, kind, &mut segments)?;
        scanner.skip_space();
        if !scanner.take("|") {
            break;
        }
    }
    scanner.need("}", "`|` or `}`")?;
    Ok(Path { segments })
}

/// `trait|range|min`: the first is a bare name.
fn attribute_path(scanner: &mut Scanner<'_>, scope: Kind) -> Result<(Path, Kind), SelectorError> {
    scanner.skip_space();
    if matches!(scanner.peek(), Some('"' | '\'' | '(')) {
        return Err(scanner.unexpected("`id`, `service`, `trait` or `var`"));
    }
    let mut kind = Some((scope, false));
    let mut segments = Vec::new();
    loop {
        kind = segment(scanner, kind, &mut segments)?;
        scanner.skip_space();
        if !scanner.take("|") {
            break;
        }
    }
    let kind = kind.map_or(Kind::Node, |(kind, _)| kind);
    Ok((Path { segments }, kind))
}

fn segment(
    scanner: &mut Scanner<'_>,
    before: Option<(Kind, bool)>,
    segments: &mut Vec<Segment>,
) -> Result<Option<(Kind, bool)>, SelectorError> {
    scanner.skip_space();
    let start = scanner.at;
    let segment = if scanner.take("(") {
        let name = scanner.identifier("the name of a property, such as `(keys)`")?;
        scanner.need(")", "`)`")?;
        Segment::Function(name.to_owned())
    } else {
        let expected = match before {
            Some((Kind::Shape, _)) => "`id`, `service`, `trait` or `var`",
            Some((Kind::Traits, _)) => "the name of a trait",
            _ => "the name of a property",
        };
        Segment::name(scanner.value(expected)?)
    };
    let after = match before {
        None => None,
        Some((kind, is_many)) => match kind.property(&segment, is_many) {
            Ok(after) => Some(after),
            Err(known) => return Err(no_such_property(scanner, start, kind, &segment, known)),
        },
    };
    segments.push(segment);
    Ok(after)
}

#[cold]
fn no_such_property(
    scanner: &Scanner<'_>,
    start: usize,
    kind: Kind,
    segment: &Segment,
    known: &[&str],
) -> SelectorError {
    let shown: String = segment.text().chars().take(60).collect();
    let message = match (kind, segment) {
        (Kind::Shape, _) => format!("shapes have no attribute `{shown}`"),
        (Kind::Traits, Segment::Name { .. }) => format!("`{shown}` can't be the name of a trait"),
        (_, Segment::Function(_)) => format!("there is no property `({shown})` here"),
        _ => format!("there is no property `{shown}` here"),
    };
    let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let expected = match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => "the name of a trait, such as `required` or `aws.api#arn`".to_owned(),
    };
    scanner
        .error_from(start, message)
        .expected(expected)
        .maybe_hint(did_you_mean(segment.text(), known.iter().copied()))
}

/// The kind of value of a path, as far as the text determines it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Id,
    Node,
    Service,
    Shape,
    Traits,
    Variables,
}

impl Kind {
    /// The kind of a property, and whether it has many values. An error has the names of the known
    /// properties.
    fn property(
        self,
        segment: &Segment,
        is_many: bool,
    ) -> Result<(Self, bool), &'static [&'static str]> {
        let (name, is_function) = match segment {
            Segment::Function(name) => (name.as_str(), true),
            Segment::Name { text, .. } => (text.as_str(), false),
        };
        if is_function && name == "first" && is_many {
            return Ok((self, false));
        }
        let one = |kind| Ok((kind, is_many));
        match (self, name, is_function) {
            (Self::Shape, "id", false) | (Self::Service, "id", false) => one(Self::Id),
            (Self::Shape, "service", false) => one(Self::Service),
            (Self::Shape, "trait", false) => one(Self::Traits),
            (Self::Shape, "var", false) if !is_many => one(Self::Variables),
            (Self::Shape, ..) => Err(&["id", "service", "trait", "var"]),
            (Self::Id, "member" | "name" | "namespace", false)
            | (Self::Id, "length", true)
            | (Self::Service, "version", false)
            | (Self::Traits, "length", true) => one(Self::Node),
            (Self::Id, ..) => Err(&["member", "name", "namespace", "(length)"]),
            (Self::Service, ..) => Err(&["id", "version"]),
            (Self::Traits, "keys", true) => Ok((Self::Id, true)),
            (Self::Traits, "values", true) => Ok((Self::Node, true)),
            (Self::Traits, _, true) => Err(&["(keys)", "(length)", "(values)"]),
            (Self::Traits, name, false) => match is_trait_name(name) {
                true => one(Self::Node),
                false => Err(&[]),
            },
            (Self::Variables, ..) => Ok((Self::Shape, true)),
            (Self::Node, "keys" | "values", true) => Ok((Self::Node, true)),
            (Self::Node, ..) => one(Self::Node),
        }
    }
}

fn is_trait_name(text: &str) -> bool {
    match text.split_once('#') {
        Some((namespace, rest)) => {
            let (name, member) = rest.split_once('$').unwrap_or((rest, "a"));
            is_namespace(namespace) && is_identifier(name) && is_identifier(member)
        }
        None => is_identifier(text),
    }
}

impl Assertion {
    /// The paths on both sides.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        let operands = std::iter::once(&self.left).chain(&self.right);
        operands.filter_map(|operand| match operand {
            Operand::Context(path) => Some(path),
            Operand::Literal(_) => None,
        })
    }
}
