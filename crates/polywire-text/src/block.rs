//! Blocks of bytes: 16 in an SSE2 register, which all x86-64 processors have, or 32 in an AVX2
//! register. On other processors, 16 in an array.
//!
//! Code that is generic over [`Block`] is compiled for both widths.

/// A block of bytes. The result of a comparison is a block, too: 0xff for true, 0 for false.
pub(crate) trait Block: Copy {
    /// Which bytes are equal to `byte`.
    fn equals(self, byte: u8) -> Self;
    /// Which bytes are equal to those of `other`.
    fn equals_block(self, other: Self) -> Self;
    /// Which bytes are at most `byte`, unsigned.
    fn at_most(self, byte: u8) -> Self;
    /// The bytes, exclusive or `byte`.
    fn xor(self, byte: u8) -> Self;
    /// The bytes, or `bits`.
    fn with(self, bits: u8) -> Self;
    /// The high bit of each byte, that of the first byte lowest.
    fn mask(self) -> u32;
    /// The bits of both.
    fn or(self, other: Self) -> Self;
    /// The bits that are not in `other`.
    fn without(self, other: Self) -> Self;
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use portable::Block16;
#[cfg(target_arch = "x86_64")]
pub(crate) use sse2::Block16;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Block32;

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::{
        __m128i, _mm_andnot_si128, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8,
        _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8, _mm_xor_si128,
    };

    use super::Block;

    /// 16 bytes in a register.
    ///
    /// The proof of all functions: SSE2 is part of every x86-64 target, so these instructions
    /// exist, and except for the load they only use registers.
    #[derive(Clone, Copy)]
    pub(crate) struct Block16(__m128i);

    impl Block16 {
        #[inline(always)]
        pub(crate) fn load(bytes: &[u8; 16]) -> Self {
            // SAFETY: SSE2, see above; the reference covers 16 initialised bytes; the load is
            // unaligned.
            Self(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
        }

        #[inline(always)]
        fn splat(byte: u8) -> Self {
            // SAFETY: SSE2, see above.
            Self(unsafe { _mm_set1_epi8(byte.cast_signed()) })
        }
    }

    impl Block for Block16 {
        #[inline(always)]
        fn equals(self, byte: u8) -> Self {
            self.equals_block(Self::splat(byte))
        }

        #[inline(always)]
        fn equals_block(self, other: Self) -> Self {
            // SAFETY: SSE2, see above.
            Self(unsafe { _mm_cmpeq_epi8(self.0, other.0) })
        }

        #[inline(always)]
        fn at_most(self, byte: u8) -> Self {
            // True if the minimum of both is the byte itself.
            // SAFETY: SSE2, see above.
            let smaller = Self(unsafe { _mm_min_epu8(self.0, Self::splat(byte).0) });
            self.equals_block(smaller)
        }

        #[inline(always)]
        fn xor(self, byte: u8) -> Self {
            // SAFETY: SSE2, see above.
            Self(unsafe { _mm_xor_si128(self.0, Self::splat(byte).0) })
        }

        #[inline(always)]
        fn with(self, bits: u8) -> Self {
            self.or(Self::splat(bits))
        }

        #[inline(always)]
        fn mask(self) -> u32 {
            // SAFETY: SSE2, see above.
            unsafe { _mm_movemask_epi8(self.0) }.cast_unsigned()
        }

        #[inline(always)]
        fn or(self, other: Self) -> Self {
            // SAFETY: SSE2, see above.
            Self(unsafe { _mm_or_si128(self.0, other.0) })
        }

        #[inline(always)]
        fn without(self, other: Self) -> Self {
            // SAFETY: SSE2, see above.
            Self(unsafe { _mm_andnot_si128(other.0, self.0) })
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_andnot_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8,
        _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_xor_si256,
    };

    use super::Block;
    use crate::cpu::Avx2;

    /// 32 bytes in a register.
    ///
    /// The proof of all functions: a block is only made with an [`Avx2`], which proves that these
    /// instructions exist, and except for the load they only use registers.
    ///
    /// Functions that use it need `#[target_feature]`, so that its methods are inlined as single
    /// instructions.
    #[derive(Clone, Copy)]
    pub(crate) struct Block32(__m256i);

    impl Block32 {
        #[inline(always)]
        pub(crate) fn load(_: Avx2, bytes: &[u8; 32]) -> Self {
            // SAFETY: AVX2, see above; the reference covers 32 initialised bytes; the load is
            // unaligned.
            Self(unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) })
        }

        /// The register, for instructions that only one caller needs.
        #[inline(always)]
        pub(crate) fn register(self) -> __m256i {
            self.0
        }

        #[inline(always)]
        fn splat(self, byte: u8) -> Self {
            // SAFETY: AVX2, see above: `self` exists.
            Self(unsafe { _mm256_set1_epi8(byte.cast_signed()) })
        }
    }

    impl Block for Block32 {
        #[inline(always)]
        fn equals(self, byte: u8) -> Self {
            self.equals_block(self.splat(byte))
        }

        #[inline(always)]
        fn equals_block(self, other: Self) -> Self {
            // SAFETY: AVX2, see above.
            Self(unsafe { _mm256_cmpeq_epi8(self.0, other.0) })
        }

        #[inline(always)]
        fn at_most(self, byte: u8) -> Self {
            // True if the minimum of both is the byte itself.
            // SAFETY: AVX2, see above.
            let smaller = Self(unsafe { _mm256_min_epu8(self.0, self.splat(byte).0) });
            self.equals_block(smaller)
        }

        #[inline(always)]
        fn xor(self, byte: u8) -> Self {
            // SAFETY: AVX2, see above.
            Self(unsafe { _mm256_xor_si256(self.0, self.splat(byte).0) })
        }

        #[inline(always)]
        fn with(self, bits: u8) -> Self {
            self.or(self.splat(bits))
        }

        #[inline(always)]
        fn mask(self) -> u32 {
            // SAFETY: AVX2, see above.
            unsafe { _mm256_movemask_epi8(self.0) }.cast_unsigned()
        }

        #[inline(always)]
        fn or(self, other: Self) -> Self {
            // SAFETY: AVX2, see above.
            Self(unsafe { _mm256_or_si256(self.0, other.0) })
        }

        #[inline(always)]
        fn without(self, other: Self) -> Self {
            // SAFETY: AVX2, see above.
            Self(unsafe { _mm256_andnot_si256(other.0, self.0) })
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod portable {
    use super::Block;

    /// 16 bytes.
    #[derive(Clone, Copy)]
    pub(crate) struct Block16([u8; 16]);

    fn byte_of(condition: bool) -> u8 {
        if condition { 0xff } else { 0 }
    }

    impl Block16 {
        pub(crate) fn load(bytes: &[u8; 16]) -> Self {
            Self(*bytes)
        }
    }

    impl Block for Block16 {
        fn equals(self, byte: u8) -> Self {
            Self(self.0.map(|own| byte_of(own == byte)))
        }

        fn equals_block(self, other: Self) -> Self {
            Self(std::array::from_fn(|index| {
                byte_of(self.0[index] == other.0[index])
            }))
        }

        fn at_most(self, byte: u8) -> Self {
            Self(self.0.map(|own| byte_of(own <= byte)))
        }

        fn xor(self, byte: u8) -> Self {
            Self(self.0.map(|own| own ^ byte))
        }

        fn with(self, bits: u8) -> Self {
            Self(self.0.map(|own| own | bits))
        }

        fn mask(self) -> u32 {
            self.0.iter().enumerate().fold(0, |mask, (index, byte)| {
                mask | (u32::from(byte >> 7) << index)
            })
        }

        fn or(self, other: Self) -> Self {
            Self(std::array::from_fn(|index| self.0[index] | other.0[index]))
        }

        fn without(self, other: Self) -> Self {
            Self(std::array::from_fn(|index| self.0[index] & !other.0[index]))
        }
    }
}
