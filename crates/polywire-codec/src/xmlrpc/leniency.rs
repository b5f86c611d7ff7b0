//! What a reader of XML-RPC lets pass beside what is right.

/// What is read although it is wrong: each switch for a mistake that real peers
/// make. All are off by default.
///
/// A switch changes what is read, never how errors are told, and nothing that is
/// right is read otherwise because of it.
///
/// | switch | reads | sent by |
/// |---|---|---|
/// | `control_characters` | control characters, U+FFFE, U+FFFF and `]]>` in text | supervisord, for logs with colours; Python |
/// | `bare_multicall` | results of `system.multicall` that are not wrapped in arrays of one | supervisord |
/// | `boolean_words` | `true` and `false` in any case | hand-written servers |
/// | `wide_ints` | integers beyond the range of their tag | Node's `xmlrpc`, `<int>3000000000</int>` |
/// | `odd_dates` | dates without a time, dashes with or without colons, `T24:00:00` | hand-written servers, WordPress |
/// | `zero_dates` | the date `00000000T00:00:00Z` as nil | WordPress, for a draft without a date |
/// | `array_structs` | an empty array as an empty struct | PHP, which has one type for both |
/// | `padded_scalars` | white space around numbers, booleans and dates | servers that indent |
/// | `empty_numbers` | an empty number as 0 | libiqxmlrpc's option of the same purpose |
/// | `missing_params` | a response without a value as nil | servers without a result |
/// | `string_fault_codes` | a fault whose code is text, as one with the code 0 | Odoo |
/// | `leading_space` | white space before the XML declaration | WordPress, where a plugin's file begins with it |
/// | `surrogate_pairs` | a character beyond U+FFFF as references to its two surrogates | Apache's XML-RPC for Java, for emoji |
/// | `foreign_encodings` | documents in other encodings than UTF-8 ([`to_utf8`](super::to_utf8)) | PHP, `iso-8859-1` |
///
/// ```
/// use polywire_codec::xmlrpc::{Leniency, XmlRpcProfile};
///
/// let supervisord = Leniency::STRICT
///     .with_control_characters(true)
///     .with_bare_multicall(true);
/// let profile = XmlRpcProfile::DEFAULT.with_leniency(supervisord);
/// assert!(profile.leniency.control_characters());
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Leniency(u16);

macro_rules! switches {
    ($($(#[$doc:meta])* $bit:literal $name:ident $with:ident;)*) => {
        impl Leniency {
            /// The names of all switches, in alphabetical order.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Every switch on.
            pub const ALL: Self = Self($((1 << $bit))|*);

            /// The same with the switch of this name on; nothing if there is none.
            #[must_use]
            pub fn with_name(self, name: &str) -> Option<Self> {
                match name {
                    $(stringify!($name) => Some(self.$with(true)),)*
                    _ => None,
                }
            }

            $(
                #[doc = concat!("Whether the switch `", stringify!($name), "` is on.")]
                #[inline]
                #[must_use]
                pub const fn $name(self) -> bool {
                    self.0 & (1 << $bit) != 0
                }

                $(#[$doc])*
                #[must_use]
                pub const fn $with(self, on: bool) -> Self {
                    if on {
                        Self(self.0 | (1 << $bit))
                    } else {
                        Self(self.0 & !(1 << $bit))
                    }
                }
            )*
        }
    };
}

switches! {
    /// An empty array where a struct is expected, as one without members. An array with
    /// items stays an error, and so does a struct where an array is expected. A reader
    /// without a schema or type expects neither, and reads an array.
    12 array_structs with_array_structs;
    /// Results of `system.multicall` that are not wrapped in arrays of one: any
    /// value but a fault's struct is then a result. A reply is wrapped or bare as a
    /// whole: where one result is no array of one, none is unwrapped. A reply in
    /// which all results are arrays of one is taken for a wrapped one.
    0 bare_multicall with_bare_multicall;
    /// `true` and `false` in any case for 1 and 0. Numbers other than 1 and 0
    /// stay errors.
    1 boolean_words with_boolean_words;
    /// What XML 1.0 forbids in text: control characters, raw or as references,
    /// U+FFFE and U+FFFF, and `]]>`.
    2 control_characters with_control_characters;
    /// A number without digits as 0, as some writers put an unset number.
    3 empty_numbers with_empty_numbers;
    /// Documents in other encodings. It is [`to_utf8`](super::to_utf8) that reads
    /// them, before a reader sees them.
    4 foreign_encodings with_foreign_encodings;
    /// White space before the XML declaration, also between a byte order mark and the
    /// declaration.
    10 leading_space with_leading_space;
    /// A response with neither a value nor a fault as nil.
    5 missing_params with_missing_params;
    /// Dates in forms that are neither the specification's nor ISO 8601 of the
    /// same shape: without a time, with dashes and without colons, and the end
    /// of a day as 24:00:00. Days that no month has stay errors.
    6 odd_dates with_odd_dates;
    /// White space around the text of numbers, booleans and dates.
    7 padded_scalars with_padded_scalars;
    /// A fault whose `faultCode` is a string that is no number. It has the code 0, and
    /// that string stands before its text ([`fault_parts`](super::fault_parts)).
    13 string_fault_codes with_string_fault_codes;
    /// A character beyond U+FFFF as two character references, the first to a high
    /// surrogate and the second to a low one. One without the other stays an error.
    9 surrogate_pairs with_surrogate_pairs;
    /// Integers that the range of their tag does not have, such as an `int`
    /// beyond 32 bits.
    8 wide_ints with_wide_ints;
    /// The date `00000000T00:00:00Z`, which is no date, as nil.
    11 zero_dates with_zero_dates;
}

impl Leniency {
    /// Every switch off.
    pub const STRICT: Self = Self(0);

    /// Whether every switch is off.
    #[inline]
    #[must_use]
    pub const fn is_strict(self) -> bool {
        self.0 == 0
    }
}

/// What a member means that comes twice in a struct.
///
/// Peers disagree: Perl takes the first, Python, PHP, Node, xmlrpc-c and Ruby the
/// last. What one reader checks and another uses may so be two things, which is
/// why it is an error by default.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Duplicates {
    /// An error.
    #[default]
    Refuse,
    /// The first counts, others are passed over.
    First,
    /// The last counts, those before are passed over.
    Last,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_apart() {
        for name in Leniency::NAMES {
            let one = Leniency::STRICT.with_name(name).unwrap();
            assert_eq!(one.0.count_ones(), 1, "{name}");
        }
        let all = Leniency::NAMES
            .iter()
            .try_fold(Leniency::STRICT, |all, name| all.with_name(name));
        assert_eq!(all, Some(Leniency::ALL));
        assert!(!Leniency::ALL.with_wide_ints(false).wide_ints());
        assert!(Leniency::NAMES.is_sorted());
        assert_eq!(Leniency::STRICT.with_name("everything"), None);
    }
}
