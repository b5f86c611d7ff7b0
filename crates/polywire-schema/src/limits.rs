//! [`Limits`]: the resources that one message may use.

/// Limits for one message. All readers check them.
///
/// The defaults are large enough for ordinary services and bound the cost of hostile messages:
///
/// | limit | default | why |
/// |---|--:|---|
/// | `bytes` | 16 MiB | the largest body that common peers send by default |
/// | `depth` | 64 | deeper data is rare, and each level uses stack |
/// | `items` | 1,000,000 | a two-byte list item can become a value of 32 bytes |
/// | `string` | 16 MiB | one string, blob or big number may fill the body |
/// | `calls` | 1,000 | each call of a batch runs a handler |
///
/// Decoded data can need much more memory than the message. A [`Value`](crate::Value) has 32 bytes
/// and a map entry has 56 bytes, independent of the content. A vector that has grown can have a
/// capacity of twice its length:
///
/// | worst case | memory, in multiples of the message size |
/// |---|--:|
/// | CBOR, lists of two items: two bytes per item, capacity for four | 64 |
/// | CBOR, a long list of small numbers with indefinite length | 64, and 96 while it grows |
/// | CBOR, nested maps of two entries | 45 |
/// | CBOR, structures with one-letter member names | 40 |
/// | JSON | half of these |
/// | strings and blobs | 1, plus 32 bytes each |
///
/// `items` limits nested lists, maps and structures: with the default they need at most about
/// 112 MB, for a message of 2.5 MB. Other members of structures do not count as items, because each
/// occurs at most once. Only `bytes` limits them, so a structure can need 40 times `bytes`.
///
/// Servers account for the decoded inputs of operations from bodies of more than 8 KiB in their
/// memory limit for bodies. They do not account for data decoded from smaller bodies, or for
/// parameters of methods without a model.
///
/// Typed shapes need the size of their types. A list of large structures, each encoded as `{}`,
/// needs at most `items` times their size. If each is in a list of its own, it needs up to eight
/// times as much, because the initial capacity of a list is up to eight.
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

/// The maximum of the depth limit. Readers are recursive, and this many levels fit the stack of a
/// worker thread.
const MAX_DEPTH: u32 = 512;

impl Limits {
    /// The defaults of the table above.
    pub const DEFAULT: Self = Self {
        bytes: 16 << 20,
        depth: 64,
        items: 1_000_000,
        string: 16 << 20,
        calls: 1_000,
    };

    /// Returns the maximum size of a message, in bytes.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the maximum nesting of structures, lists and maps, in levels.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns the maximum number of items in a message.
    ///
    /// These count as items: list items, map entries, unknown members, and nested structures, lists
    /// and maps. So each structure in a list counts twice. Members that the model defines do not
    /// count, because each occurs at most once. Collections within skipped values do not count,
    /// because they allocate nothing.
    #[must_use]
    pub const fn items(&self) -> u32 {
        self.items
    }

    /// Returns the maximum encoded size of a string or blob, in bytes.
    ///
    /// The limit also applies to the digits of arbitrary-precision numbers: decimals, and integers
    /// that do not fit 64 bits. It does not apply to other numbers, booleans and timestamps. In
    /// forms it applies to all values.
    #[must_use]
    pub const fn string(&self) -> usize {
        self.string
    }

    /// Returns the maximum number of calls in a batch, such as `system.multicall` of XML-RPC.
    #[must_use]
    pub const fn calls(&self) -> u32 {
        self.calls
    }

    /// Sets the maximum size of a message, in bytes.
    #[must_use]
    pub const fn with_bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    /// Sets the maximum nesting, in levels. The maximum is 512: larger values are reduced to it.
    #[must_use]
    pub const fn with_depth(self, depth: u32) -> Self {
        Self {
            depth: if depth > MAX_DEPTH { MAX_DEPTH } else { depth },
            ..self
        }
    }

    /// Sets the maximum number of [items](Self::items).
    #[must_use]
    pub const fn with_items(self, items: u32) -> Self {
        Self { items, ..self }
    }

    /// Sets the maximum size of a [string](Self::string), in bytes.
    #[must_use]
    pub const fn with_string(self, string: usize) -> Self {
        Self { string, ..self }
    }

    /// Sets the maximum number of calls in a batch.
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
