//! The signed headers of a request, and those that must be signed.

use crate::signature::canonical::{Header, Headers, sort_headers};
use crate::signature::error::ErrorKind;
use crate::signature::head::X_AMZ_SECURITY_TOKEN;
use crate::signature::parse::split_once;
use crate::signature::{SignatureError, SignedRequest, Verifier};

impl Verifier {
    /// The signed headers, in the order of their names. Requires that they are in the request, and
    /// that `host` and all headers `x-amz-*` of the request are signed.
    pub(super) fn signed_headers<'a>(
        &self,
        request: &'a SignedRequest<'_>,
    ) -> Result<Headers<'a>, SignatureError> {
        let head = &request.head;
        let mut all: Headers<'a> = Headers::new();
        let mut hosts = 0;
        for (name, value) in head.headers {
            hosts += usize::from(*name == http::header::HOST);
            all.push(Header::new(name.as_str(), value.as_bytes()));
        }
        if let Some(authority) = head.authority
            && hosts == 0
        {
            all.push(Header::new("host", authority.as_bytes()));
        } else if hosts > 1 {
            return Err(SignatureError::new(
                ErrorKind::Duplicate,
                "host occurs more than once",
            ));
        }
        sort_headers(&mut all);

        // Both lists are sorted, so one pass finds what both have, and what only one has.
        let mut signed = Headers::new();
        let mut missing = Vec::new();
        let mut names = Names::new(&request.signed_headers);
        for header in all {
            match names.advance_to(header.name)? {
                true => signed.push(header),
                false => self.note_unsigned(header.name, &mut missing),
            }
        }
        names.finish()?;
        let is_host_signed = signed.iter().any(|header| header.name == "host");
        if !is_host_signed {
            missing.insert(0, "host".to_owned());
        }
        if !missing.is_empty() {
            missing.dedup();
            return Err(SignatureError::unsigned_headers(missing));
        }
        Ok(signed)
    }

    /// Adds the name of a header that is not signed, if it must be signed.
    fn note_unsigned(&self, name: &str, missing: &mut Vec<String>) {
        let may_be_unsigned = !self.requires_signed_token && name == X_AMZ_SECURITY_TOKEN.as_str();
        if name.starts_with("x-amz-") && !may_be_unsigned {
            missing.push(name.to_owned());
        }
    }
}

/// The names of signed headers that are not found in the request yet, in ascending order.
struct Names<'a> {
    rest: &'a str,
    /// Whether a header has the first name of `rest`.
    is_found: bool,
}

impl<'a> Names<'a> {
    fn new(names: &'a str) -> Self {
        Self {
            rest: names,
            is_found: false,
        }
    }

    /// Whether `name` is signed. Names must be passed in ascending order.
    fn advance_to(&mut self, name: &str) -> Result<bool, SignatureError> {
        loop {
            let after = self.rest.strip_prefix(name);
            if after.is_some_and(|after| after.is_empty() || after.starts_with(';')) {
                self.is_found = true;
                return Ok(true);
            }
            if self.rest.is_empty() || !self.is_found && name < self.first() {
                return Ok(false);
            }
            self.skip()?;
        }
    }

    /// Requires that all names were found.
    fn finish(mut self) -> Result<(), SignatureError> {
        while !self.rest.is_empty() {
            self.skip()?;
        }
        Ok(())
    }

    fn first(&self) -> &'a str {
        split_once(self.rest, b';').map_or(self.rest, |(first, _)| first)
    }

    /// Removes the first name, which must have been found.
    fn skip(&mut self) -> Result<(), SignatureError> {
        if !self.is_found {
            let name = self.first();
            let message = format!("the signed header '{name}' is missing in the request");
            return Err(SignatureError::new(ErrorKind::Malformed, message));
        }
        self.rest = split_once(self.rest, b';').map_or("", |(_, rest)| rest);
        self.is_found = false;
        Ok(())
    }
}
