//! Relations between shapes, and which of them a step of a selector follows. An edge has a bit for
//! each of its names: the operation that creates a resource is its `create`, one of its collection
//! operations, and one of its operations.

pub(crate) type Mask = u32;

pub(crate) const BOUND: Mask = 1;
pub(crate) const COLLECTION_OPERATION: Mask = 1 << 1;
pub(crate) const CREATE: Mask = 1 << 2;
pub(crate) const DELETE: Mask = 1 << 3;
pub(crate) const ERROR: Mask = 1 << 4;
pub(crate) const IDENTIFIER: Mask = 1 << 5;
pub(crate) const INPUT: Mask = 1 << 6;
pub(crate) const INSTANCE_OPERATION: Mask = 1 << 7;
pub(crate) const LIST: Mask = 1 << 8;
pub(crate) const MEMBER: Mask = 1 << 9;
pub(crate) const MIXIN: Mask = 1 << 10;
pub(crate) const OPERATION: Mask = 1 << 11;
pub(crate) const OUTPUT: Mask = 1 << 12;
pub(crate) const PROPERTY: Mask = 1 << 13;
pub(crate) const PUT: Mask = 1 << 14;
pub(crate) const READ: Mask = 1 << 15;
pub(crate) const RESOURCE: Mask = 1 << 16;
/// From a member to its target: the one relation without a name.
pub(crate) const TARGET: Mask = 1 << 17;
pub(crate) const TRAIT: Mask = 1 << 18;
pub(crate) const UPDATE: Mask = 1 << 19;

/// The relations that `>`, `<` and `~>` follow. `bound` leads backwards, and `trait` to half of the
/// prelude, so both are followed only by name.
pub(crate) const USUAL: Mask = !(BOUND | TRAIT);

/// The names, sorted.
pub(crate) const NAMES: [(&str, Mask); 19] = [
    ("bound", BOUND),
    ("collectionOperation", COLLECTION_OPERATION),
    ("create", CREATE),
    ("delete", DELETE),
    ("error", ERROR),
    ("identifier", IDENTIFIER),
    ("input", INPUT),
    ("instanceOperation", INSTANCE_OPERATION),
    ("list", LIST),
    ("member", MEMBER),
    ("mixin", MIXIN),
    ("operation", OPERATION),
    ("output", OUTPUT),
    ("property", PROPERTY),
    ("put", PUT),
    ("read", READ),
    ("resource", RESOURCE),
    ("trait", TRAIT),
    ("update", UPDATE),
];

/// The relations that a step follows.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Relations {
    names: Vec<String>,
    mask: Mask,
}

impl Relations {
    /// The relations of `>`, `<` and `~>`.
    pub(crate) fn usual() -> Self {
        Self {
            names: Vec::new(),
            mask: USUAL,
        }
    }

    /// The relations with these names. Unknown names yield nothing, as the specification says.
    pub(crate) fn named(names: Vec<String>) -> Self {
        let known = |name: &String| NAMES.iter().find(|(known, _)| known == name);
        let masks = names.iter().filter_map(known).map(|(_, mask)| mask);
        let mask = masks.fold(0, |all, mask| all | mask);
        Self { names, mask }
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn mask(&self) -> Mask {
        self.mask
    }
}
