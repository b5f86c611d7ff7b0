//! Arrays and structs, item by item.

use std::borrow::Cow;

use polywire_schema::{Decoder, Error, Event, Seq};

use super::XmlRpcDecoder;

/// In [`Seq::mark`], which end tags an array or struct has left.
pub(super) const OPEN: u64 = 0;
/// `<array><data/>`.
pub(super) const WITHOUT_DATA: u64 = 1;
/// `<array/>` or `<struct/>`.
pub(super) const CLOSED: u64 = 2;

impl<'de> XmlRpcDecoder<'de> {
    #[inline]
    pub(super) fn deeper(&mut self) -> Result<(), Error> {
        self.budget.enter().map_err(|limit| self.limit(limit))
    }

    pub(super) fn end_collection(&mut self, tags: &[&'static str]) -> Result<(), Error> {
        for tag in tags {
            self.cursor
                .expect_end(tag, "the end tag of the array or struct")?;
        }
        self.end_value()?;
        self.budget.leave();
        Ok(())
    }

    /// Begins an array whose start tag has been read.
    pub(super) fn begin_array(&mut self, empty: bool) -> Result<Seq, Error> {
        self.deeper()?;
        let mark = if empty {
            CLOSED
        } else if self.cursor.expect_start("data", "<data>")? {
            OPEN
        } else {
            WITHOUT_DATA
        };
        Ok(Seq {
            mark,
            ..Seq::default()
        })
    }

    /// Goes to the next item of an array.
    pub(super) fn next_item(&mut self, seq: &mut Seq) -> Result<bool, Error> {
        if seq.mark != OPEN {
            let tags: &[&str] = if seq.mark == CLOSED { &[] } else { &["array"] };
            self.end_collection(tags)?;
            return Ok(false);
        }
        if !self.cursor.skip(b"<value>") {
            match self.cursor.start()? {
                Some(start) if start.name == "value" => self.empty_value = start.empty,
                Some(_) => return Err(self.cursor.wrong_tag("<value> or </data>")),
                None => {
                    self.end_collection(&["data", "array"])?;
                    return Ok(false);
                }
            }
        }
        seq.count += 1;
        self.count_item()?;
        Ok(true)
    }

    /// Begins a struct whose start tag has been read.
    pub(super) fn begin_struct(&mut self, empty: bool) -> Result<Seq, Error> {
        self.deeper()?;
        Ok(Seq {
            mark: if empty { CLOSED } else { OPEN },
            ..Seq::default()
        })
    }

    /// Goes to the next member of a struct and reads up to its value's tag.
    pub(super) fn next_member(&mut self, seq: &mut Seq) -> Result<Option<Cow<'de, str>>, Error> {
        if seq.count > 0 {
            self.end_member()?;
        }
        if seq.mark == CLOSED {
            self.end_collection(&[])?;
            return Ok(None);
        }
        match self.cursor.start()? {
            Some(start) if start.name == "member" && !start.empty => {}
            Some(_) => return Err(self.cursor.wrong_tag("<member> or </struct>")),
            None => {
                self.end_collection(&["struct"])?;
                return Ok(None);
            }
        }
        seq.count += 1;
        let name = if self.cursor.expect_start("name", "<name>")? {
            let name = self.cursor.characters()?;
            self.cursor.expect_end("name", "</name>")?;
            name
        } else {
            Cow::Borrowed("")
        };
        self.empty_value = !self.cursor.expect_start("value", "<value>")?;
        Ok(Some(name))
    }

    #[inline]
    pub(super) fn end_member(&mut self) -> Result<(), Error> {
        if self.cursor.skip(b"</member>") {
            return Ok(());
        }
        self.cursor.expect_end("member", "</member>")
    }

    /// Skips a value that nobody wants. It must be well formed all the same.
    pub(super) fn skip_value(&mut self) -> Result<(), Error> {
        match self.any()? {
            Event::List(mut seq) => {
                while self.next_item(&mut seq)? {
                    self.skip_value()?;
                }
            }
            Event::Map(mut seq) => {
                while self.next_member(&mut seq)?.is_some() {
                    self.count_item()?;
                    self.skip_value()?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}
