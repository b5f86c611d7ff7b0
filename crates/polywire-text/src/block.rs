//! Some bytes at once: sixteen in an SSE2 register, which every x86-64 processor
//! has, or thirty-two in an AVX2 register. Elsewhere sixteen are an array, and the
//! compiler does what it can.
//!
//! A scan says once, over [`Block`], which bytes it looks for; it is compiled for
//! either width.

/// Bytes that are compared all at once. Answers are blocks too: 0xff where it is
/// yes, 0 where it is no.
pub(crate) trait Block: Copy {
    /// Where the byte is this one.
    fn equals(self, byte: u8) -> Self;
    /// Where the bytes of both are the same.
    fn equals_block(self, other: Self) -> Self;
    /// Where the byte is at most this one, unsigned.
    fn at_most(self, byte: u8) -> Self;
    /// The bytes with these bits turned over.
    fn xor(self, byte: u8) -> Self;
    /// The bytes with these bits set.
    fn with(self, bits: u8) -> Self;
    /// The highest bit of each byte, that of the first byte lowest.
    fn mask(self) -> u32;
    /// All bits of both.
    fn or(self, other: Self) -> Self;
    /// The bits that the other has not.
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

    /// Sixteen bytes in a register.
    ///
    /// The one proof below holds for every function of this type: SSE2 is part
    /// of every x86-64 target, so these instructions exist wherever this
    /// module is compiled, and but for the load they touch registers alone.
    #[derive(Clone, Copy)]
    pub(crate) struct Block16(__m128i);

    impl Block16 {
        #[inline(always)]
        pub(crate) fn load(bytes: &[u8; 16]) -> Self {
            // SAFETY: SSE2, see above; the reference covers sixteen readable,
            // initialised bytes; this load asks for no alignment.
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
            // The smaller of both is the byte.
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

    /// Thirty-two bytes in a register.
    ///
    /// The one proof below holds for every function of this type: the only way to
    /// make one is from an [`Avx2`], which only a processor with AVX2 gives out, so
    /// these instructions exist, and but for the load they touch registers alone.
    ///
    /// Functions that use it are to have `#[target_feature]`: only in those does it
    /// become the single instructions that it is meant to be.
    #[derive(Clone, Copy)]
    pub(crate) struct Block32(__m256i);

    impl Block32 {
        #[inline(always)]
        pub(crate) fn load(_: Avx2, bytes: &[u8; 32]) -> Self {
            // SAFETY: AVX2, see above; the reference covers thirty-two readable,
            // initialised bytes; this load asks for no alignment.
            Self(unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) })
        }

        /// For instructions that no other needs.
        #[inline(always)]
        pub(crate) fn register(self) -> __m256i {
            self.0
        }

        #[inline(always)]
        fn splat(self, byte: u8) -> Self {
            // SAFETY: AVX2, see above; there is a block already.
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
            // The smaller of both is the byte.
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

    /// Sixteen bytes.
    #[derive(Clone, Copy)]
    pub(crate) struct Block16([u8; 16]);

    fn yes(answer: bool) -> u8 {
        if answer { 0xff } else { 0 }
    }

    impl Block16 {
        pub(crate) fn load(bytes: &[u8; 16]) -> Self {
            Self(*bytes)
        }
    }

    impl Block for Block16 {
        fn equals(self, byte: u8) -> Self {
            Self(self.0.map(|own| yes(own == byte)))
        }

        fn equals_block(self, other: Self) -> Self {
            Self(std::array::from_fn(|index| {
                yes(self.0[index] == other.0[index])
            }))
        }

        fn at_most(self, byte: u8) -> Self {
            Self(self.0.map(|own| yes(own <= byte)))
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
