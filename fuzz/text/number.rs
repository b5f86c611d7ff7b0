//! As integers and floating-point numbers.

use polywire::text::number::{
    self, Decimal, Grammar, Integer, NonFinite, Spelling, decimal_prefix, float_prefix,
    integer_prefix,
};
use polywire::text::reference::number as twin;
