//! Regular expressions after ECMA 262, as `@pattern` has them.
//!
//! The dialect of the `regex` crate is not ECMA's, so a pattern is first read here,
//! and written anew in that dialect:
//!
//! ```text
//! ECMA 262              regex
//! \d \w                 the ASCII ones
//! .                     no end of a line of any kind
//! [a&&b] [a--b]         plain characters, not operators
//! \/ \cJ \0             the characters
//! \p{Print} \p{Alnum}   the classes of POSIX after UTS #18, annex C
//! (?=a) \1 \ud83d       nothing: such a pattern is not checked
//! ```
//!
//! Only what is broken in every dialect is a [`PatternFlaw`]: brackets that don't match,
//! a quantifier with nothing before it, a range the wrong way round. Whatever
//! else isn't understood makes the pattern unchecked, never wrong.

/// What is wrong with a pattern, in any dialect.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PatternFlaw {
    /// Where, in bytes from the start.
    pub offset: usize,
    /// What, as in "the pattern has ...".
    pub what: &'static str,
}

/// A pattern that was read.
///
/// ```
/// use polywire_text::pattern::EcmaPattern;
///
/// let pattern = EcmaPattern::read(r"^\d+$").map_err(|flaw| flaw.what)?;
/// assert_eq!(pattern.translated(), Some("^[0-9]+$"));
/// let pattern = EcmaPattern::read("^(?!aws)").map_err(|flaw| flaw.what)?;
/// assert_eq!(pattern.translated(), None);
/// assert!(EcmaPattern::read("^(a").is_err());
/// # Ok::<(), &'static str>(())
/// ```
#[derive(Clone, Debug)]
pub struct EcmaPattern {
    translated: Option<String>,
}

impl EcmaPattern {
    /// Reads a pattern; looks at each character once.
    ///
    /// # Errors
    ///
    /// What is broken in every dialect.
    pub fn read(text: &str) -> Result<Self, PatternFlaw> {
        let mut reader = Reader {
            text,
            at: 0,
            output: String::with_capacity(text.len() + 8),
            open: Vec::new(),
            has_atom: false,
            is_negated: false,
        };
        let translated = match reader.pattern() {
            Ok(()) => Some(reader.output),
            Err(Stop::Foreign) => None,
            Err(Stop::Broken(flaw)) => return Err(flaw),
        };
        Ok(Self { translated })
    }

    /// The same in the dialect of the `regex` crate. `None` when it cannot be
    /// said there, or when dialects differ in what it means.
    #[must_use]
    pub fn translated(&self) -> Option<&str> {
        self.translated.as_deref()
    }
}

/// What `\s` stands for in ECMA 262: not the same as in Unicode.
const WHITE_SPACE: &str =
    r"\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}";

/// Why reading ends early.
enum Stop {
    Broken(PatternFlaw),
    /// Something that the `regex` crate doesn't have, or that dialects take
    /// differently. What comes after it can't be judged either.
    Foreign,
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    output: String,
    /// Where the open groups start.
    open: Vec<usize>,
    /// Whether a quantifier would have something to repeat.
    has_atom: bool,
    /// Whether what is read stands in a class such as `[^a]`.
    is_negated: bool,
}

impl Reader<'_> {
    fn pattern(&mut self) -> Result<(), Stop> {
        while let Some(next) = self.next() {
            let start = self.at - next.len_utf8();
            match next {
                '\\' => self.escape(start)?,
                '[' => self.class(start)?,
                '(' => self.group(start)?,
                ')' => {
                    if self.open.pop().is_none() {
                        return Err(broken(start, "a `)` without its `(`"));
                    }
                    self.output.push(')');
                    self.has_atom = true;
                }
                '|' => {
                    self.output.push('|');
                    self.has_atom = false;
                }
                '^' | '$' => {
                    self.output.push(next);
                    // What repeats an assertion is up to the dialect.
                    if matches!(self.peek(), Some('*' | '+' | '?' | '{')) {
                        return Err(Stop::Foreign);
                    }
                    self.has_atom = true;
                }
                '*' | '+' | '?' => self.quantifier(start, next)?,
                '{' => self.braces(start)?,
                ']' | '}' => self.literal(next),
                '.' => {
                    self.output.push_str(r"[^\n\r\x{2028}\x{2029}]");
                    self.has_atom = true;
                }
                _ => self.literal(next),
            }
        }
        match self.open.last() {
            Some(&start) => Err(broken(start, "a `(` without its `)`")),
            None => Ok(()),
        }
    }

    fn group(&mut self, start: usize) -> Result<(), Stop> {
        self.open.push(start);
        self.has_atom = false;
        self.output.push('(');
        if self.peek() != Some('?') {
            return Ok(());
        }
        let rest = &self.text[self.at..];
        if rest.starts_with("?:") {
            self.at += 2;
            self.output.push_str("?:");
            return Ok(());
        }
        // Look-around, flags and atomic groups; names of groups say nothing here.
        match rest
            .strip_prefix("?<")
            .and_then(|rest| rest.split_once('>'))
        {
            Some((name, _)) if is_group_name(name) => {
                self.at += name.len() + 3;
                Ok(())
            }
            _ => Err(Stop::Foreign),
        }
    }

    fn quantifier(&mut self, start: usize, sign: char) -> Result<(), Stop> {
        if !self.has_atom {
            return Err(broken(start, "nothing to repeat before a quantifier"));
        }
        self.output.push(sign);
        self.after_quantifier()
    }

    /// `{2,3}`, or plain braces.
    fn braces(&mut self, start: usize) -> Result<(), Stop> {
        let rest = &self.text[self.at..];
        let end = rest.find('}').filter(|end| {
            rest[..*end]
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b',')
        });
        let bounds = end.map(|end| &rest[..end]).filter(|bounds| {
            bounds.starts_with(|c: char| c.is_ascii_digit()) && bounds.matches(',').count() < 2
        });
        let Some(bounds) = bounds else {
            self.literal('{');
            return Ok(());
        };
        if !self.has_atom {
            return Err(Stop::Foreign);
        }
        if let Some((least, most)) = bounds.split_once(',') {
            // Longer numbers than these are too many repetitions anyway.
            if let (Ok(least), Ok(most)) = (least.parse::<u64>(), most.parse::<u64>())
                && least > most
            {
                return Err(broken(
                    start,
                    "a quantifier whose bounds are the wrong way round",
                ));
            }
        }
        self.output.push('{');
        self.output.push_str(bounds);
        self.output.push('}');
        self.at += bounds.len() + 1;
        self.after_quantifier()
    }

    /// `?` makes a quantifier lazy; a second quantifier is up to the dialect.
    fn after_quantifier(&mut self) -> Result<(), Stop> {
        if self.peek() == Some('?') {
            self.at += 1;
            self.output.push('?');
        }
        match self.peek() {
            Some('*' | '+' | '?' | '{') => Err(Stop::Foreign),
            _ => Ok(()),
        }
    }

    /// After a backslash outside of a class.
    fn escape(&mut self, start: usize) -> Result<(), Stop> {
        let Some(next) = self.next() else {
            return Err(broken(start, "a backslash at its end"));
        };
        self.has_atom = true;
        match next {
            'd' => self.output.push_str("[0-9]"),
            'D' => self.output.push_str("[^0-9]"),
            'w' => self.output.push_str("[0-9A-Za-z_]"),
            'W' => self.output.push_str("[^0-9A-Za-z_]"),
            's' => self.in_class("", WHITE_SPACE),
            'S' => self.in_class("^", WHITE_SPACE),
            'b' => self.output.push_str(r"(?-u:\b)"),
            // Between characters of which neither is a letter of ASCII; the
            // engine has no such thing for text that is not ASCII alone.
            'B' => return Err(Stop::Foreign),
            'p' | 'P' => self.property(next)?,
            _ => {
                let character = self.character(next)?;
                self.literal(character);
            }
        }
        Ok(())
    }

    fn in_class(&mut self, sign: &str, members: &str) {
        self.output.push('[');
        self.output.push_str(sign);
        self.output.push_str(members);
        self.output.push(']');
    }

    /// `\p{L}`; whether the name is known shows when the pattern is compiled.
    fn property(&mut self, letter: char) -> Result<(), Stop> {
        let rest = &self.text[self.at..];
        let name = rest
            .strip_prefix('{')
            .and_then(|rest| rest.split_once('}'))
            .map(|(name, _)| name)
            .ok_or(Stop::Foreign)?;
        self.at += name.len() + 2;
        if let Some(members) = posix(name) {
            // Java's classes of these names end with ASCII. What is wider refuses
            // nothing that somebody means, unless it is turned round.
            if letter == 'P' || self.is_negated {
                return Err(Stop::Foreign);
            }
            self.output.push_str(members);
            return Ok(());
        }
        self.output.push('\\');
        self.output.push(letter);
        self.output.push('{');
        self.output.push_str(name);
        self.output.push('}');
        Ok(())
    }

    /// The character that an escape stands for, after its letter was read.
    fn character(&mut self, letter: char) -> Result<char, Stop> {
        match letter {
            't' => Ok('\t'),
            'n' => Ok('\n'),
            'v' => Ok('\u{b}'),
            'f' => Ok('\u{c}'),
            'r' => Ok('\r'),
            '0' if !matches!(self.peek(), Some('0'..='9')) => Ok('\0'),
            'c' => match self.next() {
                Some(letter) if letter.is_ascii_alphabetic() => Ok(char::from(letter as u8 & 0x1f)),
                _ => Err(Stop::Foreign),
            },
            'x' => self.hex(2),
            'u' if self.peek() == Some('{') => {
                let rest = &self.text[self.at + 1..];
                let (digits, _) = rest.split_once('}').ok_or(Stop::Foreign)?;
                self.at += digits.len() + 2;
                code_point(digits)
            }
            'u' => self.unit(),
            // References to groups, and letters that other dialects have.
            _ if letter.is_ascii_alphanumeric() => Err(Stop::Foreign),
            _ => Ok(letter),
        }
    }

    fn hex(&mut self, count: usize) -> Result<char, Stop> {
        code_point(self.digits(count)?)
    }

    fn digits(&mut self, count: usize) -> Result<&str, Stop> {
        let digits = self.text.get(self.at..self.at + count);
        self.at += count;
        digits.ok_or(Stop::Foreign)
    }

    /// `\u` and four digits: a character, or with the next such escape the two
    /// halves of one.
    fn unit(&mut self) -> Result<char, Stop> {
        let high = unit_of(self.digits(4)?)?;
        if !(0xd800..0xdc00).contains(&high) {
            return char::from_u32(high).ok_or(Stop::Foreign);
        }
        if !self.text[self.at..].starts_with("\\u") {
            return Err(Stop::Foreign);
        }
        self.at += 2;
        let low = unit_of(self.digits(4)?)?;
        if !(0xdc00..0xe000).contains(&low) {
            return Err(Stop::Foreign);
        }
        let point = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        char::from_u32(point).ok_or(Stop::Foreign)
    }

    /// A class such as `[a-z_]`, after its bracket.
    fn class(&mut self, start: usize) -> Result<(), Stop> {
        self.output.push('[');
        self.is_negated = self.peek() == Some('^');
        if self.is_negated {
            self.at += 1;
            self.output.push('^');
        }
        // Empty in one dialect, a bracket in another.
        if self.peek() == Some(']') {
            return Err(Stop::Foreign);
        }
        // The last single character and its place, when a range could start with it.
        let mut last: Option<(usize, char)> = None;
        loop {
            let at = self.at;
            match self.next() {
                None => return Err(broken(start, "a `[` without its `]`")),
                Some(']') => break,
                // A class within a class, in some dialects.
                Some('[') => return Err(Stop::Foreign),
                Some('-') if last.is_some() && self.peek().is_some_and(|next| next != ']') => {
                    let (first_at, first) = last.take().unwrap_or((at, '-'));
                    let end = match self.next() {
                        Some('[') | None => return Err(Stop::Foreign),
                        Some('\\') => self.class_escape(start)?,
                        Some(end) => Some(end),
                    };
                    let Some(end) = end else {
                        // `a-\d`: a hyphen, or an error.
                        return Err(Stop::Foreign);
                    };
                    if first > end {
                        return Err(broken(first_at, "a range the wrong way round"));
                    }
                    self.output.push('-');
                    push_escaped(&mut self.output, end);
                }
                Some('\\') => {
                    last = self.class_escape(start)?.map(|single| (at, single));
                    if let Some((_, single)) = last {
                        push_escaped(&mut self.output, single);
                    }
                }
                Some(single) => {
                    push_escaped(&mut self.output, single);
                    last = Some((at, single));
                }
            }
        }
        self.output.push(']');
        self.has_atom = true;
        self.is_negated = false;
        Ok(())
    }

    /// After a backslash in a class: the character, or `None` when it stood for
    /// several, which are then written.
    fn class_escape(&mut self, start: usize) -> Result<Option<char>, Stop> {
        let Some(next) = self.next() else {
            return Err(broken(start, "a `[` without its `]`"));
        };
        match next {
            'd' => self.output.push_str("0-9"),
            'D' => self.output.push_str("[^0-9]"),
            'w' => self.output.push_str("0-9A-Za-z_"),
            'W' => self.output.push_str("[^0-9A-Za-z_]"),
            's' => self.output.push_str(WHITE_SPACE),
            'S' => self.in_class("^", WHITE_SPACE),
            'p' | 'P' => self.property(next)?,
            'b' => return Ok(Some('\u{8}')),
            _ => return self.character(next).map(Some),
        }
        Ok(None)
    }

    fn literal(&mut self, character: char) {
        push_escaped(&mut self.output, character);
        self.has_atom = true;
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }
}

fn broken(offset: usize, what: &'static str) -> Stop {
    Stop::Broken(PatternFlaw { offset, what })
}

/// Halves of surrogate pairs are no characters: ECMA counts in 16 bits.
fn code_point(digits: &str) -> Result<char, Stop> {
    char::from_u32(unit_of(digits)?).ok_or(Stop::Foreign)
}

fn unit_of(digits: &str) -> Result<u32, Stop> {
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let value = is_hex.then(|| u32::from_str_radix(digits, 16).ok());
    value.flatten().ok_or(Stop::Foreign)
}

/// The classes that ECMA 262 does not have and Java and Perl have, as a class:
/// <https://unicode.org/reports/tr18/#Compatibility_Properties>. The other names
/// of that table are ECMA's too.
fn posix(name: &str) -> Option<&'static str> {
    Some(match name {
        "Alnum" => r"[\p{Alphabetic}\p{Nd}]",
        "Blank" => r"[\p{Zs}\t]",
        "Graph" => r"[^\p{White_Space}\p{Cc}\p{Cn}]",
        "Print" => r"[^\p{Zl}\p{Zp}\p{Cc}\p{Cn}]",
        "XDigit" => r"[\p{Nd}\p{Hex_Digit}]",
        _ => return None,
    })
}

fn push_escaped(output: &mut String, character: char) {
    if character.is_ascii_punctuation() && !matches!(character, '<' | '>') {
        output.push('\\');
    }
    output.push(character);
}

/// Whether the name of a group is plain: ASCII letters, digits and underscores, and not a digit
/// first.
fn is_group_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let first = name.bytes().next();
    first.is_some_and(|first| !first.is_ascii_digit()) && name.bytes().all(is_plain)
}
