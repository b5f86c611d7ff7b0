//! The fields of a form.

use std::collections::BTreeMap;

use http::{HeaderName, HeaderValue};
use polywire::codec::xml;
use polywire::schema::{Text, Timestamp};
use serde::Deserialize;

use crate::convert::{OBJECT_TAGS, document_tags};
use crate::error::Error;
use crate::s3;
use crate::storage::{Facts, Tag};

/// The fields before the file, by name in lower case. If a name is repeated, the first value counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(BTreeMap<String, String>);

impl Fields {
    /// Adds a field.
    pub(super) fn add(&mut self, name: &str, value: String) {
        self.0.entry(name.to_ascii_lowercase()).or_insert(value);
    }

    /// The value of a field, by its name in lower case.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The names of all fields.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    fn text(&self, name: &str) -> Option<Text> {
        self.get(name).map(Text::from)
    }

    /// What the form says of the object.
    ///
    /// # Errors
    ///
    /// A time is malformed, or the form asks for something that the store does not have.
    pub(super) fn facts(&self) -> Result<Facts, Error> {
        if self
            .names()
            .any(|name| name.starts_with("x-amz-server-side-encryption"))
        {
            return Err(Error::NotImplemented(
                "This store does not encrypt objects.",
            ));
        }
        let expires = self
            .get("expires")
            .map(Timestamp::parse_http_date)
            .transpose();
        let expires = expires
            .map_err(|_| Error::InvalidArgument("The field 'expires' is not a date of HTTP."))?;
        if self.names().any(|name| name.starts_with("x-amz-checksum-")) {
            let reason = "This store does not check the checksums of forms.";
            return Err(Error::NotImplemented(reason));
        }
        let is_header = |(name, value): (&String, &String)| {
            HeaderName::from_bytes(name.as_bytes()).is_ok() && HeaderValue::from_str(value).is_ok()
        };
        let is_sent_back = |name: &str| {
            name.starts_with("x-amz-meta-")
                || name.starts_with("content-")
                || matches!(name, "cache-control" | "x-amz-website-redirect-location")
        };
        let mut sent_back = self.0.iter().filter(|(name, _)| is_sent_back(name));
        if !sent_back.all(is_header) {
            let reason = "A field of the form is not a valid header.";
            return Err(Error::InvalidArgument(reason));
        }
        let metadata = self.0.iter().filter_map(|(name, value)| {
            let name = name.strip_prefix("x-amz-meta-")?;
            Some((name.into(), value.as_str().into()))
        });
        Ok(Facts {
            content_type: self.text("content-type"),
            cache_control: self.text("cache-control"),
            content_disposition: self.text("content-disposition"),
            content_encoding: self.text("content-encoding"),
            content_language: self.text("content-language"),
            expires: expires.map(Timestamp::seconds),
            redirect: self.text("x-amz-website-redirect-location"),
            metadata: metadata.collect(),
        })
    }

    /// The tags of the object, which are an XML document in a field.
    ///
    /// # Errors
    ///
    /// The document is malformed, or the tags are not allowed.
    pub(super) fn tags(&self) -> Result<Vec<Tag>, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Tagging {
            tag_set: TagSet,
        }
        #[derive(Deserialize)]
        struct TagSet {
            #[serde(rename = "Tag", default)]
            tags: Vec<TagElement>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct TagElement {
            key: String,
            value: String,
        }
        let Some(document) = self.get("tagging") else {
            return Ok(Vec::new());
        };
        let tagging: Tagging =
            xml::from_slice(document.as_bytes()).map_err(|_| Error::MalformedXml)?;
        let tags = tagging.tag_set.tags.into_iter().map(|element| {
            let mut tag = s3::Tag::default();
            (tag.key, tag.value) = (element.key.into(), element.value.into());
            tag
        });
        document_tags(tags.collect(), OBJECT_TAGS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_a_document() {
        let mut fields = Fields::default();
        assert_eq!(fields.tags(), Ok(Vec::new()));
        let document = "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag><Tag><Key>c</Key><Value></Value></Tag></TagSet></Tagging>";
        fields.add("Tagging", document.to_owned());
        let tags = fields.tags().unwrap();
        let tags: Vec<_> = tags.iter().map(|tag| (&*tag.key, &*tag.value)).collect();
        assert_eq!(tags, [("a", "b"), ("c", "")]);
        let mut fields = Fields::default();
        fields.add("tagging", "<Tagging".to_owned());
        assert_eq!(fields.tags(), Err(Error::MalformedXml));
    }

    #[test]
    fn facts_and_checksums() {
        let mut fields = Fields::default();
        fields.add("Content-Type", "a/b".to_owned());
        fields.add("X-Amz-Meta-One", "1".to_owned());
        fields.add("Expires", "Wed, 02 Jan 2030 03:04:05 GMT".to_owned());
        let facts = fields.facts().unwrap();
        assert_eq!(facts.content_type.as_deref(), Some("a/b"));
        assert_eq!(facts.metadata["one"], "1");
        assert_eq!(facts.expires, Some(1_893_553_445));
        fields.add("x-amz-server-side-encryption", "AES256".to_owned());
        assert!(fields.facts().is_err());
    }
}
