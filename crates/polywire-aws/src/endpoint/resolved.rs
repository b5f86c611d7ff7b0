//! The result of an evaluation.

/// An endpoint: where to send a request, and how to sign it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Endpoint {
    /// The URL: scheme, host, and optionally a port and a path.
    pub url: String,
    /// Headers to send, each with its values.
    pub headers: Vec<(String, Vec<String>)>,
    /// Everything else that the rules say, such as `authSchemes` and `backend`.
    pub properties: Vec<(String, Property)>,
}

impl Endpoint {
    /// The property `name`.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&Property> {
        find(&self.properties, name)
    }

    /// The authentication schemes of the property `authSchemes`, in order of preference. A client chooses its scheme
    /// by the service's `@auth`, and takes the settings of the scheme with the same name from here.
    pub fn auth_schemes(&self) -> impl Iterator<Item = AuthScheme<'_>> {
        let schemes = match self.property("authSchemes") {
            Some(Property::Array(items)) => items.as_slice(),
            _ => &[],
        };
        schemes.iter().filter_map(|scheme| match scheme {
            Property::Record(members) => Some(AuthScheme { members }),
            _ => None,
        })
    }

    /// The property `backend`, such as `S3Express`.
    #[must_use]
    pub fn backend(&self) -> Option<&str> {
        self.property("backend")?.as_str()
    }
}

/// A value of a property.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Property {
    /// A list.
    Array(Vec<Property>),
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// Named values, in the order of the rule set.
    Record(Vec<(String, Property)>),
    /// A text.
    String(String),
}

impl Property {
    /// The text, if it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            _ => None,
        }
    }
}

/// The settings of an authentication scheme
/// ([specification](https://smithy.io/2.0/aws/rules-engine/auth-schemes.html)).
#[derive(Clone, Copy, Debug)]
pub struct AuthScheme<'a> {
    members: &'a [(String, Property)],
}

impl<'a> AuthScheme<'a> {
    /// Any setting.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&'a Property> {
        find(self.members, name)
    }

    /// The name of the scheme: `sigv4`, `sigv4a`, `sigv4-s3express`, ...
    #[must_use]
    pub fn name(&self) -> &'a str {
        // The compiler has checked that there is one.
        self.text("name").unwrap_or_default()
    }

    /// The service to sign for.
    #[must_use]
    pub fn signing_name(&self) -> Option<&'a str> {
        self.text("signingName")
    }

    /// The region to sign for, in `sigv4`.
    #[must_use]
    pub fn signing_region(&self) -> Option<&'a str> {
        self.text("signingRegion")
    }

    /// The regions to sign for, in `sigv4a`; empty if there are none.
    pub fn signing_region_set(&self) -> impl Iterator<Item = &'a str> {
        let regions = match self.property("signingRegionSet") {
            Some(Property::Array(items)) => items.as_slice(),
            _ => &[],
        };
        regions.iter().filter_map(Property::as_str)
    }

    /// Whether the path is encoded once instead of twice.
    #[must_use]
    pub fn disable_double_encoding(&self) -> bool {
        self.flag("disableDoubleEncoding")
    }

    /// Whether the path is signed as it is, without removing `.` and `..`.
    #[must_use]
    pub fn disable_normalize_path(&self) -> bool {
        self.flag("disableNormalizePath")
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.property(name)?.as_str()
    }

    fn flag(&self, name: &str) -> bool {
        self.property(name).and_then(Property::as_bool) == Some(true)
    }
}

fn find<'a>(members: &'a [(String, Property)], name: &str) -> Option<&'a Property> {
    members
        .iter()
        .find(|(known, _)| known == name)
        .map(|(_, value)| value)
}
