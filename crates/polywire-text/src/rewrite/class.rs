//! Classifies bytes, 16 or 32 at a time.

use crate::block::{Block as _, Block16 as Block};
use crate::cpu;

/// A set of special bytes. Its rows of 16 bytes (`0x00..=0x0f` and so on) may have at most eight
/// different patterns, apart from the empty one.
#[derive(Clone)]
pub(crate) struct Class {
    special: [bool; 256],
    /// A byte is special if `low` of its low half and `bits` of its high half have a bit in common.
    /// Each bit is a pattern of rows.
    low: [u8; 16],
    bits: [u8; 16],
}

/// From this length on, the call of an AVX2 function pays.
const WIDE_FROM: usize = 64;

impl Class {
    /// The class of the marked bytes. Only for constants: it panics, which is a compile error, if
    /// there are too many patterns of rows.
    pub(crate) const fn new(special: [bool; 256]) -> Self {
        let (mut low, mut bits) = ([0; 16], [0; 16]);
        let mut kinds = 0;
        let mut row = 0;
        while row < 16 {
            let mut same = 0;
            while !same_row(&special, row, same) {
                same += 1;
            }
            if same < row {
                bits[row] = bits[same];
            } else if !is_empty(&special, row) {
                assert!(kinds < 8, "too many patterns of rows");
                bits[row] = 1 << kinds;
                kinds += 1;
                let mut column = 0;
                while column < 16 {
                    if special[16 * row + column] {
                        low[column] |= bits[row];
                    }
                    column += 1;
                }
            }
            row += 1;
        }
        Self { special, low, bits }
    }

    #[inline]
    pub(crate) const fn has(&self, byte: u8) -> bool {
        self.special[byte as usize]
    }

    /// The number of bytes before the first special one. `block` must classify 16 bytes equally.
    #[inline]
    pub(crate) fn clean(&self, bytes: &[u8], block: impl Fn(Block) -> Block) -> usize {
        #[cfg(target_arch = "x86_64")]
        if bytes.len() >= WIDE_FROM
            && let Some(avx2) = cpu::avx2()
        {
            return wide::clean_avx2(avx2, self, bytes);
        }
        let mut at = 0;
        while let Some(sixteen) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
            let mask = block(Block::load(sixteen)).mask();
            if mask != 0 {
                return at + mask.trailing_zeros() as usize;
            }
            at += 16;
        }
        match bytes.last_chunk::<16>() {
            // Overlaps bytes that are known not to be special.
            Some(last) => {
                let mask = block(Block::load(last)).mask() | 1 << 16;
                bytes.len() - 16 + mask.trailing_zeros() as usize
            }
            None => self.clean_short(bytes),
        }
    }

    #[inline]
    fn clean_short(&self, bytes: &[u8]) -> usize {
        let is_special = |byte: &u8| self.has(*byte);
        bytes.iter().position(is_special).unwrap_or(bytes.len())
    }
}

const fn same_row(special: &[bool; 256], row: usize, other: usize) -> bool {
    let mut column = 0;
    while column < 16 {
        if special[16 * row + column] != special[16 * other + column] {
            return false;
        }
        column += 1;
    }
    true
}

const fn is_empty(special: &[bool; 256], row: usize) -> bool {
    let mut column = 0;
    while column < 16 {
        if special[16 * row + column] {
            return false;
        }
        column += 1;
    }
    true
}

#[cfg(target_arch = "x86_64")]
pub(super) mod wide {
    use std::arch::x86_64::{
        __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
        _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
        _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_testz_si256,
    };

    use super::Class;
    use crate::cpu::Avx2;

    #[inline]
    pub(super) fn clean_avx2(_: Avx2, class: &Class, bytes: &[u8]) -> usize {
        // SAFETY: an `Avx2` proves that the processor has the features of the function.
        unsafe { clean(class, bytes) }
    }

    /// For at least 32 bytes.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn clean(class: &Class, bytes: &[u8]) -> usize {
        let halves = Halves::new(class);
        let (blocks, _) = bytes.as_chunks::<256>();
        let clean = blocks.iter().take_while(|block| !halves.any(&block[..]));
        let start = 256 * clean.count();
        let (blocks, rest) = bytes[start..].as_chunks::<64>();
        for (index, block) in blocks.iter().enumerate() {
            if halves.any(block) {
                return start + 64 * index + halves.special64(block).trailing_zeros() as usize;
            }
        }
        let start = start + 64 * blocks.len();
        if let Some(block) = rest.first_chunk::<32>()
            && let special @ 1.. = halves.special(block)
        {
            return start + special.trailing_zeros() as usize;
        }
        match bytes.last_chunk::<32>() {
            // Overlaps bytes that are known not to be special.
            Some(last) => bytes.len() - 32 + halves.special(last).trailing_zeros() as usize,
            None => class.clean_short(bytes),
        }
    }

    #[inline(always)]
    fn halves(blocks: &[u8; 64]) -> [&[u8; 32]; 2] {
        let (halves, _) = blocks.as_chunks::<32>();
        [&halves[0], &halves[1]]
    }

    /// A class in registers.
    #[derive(Clone, Copy)]
    pub(in crate::rewrite) struct Halves {
        low: __m256i,
        bits: __m256i,
    }

    impl Halves {
        #[target_feature(enable = "avx2")]
        #[inline]
        pub(in crate::rewrite) fn new(class: &Class) -> Self {
            // SAFETY: each array has 16 bytes; the loads are unaligned.
            let (low, bits) = unsafe {
                (
                    _mm_loadu_si128(class.low.as_ptr().cast()),
                    _mm_loadu_si128(class.bits.as_ptr().cast()),
                )
            };
            Self {
                low: _mm256_broadcastsi128_si256(low),
                bits: _mm256_broadcastsi128_si256(bits),
            }
        }

        /// The entries of the class for both halves of each byte.
        #[target_feature(enable = "avx2")]
        #[inline]
        fn look_up(self, block: &[u8; 32]) -> (__m256i, __m256i) {
            // SAFETY: the reference covers 32 bytes; the load is unaligned.
            let block = unsafe { _mm256_loadu_si256(block.as_ptr().cast()) };
            let half = _mm256_set1_epi8(15);
            let lower = _mm256_and_si256(block, half);
            let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(block), half);
            (
                _mm256_shuffle_epi8(self.low, lower),
                _mm256_shuffle_epi8(self.bits, upper),
            )
        }

        /// Whether any byte of the blocks is special.
        #[target_feature(enable = "avx2")]
        #[inline]
        fn any(self, blocks: &[u8]) -> bool {
            let (blocks, _) = blocks.as_chunks::<32>();
            let mut any = _mm256_setzero_si256();
            for block in blocks {
                let (low, bits) = self.look_up(block);
                any = _mm256_or_si256(any, _mm256_and_si256(low, bits));
            }
            _mm256_testz_si256(any, any) == 0
        }

        /// A bit per byte, the first lowest.
        #[target_feature(enable = "avx2")]
        #[inline]
        fn special64(self, blocks: &[u8; 64]) -> u64 {
            let [first, second] = halves(blocks);
            u64::from(self.special(first)) | u64::from(self.special(second)) << 32
        }

        /// A bit per byte, the first lowest.
        #[target_feature(enable = "avx2")]
        #[inline]
        pub(in crate::rewrite) fn special(self, block: &[u8; 32]) -> u32 {
            let (low, bits) = self.look_up(block);
            let common = _mm256_and_si256(low, bits);
            let clean = _mm256_cmpeq_epi8(common, _mm256_setzero_si256());
            !_mm256_movemask_epi8(clean).cast_unsigned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_has_the_marked_bytes() {
        for seed in 0..6_usize {
            // Rows of at most eight kinds, since their kind is `row % 8`.
            let mut special = [false; 256];
            for (byte, mark) in special.iter_mut().enumerate() {
                *mark = (byte * 7 + (byte / 16 % 8) * seed) % 5 == 0 && byte / 16 % 8 != seed;
            }
            let class = Class::new(special);
            let none = |block: Block| block.without(block);
            for byte in 0..=255_u8 {
                let clean = special.iter().position(|mark| !mark).unwrap_or(0) as u8;
                let mut bytes = [clean; 100];
                bytes[77] = byte;
                let expected = if special[usize::from(byte)] { 77 } else { 100 };
                assert_eq!(class.clean_short(&bytes), expected);
                if cpu::avx2().is_some() {
                    assert_eq!(class.clean(&bytes, none), expected);
                }
            }
        }
    }
}
