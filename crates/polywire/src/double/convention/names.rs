//! What the names of operations and members say.

use std::borrow::Cow;

/// What an operation does with a kind of thing.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Verb {
    /// Creates a new thing.
    Create,
    /// Creates or replaces a thing whose identifiers the caller chooses.
    Put,
    /// Creates or replaces a thing by what another one has.
    Copy,
    /// Returns a thing.
    Read,
    /// Changes members of a thing.
    Update,
    /// As `Update`, and maps are merged instead of replaced.
    Merge,
    /// Removes a thing.
    Delete,
    /// Makes a thing of the parts of an upload.
    Complete,
    /// Removes several things.
    DeleteEach,
    /// Returns all things, page by page.
    List,
}

impl Verb {
    /// The name in explanations.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Create => "creates",
            Self::Put => "puts",
            Self::Copy => "copies",
            Self::Read => "reads",
            Self::Update => "updates",
            Self::Merge => "merges into",
            Self::Delete => "deletes",
            Self::Complete => "completes",
            Self::DeleteEach => "deletes each",
            Self::List => "lists",
        }
    }

    /// Whether operations of this verb bring things into being.
    pub(crate) const fn creates(self) -> bool {
        matches!(self, Self::Create | Self::Put)
    }

    /// Whether operations of this verb only write: things that only they know are not remembered.
    pub(crate) const fn writes(self) -> bool {
        matches!(self, Self::Create | Self::Put | Self::Copy)
    }
}

/// The words at the start of operation names.
const VERBS: [(&str, Verb); 19] = [
    ("Create", Verb::Create),
    ("Add", Verb::Create),
    ("Put", Verb::Put),
    ("Upload", Verb::Put),
    ("Copy", Verb::Copy),
    ("Complete", Verb::Complete),
    ("Get", Verb::Read),
    ("Describe", Verb::Read),
    ("Head", Verb::Read),
    ("Read", Verb::Read),
    ("Update", Verb::Update),
    ("Modify", Verb::Update),
    ("Set", Verb::Merge),
    ("Delete", Verb::Delete),
    ("Remove", Verb::Delete),
    ("Abort", Verb::Delete),
    ("List", Verb::List),
    ("Register", Verb::Create),
    ("Deregister", Verb::Delete),
];

/// The verb and the noun of an operation: `CreateTable` is `Create` and `Table`, `ListObjectsV2`
/// is `List` and `Objects`. `None` for other names. The first letter may be in lower case.
pub(crate) fn split(operation: &str) -> Option<(Verb, &str)> {
    let (verb, noun) = VERBS.iter().find_map(|(word, verb)| {
        let start = operation.get(..word.len())?;
        let noun = &operation[word.len()..];
        let is_word = noun.starts_with(|next: char| next.is_ascii_uppercase());
        (start.eq_ignore_ascii_case(word) && is_word).then_some((*verb, noun))
    })?;
    Some((verb, without_version(noun)))
}

/// A noun without `V2` at its end.
fn without_version(noun: &str) -> &str {
    let stem = noun.trim_end_matches(|last: char| last.is_ascii_digit());
    match stem.strip_suffix('V') {
        Some(own) if stem.len() < noun.len() && !own.is_empty() => own,
        _ => noun,
    }
}

/// The singular of a noun. `None` if it does not look like a plural.
///
/// English has exceptions that this does not know; both `Statuses` and `Aliases` are found, because
/// callers compare the result with nouns that the model has.
pub(crate) fn singulars(noun: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let ies = noun
        .strip_suffix("ies")
        .map(|stem| format!("{stem}y").into());
    let es = noun.strip_suffix("es").map(Cow::Borrowed);
    let s = noun.strip_suffix('s').filter(|stem| !stem.ends_with('s'));
    ies.into_iter().chain(s.map(Cow::Borrowed)).chain(es)
}

/// What a member says of the identity of a thing.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Role {
    /// The name of the thing: `Name`, `QueueName`, `Bucket` of a bucket.
    Name,
    /// Its id: `Id`, `Identifier`, `FunctionId`.
    Id,
    /// Its ARN: `Arn`, `TopicArn`.
    Arn,
    /// Its URL: `Url`, `QueueUrl`.
    Url,
    /// Another member, in lower case: an identifier of a parent or the key of an object.
    Other(String),
}

impl Role {
    /// Whether it identifies the thing itself, not its parent.
    pub(crate) const fn is_own(&self) -> bool {
        !matches!(self, Self::Other(_))
    }

    /// The name in explanations.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Name => "name",
            Self::Id => "id",
            Self::Arn => "arn",
            Self::Url => "url",
            Self::Other(name) => name,
        }
    }
}

/// The role of a member for things of a noun. `MetricAlarm` can have `AlarmName`: each word at the
/// end of the noun counts.
pub(crate) fn role(noun: &str, member: &str) -> Role {
    let name = normal(member);
    if let Some(own) = own_role(&name) {
        return own;
    }
    for tail in tails(noun) {
        if let Some(rest) = name.strip_prefix(&*tail) {
            if rest.is_empty() {
                return Role::Name;
            }
            if let Some(own) = own_role(rest) {
                return own;
            }
        }
    }
    Role::Other(name)
}

fn own_role(name: &str) -> Option<Role> {
    Some(match name {
        "name" => Role::Name,
        "id" | "identifier" | "uuid" => Role::Id,
        "arn" => Role::Arn,
        "url" | "uri" => Role::Url,
        _ => return None,
    })
}

/// A name in lower case, without `_` and `-`.
pub(crate) fn normal(name: &str) -> String {
    let name = name.chars().filter(|letter| !matches!(letter, '_' | '-'));
    name.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// A noun and the words at its end, in lower case: `metricalarm`, `alarm`.
pub(crate) fn tails(noun: &str) -> impl Iterator<Item = String> {
    let starts = noun.char_indices().filter(|(at, letter)| {
        let after_capital = noun[..*at].ends_with(|last: char| last.is_ascii_uppercase());
        *at == 0 || (letter.is_ascii_uppercase() && !after_capital)
    });
    starts.map(|(at, _)| normal(&noun[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_split() {
        for (name, expected) in [
            ("CreateTable", Some((Verb::Create, "Table"))),
            ("getCity", Some((Verb::Read, "City"))),
            ("ListObjectsV2", Some((Verb::List, "Objects"))),
            ("DescribeIPv", Some((Verb::Read, "IPv"))),
            ("Getaway", None),
            ("Get", None),
            ("Publish", None),
            ("Listé", None),
        ] {
            assert_eq!(split(name), expected, "{name}");
        }
    }

    #[test]
    fn plurals() {
        let of = |noun| singulars(noun).map(Cow::into_owned).collect::<Vec<_>>();
        assert_eq!(of("Cities"), ["City", "Citie", "Citi"]);
        assert_eq!(of("Queues"), ["Queue", "Queu"]);
        assert_eq!(of("Aliases"), ["Aliase", "Alias"]);
        assert_eq!(of("Access"), [] as [&str; 0]);
        assert_eq!(of("Table"), [] as [&str; 0]);
    }

    #[test]
    fn roles() {
        let other = |name: &str| Role::Other(name.to_owned());
        for (noun, member, expected) in [
            ("Queue", "QueueName", Role::Name),
            ("Queue", "QueueUrl", Role::Url),
            ("Bucket", "Bucket", Role::Name),
            ("Object", "Bucket", other("bucket")),
            ("Object", "Key", other("key")),
            ("Stream", "StreamARN", Role::Arn),
            ("MetricAlarm", "AlarmName", Role::Name),
            ("Alias", "FunctionName", other("functionname")),
            ("City", "city_id", Role::Id),
            ("City", "identifier", Role::Id),
            ("SMSSandbox", "SMSSandboxId", Role::Id),
        ] {
            assert_eq!(role(noun, member), expected, "{noun} {member}");
        }
    }
}
