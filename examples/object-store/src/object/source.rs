//! The source of a copy.

use polywire::text::percent;

use crate::error::Error;

/// `x-amz-copy-source`: `BUCKET/KEY`, percent-encoded, with `?versionId=ID` for a version.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct CopySource {
    pub bucket: String,
    pub key: String,
    pub id: Option<String>,
}

impl CopySource {
    /// Reads the header.
    ///
    /// # Errors
    ///
    /// It is malformed.
    pub(crate) fn parse(source: &str) -> Result<Self, Error> {
        let wrong = Error::InvalidArgument(
            "Copy Source must mention the source bucket and key: sourcebucket/sourcekey",
        );
        let source = source.strip_prefix('/').unwrap_or(source);
        let (source, id) = match source.rsplit_once("?versionId=") {
            Some((source, id)) => (source, Some(id.into())),
            None => (source, None),
        };
        let id = crate::convert::version_id(&id)?;
        let source = percent::decode(source).map_err(|_| wrong)?;
        match source.split_once('/') {
            Some((bucket, key)) if !bucket.is_empty() && !key.is_empty() => Ok(Self {
                bucket: bucket.to_owned(),
                key: key.to_owned(),
                id,
            }),
            _ => Err(wrong),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources() {
        for (source, bucket, key, id) in [
            ("b/k", "b", "k", None),
            ("/b/k%2B%20l//m", "b", "k+ l//m", None),
            ("b/a+b", "b", "a+b", None),
            ("b%2Fk", "b", "k", None),
            ("b/k?versionId=null", "b", "k", Some("null")),
            (
                "b/k?x?versionId=00000000000000ff",
                "b",
                "k?x",
                Some("00000000000000ff"),
            ),
        ] {
            let found = CopySource::parse(source).unwrap();
            assert_eq!(
                (&*found.bucket, &*found.key, found.id.as_deref()),
                (bucket, key, id)
            );
        }
        for wrong in ["", "b", "b/", "/", "b/%zz", "b/%ff", "b/k?versionId=1"] {
            assert!(CopySource::parse(wrong).is_err(), "{wrong}");
        }
    }
}
