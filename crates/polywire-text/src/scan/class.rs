//! The classes of special bytes.

use crate::block::Block;

/// The bytes at which a scan stops.
pub(super) trait Class {
    /// Whether the byte is in the class.
    fn ends(byte: u8) -> bool;
    /// The bytes of a block that are in the class. Only the high bits of the result are defined.
    fn find<B: Block>(block: B) -> B;
}

/// Bytes that end a JSON string or need an escape.
pub(super) struct Json;

impl Class for Json {
    #[inline(always)]
    fn ends(byte: u8) -> bool {
        byte == b'"' || byte == b'\\' || byte < 0x20
    }

    #[inline(always)]
    fn find<B: Block>(block: B) -> B {
        // With bit 1 inverted, `"` (0x22) becomes 0x20, and control characters stay below it.
        block.xor(0x02).at_most(0x20).or(block.equals(b'\\'))
    }
}

/// The end of a value in a form.
pub(super) struct FormValue;

impl Class for FormValue {
    #[inline(always)]
    fn ends(byte: u8) -> bool {
        byte == b'&'
    }

    #[inline(always)]
    fn find<B: Block>(block: B) -> B {
        block.equals(b'&')
    }
}

/// The end of a key in a form.
pub(super) struct FormKey;

impl Class for FormKey {
    #[inline(always)]
    fn ends(byte: u8) -> bool {
        byte == b'&' || byte == b'='
    }

    #[inline(always)]
    fn find<B: Block>(block: B) -> B {
        block.equals(b'&').or(block.equals(b'='))
    }
}

/// Markup, and control characters that readers must handle: see [`xml_data`](super::xml_data).
pub(super) struct XmlData;

impl Class for XmlData {
    #[inline(always)]
    fn ends(byte: u8) -> bool {
        byte == b'<' || byte == b'&' || (byte < 0x20 && byte != b'\t' && byte != b'\n')
    }

    #[inline(always)]
    fn find<B: Block>(block: B) -> B {
        let control = block.at_most(0x1f);
        let space = block.equals(b'\t').or(block.equals(b'\n'));
        block
            .equals(b'<')
            .or(block.equals(b'&'))
            .or(control.without(space))
    }
}

/// [`XmlData`], `>`, and the first byte of U+FFFE and U+FFFF: see [`xml_text`](super::xml_text).
pub(super) struct XmlText;

impl Class for XmlText {
    #[inline(always)]
    fn ends(byte: u8) -> bool {
        matches!(byte, b'>' | 0xef) || XmlData::ends(byte)
    }

    #[inline(always)]
    fn find<B: Block>(block: B) -> B {
        let other = block.equals(b'>').or(block.equals(0xef));
        other.or(XmlData::find(block))
    }
}

/// [`XmlText`], tabs and line feeds, which takes fewer instructions.
pub(super) struct NotPlainXml;

impl Class for NotPlainXml {
    #[inline(always)]
    fn ends(byte: u8) -> bool {
        byte <= 0x1f || XmlText::ends(byte)
    }

    #[inline(always)]
    fn find<B: Block>(block: B) -> B {
        // `<` and `>` differ in bit 1.
        let tags = block.with(2).equals(b'>');
        let others = block.equals(b'&').or(block.equals(0xef));
        tags.or(others).or(block.at_most(0x1f))
    }
}

/// Bytes that cannot be in an XML name: see [`xml_name`](super::xml_name).
pub(super) struct NoName;

impl Class for NoName {
    #[inline(always)]
    fn ends(byte: u8) -> bool {
        let sign = matches!(byte, b'-' | b'.' | b'_');
        byte.is_ascii() && !byte.is_ascii_alphanumeric() && !sign
    }

    #[inline(always)]
    fn find<B: Block>(block: B) -> B {
        let range = |first: u8, last: u8| block.at_most(last).without(block.at_most(first - 1));
        let letter = range(b'A', b'Z').or(range(b'a', b'z'));
        // `-` to `9`, without `/`.
        let digit = range(b'-', b'9').without(block.equals(b'/'));
        let allowed = letter.or(digit).or(block.equals(b'_'));
        block.at_most(0x7f).without(allowed)
    }
}

/// All bytes except white space.
pub(super) struct Solid;

impl Class for Solid {
    #[inline(always)]
    fn ends(byte: u8) -> bool {
        !matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
    }

    #[inline(always)]
    fn find<B: Block>(block: B) -> B {
        let space = block
            .equals(b' ')
            .or(block.equals(b'\n'))
            .or(block.equals(b'\r'))
            .or(block.equals(b'\t'));
        // All ones, without these.
        block.equals_block(block).without(space)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Block16;

    fn definitions_agree<C: Class>() {
        for byte in 0..=u8::MAX {
            let found = C::find(Block16::load(&[byte; 16])).mask();
            assert_eq!(found, if C::ends(byte) { 0xffff } else { 0 }, "{byte:#04x}");
        }
    }

    #[test]
    fn both_definitions_of_a_class_agree() {
        definitions_agree::<Json>();
        definitions_agree::<XmlData>();
        definitions_agree::<Solid>();
        definitions_agree::<NoName>();
        definitions_agree::<XmlText>();
        definitions_agree::<NotPlainXml>();
    }
}
