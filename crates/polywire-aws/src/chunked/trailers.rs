//! Trailers of a body.

/// The trailers of a body, without the signature. Names are in lower case; values have no white space around them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Trailers {
    /// Sorted by name, each once.
    entries: Vec<(String, String)>,
}

impl Trailers {
    /// The value of the trailer with this lower-case name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let index = self
            .entries
            .binary_search_by(|entry| entry.0.as_str().cmp(name))
            .ok()?;
        Some(&self.entries[index].1)
    }

    /// Name and value of each, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The number of trailers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What a signature of trailers covers: `name:value\n` of each, sorted by name.
    ///
    /// ```
    /// use polywire_aws::chunked::Trailers;
    ///
    /// let trailers: Trailers = [("X-Amz-Checksum-Crc32c", "sOO8/Q==")].into_iter().collect();
    /// assert_eq!(trailers.canonical(), b"x-amz-checksum-crc32c:sOO8/Q==\n");
    /// ```
    #[must_use]
    pub fn canonical(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (name, value) in self.iter() {
            for part in [name, ":", value, "\n"] {
                out.extend_from_slice(part.as_bytes());
            }
        }
        out
    }

    /// Whether the trailer was new.
    pub(super) fn insert(&mut self, name: String, value: &str) -> bool {
        match self.entries.binary_search_by(|entry| entry.0.cmp(&name)) {
            Ok(_) => false,
            Err(index) => {
                self.entries.insert(index, (name, value.to_owned()));
                true
            }
        }
    }
}

/// Makes names lower-case, and removes white space around values. Of trailers with the same name, the first stays.
impl<'a> FromIterator<(&'a str, &'a str)> for Trailers {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(entries: I) -> Self {
        let mut trailers = Self::default();
        for (name, value) in entries {
            trailers.insert(name.to_ascii_lowercase(), value.trim_matches([' ', '\t']));
        }
        trailers
    }
}
