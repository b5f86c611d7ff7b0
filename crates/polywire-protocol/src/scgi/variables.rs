//! The CGI variables of an SCGI request.

use std::net::{IpAddr, SocketAddr};

use polywire_schema::{Error, ErrorKind};

use super::{error, shown};

/// The variables of a request, in the order in which they arrived: those of CGI, and others that
/// the web server adds.
///
/// The extensions of the head of a [`Request`](super::Request) contain them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Variables {
    /// Names and values, each followed by a zero byte.
    block: Vec<u8>,
    /// The offsets of each name and value in the block.
    offsets: Vec<(u32, u32)>,
}

impl Variables {
    /// Parses a block of variables. `base` is its offset in the request.
    pub(super) fn read(block: Vec<u8>, base: usize) -> Result<Self, Error> {
        let mut offsets = Vec::new();
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
            // The reader limits the size of the block to less than 4 GiB.
            let offset = |at| u32::try_from(at).unwrap_or(u32::MAX);
            offsets.push((offset(name), offset(value)));
        }
        let variables = Self { block, offsets };
        variables.check(base)?;
        Ok(variables)
    }

    /// Checks that `CONTENT_LENGTH` comes first, that `SCGI` is 1, and that all names are unique.
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
                let at = base + self.value_offset("SCGI").unwrap_or_default();
                return Err(
                    error(ErrorKind::Syntax, at, "the value 1 of the variable SCGI")
                        .found(shown(other)),
                );
            }
            None => return Err(error(ErrorKind::Missing, base, "the variable SCGI")),
        }
        let names = self.with_offsets().map(|(at, (name, _))| (name, at));
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

    /// Returns the names and values of all variables, in the order in which they arrived.
    pub fn all(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let ends = self.offsets.iter().skip(1).map(|(name, _)| *name as usize);
        let ends = ends.chain(std::iter::once(self.block.len()));
        self.offsets.iter().zip(ends).map(|((name, value), end)| {
            let (name, value) = (*name as usize, *value as usize);
            (&self.block[name..value - 1], &self.block[value..end - 1])
        })
    }

    /// Returns all variables and their offsets in the block.
    pub(super) fn with_offsets(&self) -> impl Iterator<Item = (usize, (&[u8], &[u8]))> {
        let names = self.offsets.iter().map(|(name, _)| *name as usize);
        names.zip(self.all())
    }

    /// Returns the bytes of a variable.
    #[must_use]
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.all()
            .find_map(|(variable, value)| (variable == name.as_bytes()).then_some(value))
    }

    /// Returns the text of a variable, if it is UTF-8.
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
        let found = self
            .all()
            .position(|(variable, _)| variable == name.as_bytes());
        let Some(index) = found else { return };
        let (start, _) = self.offsets.remove(index);
        let next = self.offsets.get(index).map(|(name, _)| *name as usize);
        let end = next.unwrap_or(self.block.len());
        self.block.drain(start as usize..end);
        let removed = end as u32 - start;
        for (name, value) in &mut self.offsets[index..] {
            *name -= removed;
            *value -= removed;
        }
    }

    /// Returns the address of the client of the web server: `REMOTE_ADDR` and `REMOTE_PORT`, with
    /// port 0 without the latter. A client that connects to the application directly can forge it.
    #[must_use]
    pub fn remote(&self) -> Option<SocketAddr> {
        let address: IpAddr = self.get("REMOTE_ADDR")?.parse().ok()?;
        let port = self.get("REMOTE_PORT").and_then(|port| port.parse().ok());
        Some(SocketAddr::new(address, port.unwrap_or(0)))
    }

    /// Returns whether the client used HTTPS, according to the web server.
    #[must_use]
    pub fn is_https(&self) -> bool {
        let on = |name, value: &str| {
            self.get(name)
                .is_some_and(|own| own.eq_ignore_ascii_case(value))
        };
        on("HTTPS", "on") || on("HTTPS", "1") || on("REQUEST_SCHEME", "https")
    }

    /// Returns the offset of the value of a variable in the block.
    pub(super) fn value_offset(&self, name: &str) -> Option<usize> {
        let mut all = self.with_offsets();
        let found = all.find(|(_, (variable, _))| *variable == name.as_bytes());
        found.map(|(at, (variable, _))| at + variable.len() + 1)
    }
}

/// Returns the offset after the next zero byte.
fn next(block: &[u8], at: usize, base: usize, expected: &'static str) -> Result<usize, Error> {
    let zero = block[at..].iter().position(|byte| *byte == 0);
    let zero = zero.ok_or_else(|| error(ErrorKind::Syntax, base + block.len(), expected))?;
    Ok(at + zero + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_variables_stay_when_one_is_removed() {
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
