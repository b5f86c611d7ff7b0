//! `Serialize` and `Deserialize` for filters.

use std::borrow::Cow;
use std::fmt;

use polywire_text::Text;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Filter, FilterLimits, TagLetter};
use crate::{Error, Member, Reason};

impl Serialize for Filter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(ids) = &self.ids {
            map.serialize_entry("ids", ids)?;
        }
        if let Some(authors) = &self.authors {
            map.serialize_entry("authors", authors)?;
        }
        if let Some(kinds) = &self.kinds {
            map.serialize_entry("kinds", kinds)?;
        }
        for tag in &self.tags {
            let values: Vec<&str> = tag.values().collect();
            map.serialize_entry(tag.letter.member(&mut [0; 2]), &values)?;
        }
        let numbers = [
            ("since", self.since),
            ("until", self.until),
            ("limit", self.limit),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                map.serialize_entry(name, &number)?;
            }
        }
        if let Some(search) = &self.search {
            map.serialize_entry("search", search.as_str())?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Filter {
    /// Applies the rules of [`Filter::parse`], with the default limits.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FilterVisitor)
    }
}

struct FilterVisitor;

impl<'de> Visitor<'de> for FilterVisitor {
    type Value = Filter;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a filter (NIP-01)")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Filter, A::Error> {
        let mut filter = Filter::new();
        while let Some(Name(name)) = map.next_key()? {
            match &*name {
                "ids" => set(&mut filter.ids, list(&mut map, Member::Ids)?, Member::Ids)?,
                "authors" => set(
                    &mut filter.authors,
                    list(&mut map, Member::Authors)?,
                    Member::Authors,
                )?,
                "kinds" => set(
                    &mut filter.kinds,
                    list(&mut map, Member::Kinds)?,
                    Member::Kinds,
                )?,
                "since" => set(
                    &mut filter.since,
                    number(&mut map, Member::Since)?,
                    Member::Since,
                )?,
                "until" => set(
                    &mut filter.until,
                    number(&mut map, Member::Until)?,
                    Member::Until,
                )?,
                "limit" => set(
                    &mut filter.limit,
                    number(&mut map, Member::Limit)?,
                    Member::Limit,
                )?,
                "search" => {
                    let Name(search) = map.next_value()?;
                    if search.len() > FilterLimits::DEFAULT.search_bytes {
                        return Err(error(Reason::TooManyBytes, Member::Search));
                    }
                    set(&mut filter.search, Text::from(search), Member::Search)?;
                }
                name => read_tag(&mut filter, name, &mut map)?,
            }
        }
        Ok(filter)
    }
}

/// Reads a tag condition. All other names are unknown members.
fn read_tag<'de, A: MapAccess<'de>>(
    filter: &mut Filter,
    name: &str,
    map: &mut A,
) -> Result<(), A::Error> {
    let Some(letter) = name.strip_prefix('#') else {
        return Err(de::Error::custom(Reason::UnknownMember.text()));
    };
    let letter = match letter.as_bytes() {
        [letter] => TagLetter::from_byte(*letter),
        _ => None,
    };
    let letter = letter.ok_or_else(|| error(Reason::TagName, Member::Tag))?;
    if filter.tag(letter).is_some() {
        return Err(error(Reason::DuplicateKey, Member::Tag));
    }
    if filter.tags.len() == FilterLimits::DEFAULT.tag_conditions {
        return Err(error(Reason::TooManyItems, Member::Tag));
    }
    let names: Vec<Name<'de>> = list(map, Member::Tag)?;
    let mut values = Vec::with_capacity(names.len());
    for Name(value) in names {
        letter
            .check(&value)
            .map_err(|(reason, _)| error(reason, Member::Tag))?;
        if value.len() > FilterLimits::DEFAULT.tag_value_bytes {
            return Err(error(Reason::TooManyBytes, Member::Tag));
        }
        values.push(Text::from(value));
    }
    filter.set_tag(letter, values);
    Ok(())
}

fn set<T, E: de::Error>(slot: &mut Option<T>, value: T, member: Member) -> Result<(), E> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(error(Reason::DuplicateKey, member)),
    }
}

fn list<'de, A, T>(map: &mut A, member: Member) -> Result<Vec<T>, A::Error>
where
    A: MapAccess<'de>,
    T: Deserialize<'de>,
{
    let list: Vec<T> = map.next_value()?;
    if list.len() > FilterLimits::DEFAULT.items {
        return Err(error(Reason::TooManyItems, member));
    }
    Ok(list)
}

fn number<'de, A: MapAccess<'de>>(map: &mut A, member: Member) -> Result<u64, A::Error> {
    let number = map.next_value()?;
    if number > Filter::MAX_NUMBER {
        return Err(error(Reason::TooLarge, member));
    }
    Ok(number)
}

/// An error without an offset, because serde does not provide offsets.
fn error<E: de::Error>(reason: Reason, member: Member) -> E {
    let Error { reason, member, .. } = Error::new(reason, 0).in_member(member);
    let name = member.map_or("", Member::name);
    E::custom(format_args!("{name}: {}", reason.text()))
}

/// A string, borrowed if the deserializer supports it.
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;

        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E: de::Error>(self, text: String) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text)))
            }
        }

        deserializer.deserialize_str(NameVisitor)
    }
}
