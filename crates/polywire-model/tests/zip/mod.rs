//! A writer of ZIP archives that can lie: what it says of an entry need not be
//! true.

#![allow(dead_code, reason = "each test target uses its part")]

/// A file in an archive.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) data: Vec<u8>,
    pub(crate) packed: Vec<u8>,
    pub(crate) method: u16,
    pub(crate) flags: u16,
    pub(crate) length: u32,
    pub(crate) checksum: u32,
    /// Where the entry's bytes are, when another entry has brought them.
    pub(crate) place: Option<u32>,
}

impl Entry {
    pub(crate) fn new(name: impl AsRef<[u8]>, data: impl AsRef<[u8]>) -> Self {
        let data = data.as_ref().to_vec();
        Self {
            name: name.as_ref().to_vec(),
            packed: miniz_oxide::deflate::compress_to_vec(&data, 6),
            method: 8,
            flags: 0,
            length: data.len() as u32,
            checksum: crc32(&data),
            place: None,
            data,
        }
    }

    pub(crate) fn stored(mut self) -> Self {
        self.packed = self.data.clone();
        self.method(0)
    }

    pub(crate) fn method(mut self, method: u16) -> Self {
        self.method = method;
        self
    }

    pub(crate) fn encrypted(mut self) -> Self {
        self.flags |= 1;
        self
    }

    pub(crate) fn length(mut self, length: u32) -> Self {
        self.length = length;
        self
    }

    pub(crate) fn checksum(mut self, checksum: u32) -> Self {
        self.checksum = checksum;
        self
    }

    /// What the local header and the one in the directory have in common.
    fn header(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in [20, self.flags, self.method, 0, 0x21] {
            bytes.extend(number.to_le_bytes());
        }
        for number in [self.checksum, self.packed.len() as u32, self.length] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend((self.name.len() as u16).to_le_bytes());
        bytes.extend([0, 0]);
        bytes
    }
}

/// An archive of files.
pub(crate) fn zip(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    for entry in entries {
        let place = entry.place.unwrap_or(bytes.len() as u32);
        if entry.place.is_none() {
            bytes.extend(b"PK\x03\x04");
            bytes.extend(entry.header());
            bytes.extend(&entry.name);
            bytes.extend(&entry.packed);
        }
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(entry.header());
        directory.extend([0; 10]);
        directory.extend(place.to_le_bytes());
        directory.extend(&entry.name);
    }
    let start = bytes.len() as u32;
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    let count = entries.len() as u16;
    bytes.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

/// Bit by bit: slow, and too simple to be wrong.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}
