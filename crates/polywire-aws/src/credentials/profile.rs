//! The profiles of `~/.aws/config` and `~/.aws/credentials`
//! ([file format](https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html)).

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use zeroize::Zeroizing;

use super::parse::{Line, lines};

/// Which of the two files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ProfileFile {
    /// `~/.aws/config`
    Config,
    /// `~/.aws/credentials`
    Credentials,
}

/// A profile file that does not follow the format. It has the line and what was expected, but nothing of the file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProfileError {
    file: ProfileFile,
    line: usize,
    message: &'static str,
}

impl ProfileError {
    #[cold]
    pub(super) fn new(file: ProfileFile, line: usize, message: &'static str) -> Self {
        Self {
            file,
            line,
            message,
        }
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> ProfileFile {
        self.file
    }

    /// The line; the first is 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = match self.file {
            ProfileFile::Config => "config",
            ProfileFile::Credentials => "credentials",
        };
        write!(f, "{file} file, line {}: {}", self.line, self.message)
    }
}

impl Error for ProfileError {}

/// A section of a file: properties by name. `Debug` shows the names only.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct Section {
    properties: BTreeMap<String, Zeroizing<String>>,
}

impl Section {
    /// The value of a property. Names have lower case. Nested properties are a value whose lines after the first are
    /// `name = value`; see [`Self::nested`].
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(|value| value.as_str())
    }

    /// A nested property: `nested("s3", "addressing_style")`. The last one wins.
    #[must_use]
    pub fn nested(&self, property: &str, name: &str) -> Option<&str> {
        let lines = self.get(property)?.strip_prefix('\n')?;
        let mut found = lines.lines().filter_map(|line| line.split_once('='));
        let last = found.rfind(|(known, _)| known.trim().eq_ignore_ascii_case(name));
        last.map(|(_, value)| value.trim())
    }

    /// The names of the properties, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.properties.keys().map(String::as_str)
    }

    /// Takes the properties of `other`, which replace those with the same name.
    fn merge(&mut self, other: Self) {
        self.properties.extend(other.properties);
    }
}

impl fmt::Debug for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.properties.keys()).finish()
    }
}

/// The profiles and other sections of both files.
#[derive(Clone, Debug, Default)]
pub struct ProfileSet {
    profiles: BTreeMap<String, Section>,
    sso_sessions: BTreeMap<String, Section>,
    services: BTreeMap<String, Section>,
}

impl ProfileSet {
    /// Reads both files. A file that does not exist is an empty text.
    ///
    /// In the config file, sections are `[default]`, `[profile NAME]`, `[sso-session NAME]` and `[services NAME]`; in
    /// the credentials file `[NAME]`. Properties of the credentials file win. Sections and properties with other
    /// names are ignored, as all SDKs do.
    ///
    /// # Errors
    ///
    /// A line is no section, property, continuation or comment, or is at a place where it cannot be.
    ///
    /// ```
    /// use polywire_aws::credentials::ProfileSet;
    ///
    /// let set = ProfileSet::parse("[default]\nregion = eu-north-1\ns3 =\n  use_arn_region = true\n", "")?;
    /// let profile = set.profile("default").unwrap();
    /// assert_eq!(profile.get("region"), Some("eu-north-1"));
    /// assert_eq!(profile.nested("s3", "use_arn_region"), Some("true"));
    /// let error = ProfileSet::parse("[default]\nregion\n", "").unwrap_err();
    /// assert_eq!(error.to_string(), "config file, line 2: expected `=` in the property");
    /// # Ok::<(), polywire_aws::credentials::ProfileError>(())
    /// ```
    pub fn parse(config: &str, credentials: &str) -> Result<Self, ProfileError> {
        let mut set = Self::default();
        set.read(config, ProfileFile::Config)?;
        set.read(credentials, ProfileFile::Credentials)?;
        Ok(set)
    }

    /// The profile `name`.
    #[must_use]
    pub fn profile(&self, name: &str) -> Option<&Section> {
        self.profiles.get(name)
    }

    /// The names of the profiles, sorted.
    pub fn profile_names(&self) -> impl Iterator<Item = &str> {
        self.profiles.keys().map(String::as_str)
    }

    /// The section `[sso-session NAME]`.
    #[must_use]
    pub fn sso_session(&self, name: &str) -> Option<&Section> {
        self.sso_sessions.get(name)
    }

    /// The section `[services NAME]`, whose nested properties are endpoints of services.
    #[must_use]
    pub fn services(&self, name: &str) -> Option<&Section> {
        self.services.get(name)
    }

    fn read(&mut self, text: &str, file: ProfileFile) -> Result<(), ProfileError> {
        let mut found: BTreeMap<(Kind, &str), Section> = BTreeMap::new();
        // The current section, or none if it is ignored, and its current property.
        let mut section: Option<(Kind, &str)> = None;
        let mut property: Option<String> = None;
        lines(text, file, |line| match line {
            Line::Section(text) => {
                property = None;
                section = section_name(text, file);
                if let Some(key) = section {
                    found.entry(key).or_default();
                }
            }
            Line::Property { name, value } => {
                property = is_name(name).then(|| name.to_ascii_lowercase());
                if let (Some(key), Some(name)) = (&section, &property)
                    && let Some(section) = found.get_mut(key)
                {
                    let value = Zeroizing::new(value.to_owned());
                    section.properties.insert(name.clone(), value);
                }
            }
            Line::Continuation(text) => {
                if let (Some(key), Some(name)) = (&section, &property)
                    && let Some(section) = found.get_mut(key)
                    && let Some(value) = section.properties.get_mut(name)
                {
                    // A new allocation, because growing would leave a copy behind.
                    let joined = [value.as_str(), text].join("\n");
                    *value = Zeroizing::new(joined);
                }
            }
        })?;
        // `[profile default]` hides `[default]` of the same file.
        if found.contains_key(&(Kind::Profile, "default")) {
            found.remove(&(Kind::Default, "default"));
        }
        for ((kind, name), section) in found {
            let sections = match kind {
                Kind::Default | Kind::Profile => &mut self.profiles,
                Kind::Services => &mut self.services,
                Kind::SsoSession => &mut self.sso_sessions,
            };
            sections.entry(name.to_owned()).or_default().merge(section);
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Kind {
    /// `[default]` of the config file.
    Default,
    Profile,
    Services,
    SsoSession,
}

/// The kind and the name of a section, or `None` if it is ignored.
fn section_name(text: &str, file: ProfileFile) -> Option<(Kind, &str)> {
    let (kind, name) = match (file, text.split_once([' ', '\t'])) {
        (ProfileFile::Credentials, None) => (Kind::Profile, text),
        (ProfileFile::Config, None) if text == "default" => (Kind::Default, text),
        (ProfileFile::Config, Some(("profile", name))) => (Kind::Profile, name),
        (ProfileFile::Config, Some(("services", name))) => (Kind::Services, name),
        (ProfileFile::Config, Some(("sso-session", name))) => (Kind::SsoSession, name),
        _ => return None,
    };
    let name = name.trim_matches([' ', '\t']);
    is_name(name).then_some((kind, name))
}

/// The characters of names of sections and properties.
fn is_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_/.%@:+".contains(&byte);
    !text.is_empty() && text.bytes().all(is_allowed)
}
