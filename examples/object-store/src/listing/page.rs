//! Pages of keys, with common prefixes.

use std::ops::Bound;

use polywire::schema::Text;
use polywire::text::{hex, percent};

use crate::error::Error;
use crate::s3::{CommonPrefix, EncodingType, Owner};

/// The maximum number of entries of a page.
pub(crate) const MOST: i32 = 1000;

/// Which keys a request asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    pub prefix: String,
    /// Keys that are equal up to the first delimiter after the prefix are one entry. Empty for none.
    pub delimiter: String,
    pub after: After,
    pub most: usize,
}

/// Where a page begins.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) enum After {
    #[default]
    Nothing,
    /// After this key, which need not exist.
    Key(String),
    /// After all keys that begin with this.
    Prefix(String),
}

/// A page.
#[derive(Debug)]
pub(crate) struct Page<T> {
    pub keys: Vec<(String, T)>,
    pub prefixes: Vec<String>,
    /// Where the next page begins, if there is one.
    pub next: Option<After>,
}

/// Makes a page. `seek` returns the entries from a key on, in ascending order. It is called once, and once more for each
/// common prefix, so the keys of a common prefix are not read.
pub(crate) fn page<T, E, I>(
    query: &Query,
    mut seek: impl FnMut(Bound<&str>) -> Result<I, E>,
) -> Result<Page<T>, E>
where
    I: Iterator<Item = Result<(String, T), E>>,
{
    let prefix = query.prefix.as_str();
    let mut page = Page {
        keys: Vec::new(),
        prefixes: Vec::new(),
        next: None,
    };
    let mut from = match &query.after {
        After::Nothing => Bound::Included(prefix.to_owned()),
        After::Key(key) if key.as_str() < prefix => Bound::Included(prefix.to_owned()),
        After::Key(key) => Bound::Excluded(key.clone()),
        After::Prefix(prefix) => match behind(prefix) {
            Some(next) => Bound::Included(next),
            None => return Ok(page),
        },
    };
    if query.most == 0 {
        return Ok(page);
    }
    let mut last = After::Nothing;
    'seek: loop {
        for entry in seek(from.as_ref().map(String::as_str))? {
            let (key, value) = entry?;
            let Some(rest) = key.strip_prefix(prefix) else {
                return Ok(page);
            };
            if page.keys.len() + page.prefixes.len() == query.most {
                page.next = Some(last);
                return Ok(page);
            }
            let end = match query.delimiter.as_str() {
                "" => None,
                delimiter => rest.find(delimiter),
            };
            let Some(at) = end else {
                last = After::Key(key.clone());
                page.keys.push((key, value));
                continue;
            };
            let end = prefix.len() + at + query.delimiter.len();
            let common = key[..end].to_owned();
            last = After::Prefix(common.clone());
            let next = behind(&common);
            page.prefixes.push(common);
            match next {
                Some(next) => {
                    from = Bound::Included(next);
                    continue 'seek;
                }
                None => return Ok(page),
            }
        }
        return Ok(page);
    }
}

/// The first text after all that begin with this one: its last character is replaced by the next one.
fn behind(prefix: &str) -> Option<String> {
    let mut characters = prefix.chars();
    while let Some(last) = characters.next_back() {
        let next = match last {
            '\u{d7ff}' => Some('\u{e000}'),
            last => char::from_u32(u32::from(last) + 1),
        };
        if let Some(next) = next {
            let mut text = characters.as_str().to_owned();
            text.push(next);
            return Some(text);
        }
    }
    None
}

impl After {
    /// Reads a marker of ListObjects: a key, or a common prefix of the previous page.
    #[must_use]
    pub(crate) fn marker(marker: &str, prefix: &str, delimiter: &str) -> Self {
        let rest = marker.strip_prefix(prefix).unwrap_or_default();
        let first = rest.find(delimiter).filter(|_| !delimiter.is_empty());
        match first {
            _ if marker.is_empty() => Self::Nothing,
            Some(at) if at + delimiter.len() == rest.len() => Self::Prefix(marker.to_owned()),
            _ => Self::Key(marker.to_owned()),
        }
    }

    /// The marker.
    #[must_use]
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Nothing => "",
            Self::Key(text) | Self::Prefix(text) => text,
        }
    }

    /// The token, which is opaque to clients.
    #[must_use]
    pub(crate) fn to_token(&self) -> String {
        let (kind, text) = match self {
            Self::Nothing => ("n", ""),
            Self::Key(key) => ("k", key.as_str()),
            Self::Prefix(prefix) => ("p", prefix.as_str()),
        };
        let mut token = kind.as_bytes().to_vec();
        hex::push(&mut token, text.as_bytes());
        String::from_utf8_lossy(&token).into_owned()
    }

    /// Reads a token.
    ///
    /// # Errors
    ///
    /// The store did not make it.
    pub(crate) fn from_token(token: &str) -> Result<Self, Error> {
        let wrong = Error::InvalidArgument("The continuation token provided is incorrect");
        let (kind, text) = token.split_at_checked(1).ok_or(wrong)?;
        let text = hex::decode(text.as_bytes(), hex::Case::Any).map_err(|_| wrong)?;
        let text = String::from_utf8(text.into()).map_err(|_| wrong)?;
        match kind {
            "n" => Ok(Self::Nothing),
            "k" => Ok(Self::Key(text)),
            "p" => Ok(Self::Prefix(text)),
            _ => Err(wrong),
        }
    }
}

/// A key in a response: unchanged, or percent-encoded, because XML cannot contain all characters.
#[must_use]
pub(crate) fn named(key: &str, encoding: Option<&EncodingType>) -> Text {
    match encoding {
        None => key.into(),
        Some(_) => {
            let mut text = String::new();
            percent::push_path(&mut text, key);
            text.into()
        }
    }
}

/// The size of a page.
///
/// # Errors
///
/// It is negative.
pub(crate) fn page_size(asked: Option<i32>) -> Result<i32, Error> {
    match asked {
        None => Ok(MOST),
        Some(..0) => Err(Error::InvalidArgument(
            "Argument maxKeys must be an integer between 0 and 2147483647",
        )),
        Some(size) => Ok(size.min(MOST)),
    }
}

/// Checks the encoding of keys.
///
/// # Errors
///
/// It is not known.
pub(crate) fn check_encoding(encoding: Option<&EncodingType>) -> Result<(), Error> {
    match encoding {
        None | Some(EncodingType::Url) => Ok(()),
        Some(_) => Err(Error::InvalidArgument(
            "Invalid Encoding Method specified in Request",
        )),
    }
}

/// The only owner.
#[must_use]
pub(crate) fn owner() -> Owner {
    let mut owner = Owner::default();
    owner.id = Some("owner".into());
    owner.display_name = Some("owner".into());
    owner
}

/// Common prefixes in a response.
#[must_use]
pub(crate) fn common_prefixes(
    prefixes: &[String],
    encoding: Option<&EncodingType>,
) -> Vec<CommonPrefix> {
    let one = |prefix: &String| {
        let mut common = CommonPrefix::default();
        common.prefix = Some(named(prefix, encoding));
        common
    };
    prefixes.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn page_of<T: Clone>(map: &BTreeMap<String, T>, query: &Query) -> Page<T> {
        page(query, |from| {
            let range = map.range::<str, _>((from, Bound::Unbounded));
            Ok::<_, Error>(range.map(|(key, value)| Ok((key.clone(), value.clone()))))
        })
        .unwrap()
    }

    /// All pages: keys, and prefixes in brackets.
    fn pages(keys: &[&str], prefix: &str, delimiter: &str, most: usize) -> Vec<String> {
        let map = keys.iter().map(|key| ((*key).to_owned(), ())).collect();
        let mut after = After::Nothing;
        let mut pages = Vec::new();
        loop {
            let query = Query {
                prefix: prefix.to_owned(),
                delimiter: delimiter.to_owned(),
                after,
                most,
            };
            let page = page_of(&map, &query);
            let mut entries: Vec<String> = page.keys.iter().map(|(k, ())| k.clone()).collect();
            entries.extend(page.prefixes.iter().map(|prefix| format!("[{prefix}]")));
            pages.push(entries.join(" "));
            match page.next {
                Some(next) => after = After::from_token(&next.to_token()).unwrap(),
                None => return pages,
            }
        }
    }

    #[test]
    fn pages_of_keys_and_prefixes() {
        let keys = [
            "a",
            "b/",
            "b/1",
            "b/2/x",
            "b/3",
            "b0",
            "c//d",
            "c/e",
            "\u{10ffff}x",
        ];
        assert_eq!(pages(&keys, "", "", 4).len(), 3);
        assert_eq!(pages(&keys, "", "", 9).len(), 1);
        assert_eq!(pages(&keys, "", "/", 9), ["a b0 \u{10ffff}x [b/] [c/]"]);
        assert_eq!(
            pages(&keys, "", "/", 1),
            ["a", "[b/]", "b0", "[c/]", "\u{10ffff}x"]
        );
        assert_eq!(pages(&keys, "b/", "/", 9), ["b/ b/1 b/3 [b/2/]"]);
        assert_eq!(pages(&keys, "c/", "/", 9), ["c/e [c//]"]);
        assert_eq!(pages(&keys, "b", "", 2), ["b/ b/1", "b/2/x b/3", "b0"]);
        assert_eq!(pages(&keys, "", "\u{10ffff}", 9).len(), 1);
        assert_eq!(pages(&keys, "x", "/", 9), [""]);
        assert_eq!(pages(&keys, "", "", 0), [""]);
    }

    #[test]
    fn keys_need_not_be_there_to_start_after_them() {
        let map = ["a", "b/1", "b/2", "c"].map(|key| (key.to_owned(), ()));
        let map = BTreeMap::from(map);
        let from = |after: &str, prefix: &str| {
            let after = After::Key(after.to_owned());
            let query = Query {
                prefix: prefix.to_owned(),
                delimiter: "/".to_owned(),
                after,
                most: 9,
            };
            let page = page_of(&map, &query);
            (page.keys.len(), page.prefixes.len())
        };
        assert_eq!(from("b/1", ""), (1, 1));
        assert_eq!(from("b/9", ""), (1, 0));
        assert_eq!(from("a", "b/"), (2, 0));
        assert_eq!(from("z", ""), (0, 0));
    }

    /// A marker that is a common prefix is after all keys of the prefix.
    #[test]
    fn markers_are_keys_or_prefixes() {
        let prefix = |text: &str| After::Prefix(text.to_owned());
        let key = |text: &str| After::Key(text.to_owned());
        for (marker, within, delimiter, expected) in [
            ("", "", "/", After::Nothing),
            ("a/", "", "/", prefix("a/")),
            ("a/", "", "", key("a/")),
            ("a/b", "", "/", key("a/b")),
            ("a/b/", "", "/", key("a/b/")),
            ("a/b/", "a/", "/", prefix("a/b/")),
            ("a/", "a/", "/", key("a/")),
            ("b/", "a/", "/", key("b/")),
        ] {
            let found = After::marker(marker, within, delimiter);
            assert_eq!(found, expected, "{marker} {within} {delimiter}");
        }
    }

    #[test]
    fn tokens_are_ours() {
        for wrong in ["", "k6", "x61", "kzz", "kff", "\u{e9}"] {
            assert!(After::from_token(wrong).is_err(), "{wrong}");
        }
    }

    /// All entries of all pages, without pages: keys, and each common prefix once.
    fn naive(keys: &BTreeMap<String, ()>, prefix: &str, delimiter: &str) -> Vec<String> {
        let mut entries = Vec::new();
        for key in keys.keys() {
            let Some(rest) = key.strip_prefix(prefix) else {
                continue;
            };
            let end = match delimiter {
                "" => None,
                delimiter => rest
                    .find(delimiter)
                    .map(|at| prefix.len() + at + delimiter.len()),
            };
            let entry = match end {
                None => key.clone(),
                Some(end) => format!("[{}]", &key[..end]),
            };
            if entries.last() != Some(&entry) {
                entries.push(entry);
            }
        }
        entries.sort();
        entries
    }

    proptest::proptest! {
        /// Pages of any size have the same entries as one without pages.
        #[test]
        fn pages_have_all_entries(
            keys in proptest::collection::vec("[ab/\u{10ffff}]{1,5}", 0..30),
            prefix in "[ab/]{0,2}",
            delimiter in "/?|ab|b/",
            most in 1..5usize,
        ) {
            let names: Vec<&str> = keys.iter().map(String::as_str).collect();
            let found = pages(&names, &prefix, &delimiter, most);
            let mut found: Vec<String> = found
                .iter()
                .flat_map(|page| page.split(' '))
                .filter(|entry| !entry.is_empty())
                .map(str::to_owned)
                .collect();
            found.sort();
            let map = keys.iter().map(|key| (key.clone(), ())).collect();
            proptest::prop_assert_eq!(found, naive(&map, &prefix, &delimiter));
        }
    }
}
