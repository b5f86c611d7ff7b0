//! What one message may cost.

/// Bounds on one message, checked by every reader.
///
/// The defaults let ordinary services through and put an end to what a hostile
/// message may cost:
///
/// | limit | default | why |
/// |---|--:|---|
/// | `bytes` | 16 MiB | the largest body that common peers send unasked |
/// | `depth` | 64 | deeper data is rare; each level costs stack |
/// | `items` | 1,000,000 | a two-byte list item can become a value of 32 bytes |
/// | `string` | 16 MiB | a string, a blob or kept digits may fill the body |
/// | `calls` | 1,000 | each call of a multicall costs a handler's time |
///
/// That end is well above the size of the message. A [`Value`](crate::Value)
/// takes 32 bytes and an entry of a map 56, whatever they hold, and a vector
/// that has grown has up to as much space again:
///
/// | worst message | memory, times its size |
/// |---|--:|
/// | CBOR, lists of two: two bytes an item, space for four | 64 |
/// | CBOR, a long list of small numbers without its length in front | 64, and 96 while it grows |
/// | CBOR, maps of two in each other | 45 |
/// | CBOR, structures of members with names of one letter | 40 |
/// | JSON | half of these |
/// | strings and blobs | once, and 32 bytes each |
///
/// `items` ends the growth of lists, maps and structures in each other: with the default they take
/// about 112 MB at the most, in a message of 2.5 MB. Other members of structures do not count
/// as items, since each comes once; `bytes` alone bounds them, so a service that
/// reads structures by schema may hold 40 times its `bytes`. A server counts the inputs of operations
/// that it has decoded from bodies of more than 8 KiB against its memory for bodies. It does not
/// count what smaller bodies decode to, nor parameters of methods without a model. Typed shapes take
/// what their types take: a list of large ones from `{}` each is bounded by
/// `items` times their size, and by eight times as much where each stands in a
/// list of its own, since a list begins with room for up to eight.
///
/// ```
/// use polywire_schema::Limits;
///
/// let limits = Limits::DEFAULT.with_depth(16);
/// assert_eq!(limits.depth(), 16);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    bytes: usize,
    depth: u32,
    items: u32,
    string: usize,
    calls: u32,
}

/// The deepest nesting that a limit may allow: readers of typed shapes and of
/// values recurse, and this many levels fit the stack of a worker thread.
const DEEPEST: u32 = 512;

impl Limits {
    /// The defaults of the table above.
    pub const DEFAULT: Self = Self {
        bytes: 16 << 20,
        depth: 64,
        items: 1_000_000,
        string: 16 << 20,
        calls: 1_000,
    };

    /// The most bytes of a whole message.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The most levels of structures, lists and maps in each other.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// The most items of a message: list items, map entries, members that the model does not
    /// have, and structures, lists and maps inside others. A list of structures counts two for
    /// each. Members that the model defines do not count: each occurs at most once. Lists, maps and
    /// structures within what is skipped do not count either, since they take no memory.
    #[must_use]
    pub const fn items(&self) -> u32 {
        self.items
    }

    /// The most bytes of a string or a blob, as it stands in the message, and of the digits
    /// of a number that keeps them: a decimal, or an integer that 64 bits do not hold.
    /// What becomes a number of fixed size, a boolean or a timestamp has no limit of its
    /// own, however it is spelled; in forms every value counts.
    #[must_use]
    pub const fn string(&self) -> usize {
        self.string
    }

    /// The most calls in a message that holds several, such as XML-RPC's
    /// `system.multicall`.
    #[must_use]
    pub const fn calls(&self) -> u32 {
        self.calls
    }

    /// Sets the most bytes of a whole message.
    #[must_use]
    pub const fn with_bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    /// Sets the most levels; values above 512 count as 512.
    #[must_use]
    pub const fn with_depth(self, depth: u32) -> Self {
        Self {
            depth: if depth > DEEPEST { DEEPEST } else { depth },
            ..self
        }
    }

    /// Sets the most items and entries together.
    #[must_use]
    pub const fn with_items(self, items: u32) -> Self {
        Self { items, ..self }
    }

    /// Sets the most bytes of a string, a blob, or kept digits.
    #[must_use]
    pub const fn with_string(self, string: usize) -> Self {
        Self { string, ..self }
    }

    /// Sets the most calls in a message that holds several.
    #[must_use]
    pub const fn with_calls(self, calls: u32) -> Self {
        Self { calls, ..self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
