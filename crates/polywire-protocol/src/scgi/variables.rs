//! The variables of a request.

use std::net::{IpAddr, SocketAddr};

use polywire_schema::{Error, ErrorKind};

use super::{error, shown};

/// The variables of a request, in the order in which they came: those of CGI,
/// and what else the web server tells.
///
/// A server finds them among the extensions of the request's head.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Variables {
    /// Names and values, each before a zero byte.
    block: Vec<u8>,
    /// Where each name begins, and its value.
    places: Vec<(u32, u32)>,
}

impl Variables {
    /// The variables of a block, which stands `base` bytes into the request.
    pub(super) fn read(block: Vec<u8>, base: usize) -> Result<Self, Error> {
        let mut places = Vec::new();
        let mut at = 0;
        while at < block.len() {
            let name = at;
            let value = next(
                &block,
                name,
                base,
                "a zero byte after the name of a variable",
            )?;
            if value == name + 1 {
                let expected = "the name of a variable";
                return Err(error(ErrorKind::Syntax, base + name, expected));
            }
            at = next(
                &block,
                value,
                base,
                "a zero byte after the value of a variable",
            )?;
            // A block has as many bytes as its limit, which is less than 4 GiB.
            let place = |at| u32::try_from(at).unwrap_or(u32::MAX);
            places.push((place(name), place(value)));
        }
        let variables = Self { block, places };
        variables.check(base)?;
        Ok(variables)
    }

    /// The length comes first, it is SCGI, and no name comes twice.
    fn check(&self, base: usize) -> Result<(), Error> {
        match self.all().next() {
            Some((b"CONTENT_LENGTH", _)) => {}
            first => {
                let found = first.map_or("nothing".to_owned(), |(name, _)| shown(name));
                let expected = "CONTENT_LENGTH before all other variables";
                return Err(error(ErrorKind::Syntax, base, expected).found(found));
            }
        }
        match self.bytes("SCGI") {
            Some(b"1") => {}
            Some(other) => {
                let at = base + self.place("SCGI").unwrap_or_default();
                return Err(
                    error(ErrorKind::Syntax, at, "the value 1 of the variable SCGI")
                        .found(shown(other)),
                );
            }
            None => return Err(error(ErrorKind::Missing, base, "the variable SCGI")),
        }
        let names = self.placed().map(|(at, (name, _))| (name, at));
        let mut names: Vec<(&[u8], usize)> = names.collect();
        names.sort_unstable();
        match names.windows(2).find(|two| two[0].0 == two[1].0) {
            Some(two) => {
                let at = base + two[1].1;
                let twice = error(ErrorKind::Duplicate, at, "each variable once");
                Err(twice.found(shown(two[1].0)))
            }
            None => Ok(()),
        }
    }

    /// All of them: names and values as they came.
    pub fn all(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let ends = self.places.iter().skip(1).map(|(name, _)| *name as usize);
        let ends = ends.chain(std::iter::once(self.block.len()));
        self.places.iter().zip(ends).map(|((name, value), end)| {
            let (name, value) = (*name as usize, *value as usize);
            (&self.block[name..value - 1], &self.block[value..end - 1])
        })
    }

    /// All of them, and where each begins in the block.
    pub(super) fn placed(&self) -> impl Iterator<Item = (usize, (&[u8], &[u8]))> {
        let names = self.places.iter().map(|(name, _)| *name as usize);
        names.zip(self.all())
    }

    /// The bytes of a variable.
    #[must_use]
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.all()
            .find_map(|(own, value)| (own == name.as_bytes()).then_some(value))
    }

    /// The text of a variable, if it is UTF-8.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.bytes(name)?).ok()
    }

    /// Removes a variable, for example one that holds a secret.
    ///
    /// ```
    /// use polywire_protocol::scgi::Variables;
    ///
    /// let mut variables = Variables::default();
    /// variables.remove("HTTP_AUTHORIZATION");
    /// assert_eq!(variables.get("HTTP_AUTHORIZATION"), None);
    /// ```
    pub fn remove(&mut self, name: &str) {
        let found = self.all().position(|(own, _)| own == name.as_bytes());
        let Some(index) = found else { return };
        let (start, _) = self.places.remove(index);
        let next = self.places.get(index).map(|(name, _)| *name as usize);
        let end = next.unwrap_or(self.block.len());
        self.block.drain(start as usize..end);
        let removed = end as u32 - start;
        for (name, value) in &mut self.places[index..] {
            *name -= removed;
            *value -= removed;
        }
    }

    /// The address of the client that the web server serves: `REMOTE_ADDR` and
    /// `REMOTE_PORT`, with port 0 where the latter is not told. What calls
    /// directly may say what it likes.
    #[must_use]
    pub fn remote(&self) -> Option<SocketAddr> {
        let address: IpAddr = self.get("REMOTE_ADDR")?.parse().ok()?;
        let port = self.get("REMOTE_PORT").and_then(|port| port.parse().ok());
        Some(SocketAddr::new(address, port.unwrap_or(0)))
    }

    /// Whether the client came over HTTPS, by the web server's word.
    #[must_use]
    pub fn is_https(&self) -> bool {
        let on = |name, value: &str| {
            self.get(name)
                .is_some_and(|own| own.eq_ignore_ascii_case(value))
        };
        on("HTTPS", "on") || on("HTTPS", "1") || on("REQUEST_SCHEME", "https")
    }

    /// Where the value of a variable stands in the block.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        let mut all = self.placed();
        let found = all.find(|(_, (own, _))| *own == name.as_bytes());
        found.map(|(at, (own, _))| at + own.len() + 1)
    }
}

/// What comes after the next zero byte.
fn next(block: &[u8], at: usize, base: usize, expected: &'static str) -> Result<usize, Error> {
    let zero = block[at..].iter().position(|byte| *byte == 0);
    let zero = zero.ok_or_else(|| error(ErrorKind::Syntax, base + block.len(), expected))?;
    Ok(at + zero + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_others_stay_when_one_is_removed() {
        let block = b"CONTENT_LENGTH\x000\0SCGI\x001\0A\0x\0B\0yz\0".to_vec();
        let all = ["CONTENT_LENGTH", "SCGI", "A", "B"];
        for removed in all {
            let mut variables = Variables::read(block.clone(), 0).unwrap();
            variables.remove(removed);
            variables.remove("C");
            for name in all {
                let value = match name {
                    "CONTENT_LENGTH" => "0",
                    "SCGI" => "1",
                    "A" => "x",
                    _ => "yz",
                };
                let expected = (name != removed).then_some(value);
                assert_eq!(variables.get(name), expected, "{removed} {name}");
            }
            assert_eq!(variables.all().count(), 3);
        }
    }
}
