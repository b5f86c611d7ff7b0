//! Pages of keys: ListObjects in both versions, and what ListMultipartUploads shares with them.

use std::collections::BTreeMap;
use std::ops::Bound;

use polywire::protocol::Fault;
use polywire::schema::Text;
use polywire::text::{hex, percent};

use crate::error::Error;
use crate::s3::{
    CommonPrefix, EncodingType, ListObjectsOutput, ListObjectsRequest, ListObjectsV2Output,
    ListObjectsV2Request, Object as Listed, Owner,
};
use crate::store::{Object, Store};

/// The most entries of a page.
pub(crate) const MOST: i32 = 1000;

/// Which keys are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query<'q> {
    pub prefix: &'q str,
    /// Keys that are alike up to the first of these behind the prefix are one
    /// entry; empty for none.
    pub delimiter: &'q str,
    pub after: &'q After,
    pub most: usize,
}

/// Where a page begins.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) enum After {
    #[default]
    Nothing,
    /// Behind this key, which need not be there.
    Key(String),
    /// Behind all keys that begin so.
    Prefix(String),
}

/// A page.
#[derive(Debug)]
pub(crate) struct Page<'s, T> {
    pub keys: Vec<(&'s str, &'s T)>,
    pub prefixes: Vec<String>,
    /// Where the next one begins, if there is more.
    pub next: Option<After>,
}

/// A page of what a map holds. It costs a look-up for each entry, however many
/// keys a common prefix has.
pub(crate) fn page<'s, T>(map: &'s BTreeMap<String, T>, query: Query<'_>) -> Page<'s, T> {
    let mut page = Page {
        keys: Vec::new(),
        prefixes: Vec::new(),
        next: None,
    };
    let mut from = match query.after {
        After::Nothing => Bound::Included(query.prefix.to_owned()),
        After::Key(key) if key.as_str() < query.prefix => Bound::Included(query.prefix.to_owned()),
        After::Key(key) => Bound::Excluded(key.clone()),
        After::Prefix(prefix) => match behind(prefix) {
            Some(next) => Bound::Included(next),
            None => return page,
        },
    };
    let mut last = After::Nothing;
    if query.most == 0 {
        return page;
    }
    loop {
        let range = (as_str(&from), Bound::Unbounded);
        let found = map.range::<str, _>(range).next();
        let Some((key, value)) = found.filter(|(key, _)| key.starts_with(query.prefix)) else {
            return page;
        };
        if page.keys.len() + page.prefixes.len() == query.most {
            page.next = Some(last);
            return page;
        }
        let rest = &key[query.prefix.len()..];
        let end = match query.delimiter {
            "" => None,
            delimiter => rest.find(delimiter),
        };
        match end {
            None => {
                page.keys.push((key, value));
                last = After::Key(key.clone());
                from = Bound::Excluded(key.clone());
            }
            Some(at) => {
                let end = query.prefix.len() + at + query.delimiter.len();
                let common = key[..end].to_owned();
                last = After::Prefix(common.clone());
                let next = behind(&common);
                page.prefixes.push(common);
                match next {
                    Some(next) => from = Bound::Included(next),
                    None => return page,
                }
            }
        }
    }
}

fn as_str(bound: &Bound<String>) -> Bound<&str> {
    match bound {
        Bound::Included(key) => Bound::Included(key),
        Bound::Excluded(key) => Bound::Excluded(key),
        Bound::Unbounded => Bound::Unbounded,
    }
}

/// The first text behind all that begin with this one: its last character is
/// the next there is.
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
    /// From a marker of ListObjects, which is a key, or a common prefix from the page before.
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

    /// As a marker.
    #[must_use]
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Nothing => "",
            Self::Key(text) | Self::Prefix(text) => text,
        }
    }

    /// As a token: nobody has to read it.
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

    /// From a token.
    ///
    /// # Errors
    ///
    /// It is none of ours.
    pub(crate) fn from_token(token: &str) -> Result<Self, Error> {
        let wrong = Error::InvalidArgument("The continuation token is not one of this store.");
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

/// How keys stand in an answer: as they are, or percent-encoded, since XML
/// cannot hold all of them.
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

/// Checks the size of a page.
///
/// # Errors
///
/// It is negative.
pub(crate) fn size(asked: Option<i32>) -> Result<i32, Error> {
    match asked {
        None => Ok(MOST),
        Some(..0) => Err(Error::InvalidArgument(
            "A page cannot have fewer than no entries.",
        )),
        Some(size) => Ok(size.min(MOST)),
    }
}

/// Checks how keys are to be encoded.
///
/// # Errors
///
/// It is not known.
pub(crate) fn check_encoding(encoding: Option<&EncodingType>) -> Result<(), Error> {
    match encoding {
        None | Some(EncodingType::Url) => Ok(()),
        Some(_) => Err(Error::InvalidArgument("Keys can be encoded as `url` only.")),
    }
}

/// The only one that there is.
#[must_use]
pub(crate) fn owner() -> Owner {
    Owner::builder().id("owner").display_name("owner").build()
}

/// ListObjects: the first version, which older clients use.
///
/// # Errors
///
/// There is no such bucket, or the request is not what it may be.
pub(crate) fn list_objects_v1(
    store: &Store,
    input: ListObjectsRequest,
) -> Result<ListObjectsOutput, Fault> {
    check_encoding(input.encoding_type.as_ref())?;
    let encoding = input.encoding_type.as_ref();
    let most = size(input.max_keys)?;
    let prefix = input.prefix.as_deref().unwrap_or_default();
    let delimiter = input.delimiter.as_deref().unwrap_or_default();
    let after = After::marker(
        input.marker.as_deref().unwrap_or_default(),
        prefix,
        delimiter,
    );
    let query = Query {
        prefix,
        delimiter,
        after: &after,
        most: usize::try_from(most).unwrap_or_default(),
    };
    let contents = store.lock();
    let page = page(&contents.bucket(&input.bucket)?.objects, query);
    let listed = page.keys.iter();
    let listed = listed.map(|(key, object)| listed_object(key, object, encoding, true));
    let encoded = |text: &Text| named(text, encoding);
    let mut output = ListObjectsOutput::default();
    output.contents = Some(listed.collect());
    output.common_prefixes = Some(common_prefixes(&page.prefixes, encoding));
    output.is_truncated = Some(page.next.is_some());
    // Without a delimiter S3 leaves it out, and clients go on after the last key.
    let next = page.next.filter(|_| !delimiter.is_empty());
    output.next_marker = next.map(|next| named(next.text(), encoding));
    output.max_keys = Some(most);
    output.marker = Some(encoded(&input.marker.clone().unwrap_or_default()));
    output.prefix = Some(encoded(&input.prefix.clone().unwrap_or_default()));
    output.delimiter = input.delimiter.as_ref().map(encoded);
    output.encoding_type = input.encoding_type;
    output.name = Some(input.bucket);
    Ok(output)
}

/// ListObjectsV2.
///
/// # Errors
///
/// There is no such bucket, or the request is not what it may be.
pub(crate) fn list_objects_v2(
    store: &Store,
    input: ListObjectsV2Request,
) -> Result<ListObjectsV2Output, Fault> {
    check_encoding(input.encoding_type.as_ref())?;
    let encoding = input.encoding_type.as_ref();
    let most = size(input.max_keys)?;
    let after = match (&input.continuation_token, &input.start_after) {
        (Some(token), _) => After::from_token(token)?,
        (None, Some(key)) => After::Key(key.to_string()),
        (None, None) => After::Nothing,
    };
    let query = Query {
        prefix: input.prefix.as_deref().unwrap_or_default(),
        delimiter: input.delimiter.as_deref().unwrap_or_default(),
        after: &after,
        most: usize::try_from(most).unwrap_or_default(),
    };
    let contents = store.lock();
    let page = page(&contents.bucket(&input.bucket)?.objects, query);
    let with_owner = input.fetch_owner == Some(true);
    let listed = page.keys.iter();
    let listed = listed.map(|(key, object)| listed_object(key, object, encoding, with_owner));
    let count = page.keys.len() + page.prefixes.len();
    let encoded = |text: &Text| named(text, encoding);
    let mut output = ListObjectsV2Output::default();
    output.contents = Some(listed.collect());
    output.common_prefixes = Some(common_prefixes(&page.prefixes, encoding));
    output.is_truncated = Some(page.next.is_some());
    output.next_continuation_token = page.next.map(|next| next.to_token().into());
    output.key_count = Some(count as i32);
    output.max_keys = Some(most);
    output.prefix = Some(encoded(&input.prefix.unwrap_or_default()));
    output.delimiter = input.delimiter.as_ref().map(encoded);
    output.start_after = input.start_after.as_ref().map(encoded);
    output.continuation_token = input.continuation_token;
    output.encoding_type = input.encoding_type;
    output.name = Some(input.bucket);
    Ok(output)
}

fn listed_object(
    key: &str,
    object: &Object,
    encoding: Option<&EncodingType>,
    with_owner: bool,
) -> Listed {
    let mut listed = Listed::builder()
        .key(named(key, encoding))
        .last_modified(object.modified)
        .etag(object.tag.clone())
        .size(object.body.len() as i64)
        .storage_class(crate::s3::ObjectStorageClass::Standard);
    if with_owner {
        listed = listed.owner(owner());
    }
    listed.build()
}

/// Common prefixes, as answers have them.
#[must_use]
pub(crate) fn common_prefixes(
    prefixes: &[String],
    encoding: Option<&EncodingType>,
) -> Vec<CommonPrefix> {
    let one = |prefix: &String| {
        CommonPrefix::builder()
            .prefix(named(prefix, encoding))
            .build()
    };
    prefixes.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All pages: keys, and prefixes in brackets.
    fn pages(keys: &[&str], prefix: &str, delimiter: &str, most: usize) -> Vec<String> {
        let map = keys.iter().map(|key| ((*key).to_owned(), ())).collect();
        let mut after = After::Nothing;
        let mut pages = Vec::new();
        loop {
            let query = Query {
                prefix,
                delimiter,
                after: &after,
                most,
            };
            let page = page(&map, query);
            let mut entries: Vec<String> = page.keys.iter().map(|(k, ())| (*k).into()).collect();
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
        let from = |after: &str, prefix| {
            let after = After::Key(after.to_owned());
            let query = Query {
                prefix,
                delimiter: "/",
                after: &after,
                most: 9,
            };
            let page = page(&map, query);
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
}
