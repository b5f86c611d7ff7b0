//! The parser, by recursive descent. Depth and length of selectors are limited, so that neither the
//! parser nor an evaluation overflows the stack.

use super::error::SelectorError;
use super::relations::Relations;
use super::scanner::Scanner;
use super::syntax::{Direction, Function, Path, Sequence, Step, TypeTest, Variable};
use crate::shape::ShapeType;
use crate::spelling::did_you_mean;

/// The maximum length of a selector, in bytes. The longest in the official models has about 500.
pub(super) const MAX_LENGTH: usize = 1 << 16;

/// The maximum number of consecutive steps to other shapes, including those in nested selectors.
/// The recursion of an evaluation is as deep.
const MAX_MOVES: usize = 200;

/// The maximum depth of functions and variables.
const MAX_NESTING: usize = 40;

const STEP: &str = "a shape type, `[`, `:`, `>`, `<`, `~>`, `-[`, `$` or `*`";

/// A parsed selector: the tree, and the names of its variables.
pub(super) struct ParsedSelector {
    pub(super) sequence: Sequence,
    pub(super) variables: Vec<String>,
    pub(super) step_count: u32,
}

pub(super) fn parse(text: &str) -> Result<ParsedSelector, SelectorError> {
    if text.len() > MAX_LENGTH {
        let message = format!("the selector is longer than {MAX_LENGTH} bytes");
        return Err(SelectorError::new(text, 0, 1, message));
    }
    let mut parser = Parser {
        scanner: Scanner::new(text),
        variables: Vec::new(),
        step_count: 0,
        nesting: 0,
    };
    let (sequence, _) = parser.sequence()?;
    if !parser.scanner.rest().is_empty() {
        return Err(parser.scanner.unexpected(STEP));
    }
    Ok(ParsedSelector {
        sequence,
        variables: parser.variables,
        step_count: parser.step_count,
    })
}

pub(super) struct Parser<'a> {
    pub(super) scanner: Scanner<'a>,
    variables: Vec<String>,
    step_count: u32,
    nesting: usize,
}

impl Parser<'_> {
    /// Steps up to the end, or to the end of an argument. Also the number of consecutive moves in
    /// them.
    fn sequence(&mut self) -> Result<(Sequence, usize), SelectorError> {
        let (mut steps, mut moves, mut aside) = (Vec::new(), 0, 0);
        loop {
            self.scanner.skip_space();
            let is_end = matches!(self.scanner.peek(), None | Some(',' | ')' | ']'));
            if is_end && !steps.is_empty() {
                break;
            }
            let start = self.scanner.at;
            let (step, nested) = self.step()?;
            // A filter yields its input, so its moves do not add to those of the next steps.
            match step.is_filter() {
                true => aside = nested.max(aside),
                false => moves += nested,
            }
            if moves + aside > MAX_MOVES {
                let message = format!("more than {MAX_MOVES} consecutive steps to other shapes");
                return Err(self.scanner.error_from(start, message));
            }
            steps.push(step);
        }
        let base = self.step_count;
        // One more number, for the end of the sequence.
        self.step_count += steps.len() as u32 + 1;
        let sequence = Sequence {
            base,
            uses_variables: steps.iter().any(uses_variables),
            is_filter: steps.iter().all(Step::is_filter),
            steps,
        };
        Ok((sequence, moves + aside))
    }

    /// A step, and the maximum number of moves in it.
    fn step(&mut self) -> Result<(Step, usize), SelectorError> {
        let Some(first) = self.scanner.peek() else {
            return Err(self.scanner.unexpected(STEP));
        };
        let usual = |direction| Step::Neighbor {
            direction,
            relations: Relations::usual(),
        };
        match first {
            ':' => return self.function(),
            '$' => return self.variable(),
            '[' if self.scanner.rest().starts_with("[@") => return Ok((self.scoped()?, 0)),
            '[' => return Ok((self.attribute()?, 0)),
            '<' if self.scanner.take("<-") => {
                let relations = self.relations("]-")?;
                let direction = Direction::Reverse;
                return Ok((
                    Step::Neighbor {
                        direction,
                        relations,
                    },
                    1,
                ));
            }
            '-' if self.scanner.take("-") => {
                let relations = self.relations("]->")?;
                let direction = Direction::Forward;
                return Ok((
                    Step::Neighbor {
                        direction,
                        relations,
                    },
                    1,
                ));
            }
            _ => {}
        }
        for (token, step) in [
            ("~>", Step::Recursive),
            (">", usual(Direction::Forward)),
            ("<", usual(Direction::Reverse)),
        ] {
            if self.scanner.take(token) {
                return Ok((step, 1));
            }
        }
        if self.scanner.take("*") {
            return Ok((Step::Type(TypeTest::Any), 0));
        }
        if first == '~' {
            self.scanner.take("~");
            return Err(self.scanner.unexpected("`>`, for `~>`"));
        }
        let start = self.scanner.at;
        let name = self.scanner.identifier(STEP)?;
        match TypeTest::from_name(name) {
            Some(test) => Ok((Step::Type(test), 0)),
            None => {
                let names = ShapeType::ALL.iter().map(|(name, _)| *name);
                let groups = TypeTest::GROUPS.iter().map(|(name, _)| *name);
                let groups = groups.filter(|name| *name != "*");
                let error = self
                    .scanner
                    .error_from(start, format!("`{name}` is not a shape type"));
                Err(error.maybe_hint(did_you_mean(name, names.chain(groups))))
            }
        }
    }

    /// `[a, b]-` or `[a, b]->`, after the text before the bracket.
    fn relations(&mut self, end: &str) -> Result<Relations, SelectorError> {
        self.scanner.need("[", "`[` and names of relationships")?;
        let mut names = Vec::new();
        loop {
            self.scanner.skip_space();
            let known = "the name of a relationship, such as `input`";
            names.push(self.scanner.identifier(known)?.to_owned());
            self.scanner.skip_space();
            if self.scanner.take(end) {
                return Ok(Relations::named(names));
            }
            self.scanner.need(",", &format!("`,` or `{end}`"))?;
        }
    }

    fn variable(&mut self) -> Result<(Step, usize), SelectorError> {
        self.scanner.take("$");
        self.scanner.skip_space();
        let is_get = self.scanner.take("{");
        self.scanner.skip_space();
        let name = self
            .scanner
            .identifier("the name of a variable")?
            .to_owned();
        self.scanner.skip_space();
        let slot = self.slot(&name);
        let variable = Variable { name, slot };
        if is_get {
            self.scanner.need("}", "`}` after the name")?;
            return Ok((Step::VariableGet(variable), 1));
        }
        let (mut arguments, moves) = self.arguments()?;
        let count = arguments.len();
        match (arguments.pop(), count) {
            (Some(selector), 1) => Ok((Step::VariableSet(variable, selector), moves)),
            _ => Err(self.scanner.unexpected("one selector")),
        }
    }

    fn slot(&mut self, name: &str) -> usize {
        let known = self.variables.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.variables.push(name.to_owned());
            self.variables.len() - 1
        })
    }

    fn function(&mut self) -> Result<(Step, usize), SelectorError> {
        let start = self.scanner.at;
        self.scanner.take(":");
        let name = self.scanner.identifier("the name of a function")?;
        let known = Function::ALL.into_iter();
        let mut known = known.filter(|(known, _)| *known == name);
        let function = match (known.next(), name) {
            (Some((_, function)), _) => function,
            // The name of `:is` in early versions.
            (None, "each") => Function::Is,
            (None, _) => Function::Unknown(name.to_owned()),
        };
        self.scanner.skip_space();
        let (arguments, moves) = self.arguments()?;
        let (most, expected) = match function {
            Function::In | Function::Not | Function::Recursive | Function::Root => {
                (1, "one selector")
            }
            Function::TopDown => (2, "one or two selectors"),
            Function::Is | Function::Test | Function::Unknown(_) => (usize::MAX, ""),
        };
        if arguments.len() > most {
            let message = format!("`:{}` has {} arguments", function.name(), arguments.len());
            return Err(self.scanner.error_from(start, message).expected(expected));
        }
        let step = Step::Function {
            function,
            arguments,
        };
        Ok((step, moves))
    }

    /// `(a, b)`, and one more than the number of moves of the longest.
    fn arguments(&mut self) -> Result<(Vec<Sequence>, usize), SelectorError> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            let message = format!("the selector is nested deeper than {MAX_NESTING} levels");
            return Err(SelectorError::new(
                self.scanner.text,
                self.scanner.at,
                1,
                message,
            ));
        }
        self.scanner.need("(", "`(` and a selector")?;
        let (mut arguments, mut most) = (Vec::new(), 0);
        loop {
            let (argument, moves) = self.sequence()?;
            arguments.push(argument);
            most = most.max(moves);
            if self.scanner.take(")") {
                break;
            }
            self.scanner.need(",", "`,` or `)`")?;
        }
        self.nesting -= 1;
        Ok((arguments, most + 1))
    }
}

impl Step {
    /// Whether the step yields its input or nothing.
    pub(super) fn is_filter(&self) -> bool {
        match self {
            Self::Attribute { .. } | Self::Scoped { .. } | Self::Type(_) => true,
            Self::Function {
                function,
                arguments,
            } => match function {
                Function::In | Function::Not | Function::Test | Function::Unknown(_) => true,
                Function::Is => arguments.iter().all(|argument| argument.is_filter),
                Function::Recursive | Function::Root | Function::TopDown => false,
            },
            Self::Neighbor { .. }
            | Self::Recursive
            | Self::VariableGet(_)
            | Self::VariableSet(..) => false,
        }
    }
}

fn uses_variables(step: &Step) -> bool {
    let head = |path: &Path| path.segments.first().is_some_and(|s| s.is_name("var"));
    match step {
        Step::Attribute { path, .. } => head(path),
        Step::Function {
            // Evaluated independently of the context.
            function: Function::Root,
            ..
        } => false,
        Step::Function { arguments, .. } => arguments.iter().any(|a| a.uses_variables),
        Step::Neighbor { .. } | Step::Recursive | Step::Type(_) => false,
        Step::Scoped { path, assertions } => {
            head(path)
                || path.segments.is_empty()
                    && assertions
                        .iter()
                        .any(|assertion| assertion.paths().any(head))
        }
        Step::VariableGet(_) | Step::VariableSet(..) => true,
    }
}
