//! Which violations of the specification the decoder accepts.

/// Switches for violations of the specification that existing peers send. All are off by default.
///
/// A switch accepts what its row of the table describes, which is an error without the switch. It
/// does not change how anything else is read.
///
/// | switch | accepts | sent by |
/// |---|---|---|
/// | `control_characters` | control characters, U+FFFE, U+FFFF and `]]>` in text | supervisord, for logs with colours; Python |
/// | `bare_multicall` | results of `system.multicall` that are not wrapped in arrays with one item | supervisord |
/// | `boolean_words` | `true` and `false` in any case | hand-written servers |
/// | `wide_ints` | integers outside the range of their type | Node's `xmlrpc`, `<int>3000000000</int>` |
/// | `odd_dates` | dates without a time, seconds or colons, and the time `24:00:00` | hand-written servers, WordPress |
/// | `zero_dates` | the date `00000000T00:00:00Z` as nil | WordPress, for a draft without a date |
/// | `array_structs` | an empty array as an empty struct | PHP, which has one type for both |
/// | `padded_scalars` | white space around numbers, booleans and dates | servers that indent |
/// | `empty_numbers` | an empty number as 0 | peers for which libiqxmlrpc has such an option |
/// | `missing_params` | a response without a value as nil | servers without a result |
/// | `string_fault_codes` | a fault whose code is text, as a fault with the code 0 | Odoo |
/// | `leading_space` | white space before the XML declaration | WordPress, where a plugin's file begins with it |
/// | `surrogate_pairs` | a character above U+FFFF as references to its two surrogates | Apache's XML-RPC for Java, for emoji |
/// | `foreign_encodings` | documents in encodings other than UTF-8 ([`to_utf8`](super::to_utf8)) | PHP, `iso-8859-1` |
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

            /// Turns on the switch with this name. Returns `None` if there is none.
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
    /// Accepts an empty array as a struct without members, where a struct is expected. An array
    /// with items is still an error, and so is a struct where an array is expected. Without a
    /// schema or a type, an empty array is an array.
    12 array_structs with_array_structs;
    /// Accepts results of `system.multicall` that are not wrapped in arrays with one item. If any
    /// result is not wrapped, the decoder unwraps none. If all results are arrays with one item,
    /// it unwraps all.
    0 bare_multicall with_bare_multicall;
    /// Accepts `true` and `false`, in upper or lower case, as booleans. Numbers other than 1 and 0
    /// are still errors.
    1 boolean_words with_boolean_words;
    /// Accepts in text what XML 1.0 forbids: control characters, also as references, U+FFFE, U+FFFF
    /// and `]]>`.
    2 control_characters with_control_characters;
    /// Accepts a number without digits as 0.
    3 empty_numbers with_empty_numbers;
    /// Accepts documents in encodings other than UTF-8. The caller converts them with
    /// [`to_utf8`](super::to_utf8) before decoding.
    4 foreign_encodings with_foreign_encodings;
    /// Accepts white space before the XML declaration, also after a byte order mark.
    10 leading_space with_leading_space;
    /// Accepts a response without a value or fault as the result nil.
    5 missing_params with_missing_params;
    /// Accepts dates in other forms than that of the specification and ISO 8601: without a time,
    /// without seconds, without colons, or with the time 24:00:00 as the end of the day. Days that a
    /// month does not have are still errors.
    6 odd_dates with_odd_dates;
    /// Accepts white space around the text of numbers, booleans and dates.
    7 padded_scalars with_padded_scalars;
    /// Accepts a fault whose `faultCode` is a string other than a number. The code is 0, and the
    /// string becomes a prefix of the text of the fault ([`fault_parts`](super::fault_parts)).
    13 string_fault_codes with_string_fault_codes;
    /// Accepts a character above U+FFFF as two character references: a high surrogate followed by a
    /// low surrogate. A single surrogate is still an error.
    9 surrogate_pairs with_surrogate_pairs;
    /// Accepts integers outside the range of their type, such as an `int` of more than 32 bits.
    8 wide_ints with_wide_ints;
    /// Accepts the invalid date `00000000T00:00:00Z` as nil.
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

/// What happens to duplicate members of a struct.
///
/// Perl uses the first one. Python, PHP, Node, xmlrpc-c and Ruby use the last one. So a proxy may
/// check one value while the server behind it uses the other. Duplicates are therefore an error by
/// default.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Duplicates {
    /// An error.
    #[default]
    Reject,
    /// The first member is used, the others are skipped.
    First,
    /// The last member is used, the others are skipped.
    Last,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_distinct() {
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
