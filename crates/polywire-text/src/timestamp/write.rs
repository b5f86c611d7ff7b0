//! Writing the forms of a timestamp.

use std::fmt;

use super::Timestamp;
use super::calendar::{DAYS, MONTHS};
use crate::Malformed;
use crate::number::{pair, push_i64, push_padded};

impl Timestamp {
    /// Appends the RFC 3339 form in UTC, with a fraction of as many digits as
    /// it needs, and none if it is zero.
    ///
    /// # Errors
    ///
    /// The year is not within 0001 to 9999.
    pub fn push_date_time(self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let civil = self.civil()?;
        let ([a, b], [c, d]) = (pair(civil.year / 100), pair(civil.year));
        let ([e, f], [g, h]) = (pair(civil.month), pair(civil.day));
        let [i, j, k, l, m, n, o, p] = civil.time();
        let all = [
            a, b, c, d, b'-', e, f, b'-', g, h, b'T', i, j, k, l, m, n, o, p, b'Z',
        ];
        if self.nanoseconds == 0 {
            out.extend_from_slice(&all);
        } else {
            out.extend_from_slice(&all[..all.len() - 1]);
            self.push_fraction(out);
            out.push(b'Z');
        }
        Ok(())
    }

    /// Appends XML-RPC's form, `YYYYMMDDTHH:MM:SS`, in UTC and without a zone;
    /// with a fraction only if it is not zero.
    ///
    /// # Errors
    ///
    /// The year is not within 0001 to 9999.
    pub fn push_xmlrpc(self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let civil = self.civil()?;
        let ([a, b], [c, d]) = (pair(civil.year / 100), pair(civil.year));
        let ([e, f], [g, h]) = (pair(civil.month), pair(civil.day));
        let [i, j, k, l, m, n, o, p] = civil.time();
        out.extend_from_slice(&[a, b, c, d, e, f, g, h, b'T', i, j, k, l, m, n, o, p]);
        self.push_fraction(out);
        Ok(())
    }

    /// Appends the preferred HTTP-date, RFC 9110, section 5.6.7; a fraction,
    /// which that form has no place for, only if it is not zero.
    ///
    /// # Errors
    ///
    /// The year is not within 0001 to 9999.
    pub fn push_http_date(self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let civil = self.civil()?;
        let [a, b, c] = DAYS[civil.weekday as usize];
        let [d, e, f] = MONTHS[civil.month as usize - 1];
        let ([g, h], [i, j], [k, l]) = (pair(civil.day), pair(civil.year / 100), pair(civil.year));
        let [m, n, o, p, q, r, s, t] = civil.time();
        let all = [
            a, b, c, b',', b' ', g, h, b' ', d, e, f, b' ', i, j, k, l, b' ', m, n, o, p, q, r, s,
            t, b' ', b'G', b'M', b'T',
        ];
        let (date_and_time, zone) = all.split_at(all.len() - b" GMT".len());
        if self.nanoseconds == 0 {
            out.extend_from_slice(&all);
        } else {
            out.extend_from_slice(date_and_time);
            self.push_fraction(out);
            out.extend_from_slice(zone);
        }
        Ok(())
    }

    /// Appends seconds since the epoch, with a fraction of as many digits as
    /// it needs.
    pub fn push_epoch_seconds(self, out: &mut Vec<u8>) {
        if self.seconds >= 0 || self.nanoseconds == 0 {
            push_i64(out, self.seconds);
            return self.push_fraction(out);
        }
        // -1.5 is stored as -2 seconds and half a second after that.
        out.push(b'-');
        push_i64(out, -(self.seconds + 1));
        let mirrored = Self {
            nanoseconds: 1_000_000_000 - self.nanoseconds,
            ..self
        };
        mirrored.push_fraction(out);
    }

    fn push_fraction(self, out: &mut Vec<u8>) {
        if self.nanoseconds == 0 {
            return;
        }
        out.push(b'.');
        push_padded(out, self.nanoseconds, 9);
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339, or `@` and epoch seconds for years that it has no form for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(32);
        if self.push_date_time(&mut out).is_err() {
            out.push(b'@');
            self.push_epoch_seconds(&mut out);
        }
        if self.unzoned && out.last() == Some(&b'Z') {
            out.pop();
        }
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
