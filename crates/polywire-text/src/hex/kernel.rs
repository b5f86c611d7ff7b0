//! The loops of hexadecimal.
//!
//! Encoding splits each byte into nibbles, high before low, and adds `0` to each, plus the gap
//! between `9` and `a` if it is above 9.
//!
//! Decoding computes the value of each byte as a decimal digit and as a letter, at least one of
//! which is 16 or more, and takes the minimum. The values of the whole input are combined by "or",
//! and one test at the end tells whether all bytes were digits, as only values of 16 or more set a
//! high bit.
//!
//! Blocks have 32 bytes with AVX2, and 16 or 8 bytes with SSE2. The last block overlaps the one
//! before, so there is no remainder. Inputs of fewer than eight bytes, and other processors, use a
//! loop over bytes.

use std::mem::MaybeUninit;

use super::Case;

/// The gap between `9` and `a`.
const GAP: u8 = b'a' - b'9' - 1;

/// Initialises all bytes of `out`, which must be twice as long as `bytes`.
#[inline]
pub(super) fn encode(bytes: &[u8], out: &mut [MaybeUninit<u8>]) {
    assert!(out.len() == 2 * bytes.len(), "two digits per byte");
    #[cfg(target_arch = "x86_64")]
    {
        if bytes.len() >= 32
            && let Some(avx2) = crate::cpu::avx2()
        {
            return x86::encode_long(bytes, out, avx2);
        }
        // SAFETY: SSE2 is part of every x86-64 target.
        unsafe { x86::encode_short(bytes, out) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    encode_bytes(bytes, out);
}

/// Initialises all bytes of `out`, which must be half as long as `text`. Returns whether all of
/// `text` are digits of this case.
#[inline]
#[must_use]
pub(super) fn decode(text: &[u8], out: &mut [MaybeUninit<u8>], case: Case) -> bool {
    assert!(text.len() / 2 == out.len(), "two digits per byte");
    let letters = Letters::of(case);
    #[cfg(target_arch = "x86_64")]
    {
        if out.len() >= 32
            && let Some(avx2) = crate::cpu::avx2()
        {
            return x86::decode_long(text, out, letters, avx2);
        }
        // SAFETY: SSE2 is part of every x86-64 target.
        unsafe { x86::decode_short(text, out, letters) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    decode_bytes(text, out, letters)
}

/// See [`decode_items`](super::decode_items).
#[inline]
pub(super) fn decode_items(
    list: &[u8],
    out: &mut [MaybeUninit<u8>],
    size: usize,
    case: Case,
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if size >= 32
        && let Some(avx2) = crate::cpu::avx2()
    {
        return x86::decode_items_long(list, out, size, Letters::of(case), avx2);
    }
    let _ = (list, out, size, case);
    0
}

/// The value of a digit of this case.
pub(super) fn value(digit: u8, case: Case) -> Option<u8> {
    let value = Letters::of(case).value(digit);
    (value < 16).then_some(value)
}

/// The letters of a case: a byte is a letter if `byte | fold` is within `first` to `first + 5`.
#[derive(Clone, Copy)]
struct Letters {
    fold: u8,
    first: u8,
}

impl Letters {
    #[inline(always)]
    const fn of(case: Case) -> Self {
        let (fold, first) = match case {
            // Converts upper case to lower case, and no other byte to a letter.
            Case::Any => (0x20, b'a'),
            Case::Lower => (0, b'a'),
        };
        Self { fold, first }
    }

    /// The value of a digit; 16 or more for any other byte.
    #[inline(always)]
    const fn value(self, digit: u8) -> u8 {
        let decimal = digit.wrapping_sub(b'0');
        let letter = (digit | self.fold).wrapping_sub(self.first);
        if decimal < 10 {
            decimal
        } else {
            letter.saturating_add(10)
        }
    }
}

fn encode_bytes(bytes: &[u8], out: &mut [MaybeUninit<u8>]) {
    let digit = |nibble: u8| nibble + b'0' + if nibble > 9 { GAP } else { 0 };
    let (pairs, _) = out.as_chunks_mut::<2>();
    for (byte, [high, low]) in bytes.iter().zip(pairs) {
        high.write(digit(byte >> 4));
        low.write(digit(byte & 15));
    }
}

fn decode_bytes(text: &[u8], out: &mut [MaybeUninit<u8>], letters: Letters) -> bool {
    let mut all = 0;
    let (pairs, _) = text.as_chunks::<2>();
    for ([high, low], byte) in pairs.iter().zip(out) {
        let (high, low) = (letters.value(*high), letters.value(*low));
        all |= high | low;
        byte.write(high << 4 | low & 15);
    }
    all < 16
}

/// Blocks in registers of 16 and 32 bytes.
///
/// SSE2 is part of every x86-64 target; calls of AVX2 functions need an [`Avx2`](crate::cpu::Avx2).
/// Other unsafe code is only in loads and stores, which take pointers.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::mem::MaybeUninit;

    use super::{GAP, Letters, decode_bytes, encode_bytes};
    use crate::cpu::Avx2;

    type Space<const N: usize> = [MaybeUninit<u8>; N];

    #[inline]
    pub(super) fn encode_long(bytes: &[u8], out: &mut [MaybeUninit<u8>], _avx2: Avx2) {
        // SAFETY: an `Avx2` proves that the processor has the features of the function.
        unsafe { encode_avx2(bytes, out) }
    }

    #[inline]
    pub(super) fn decode_long(
        text: &[u8],
        out: &mut [MaybeUninit<u8>],
        letters: Letters,
        _avx2: Avx2,
    ) -> bool {
        // SAFETY: an `Avx2` proves that the processor has the features of the function.
        unsafe { decode_avx2(text, out, letters) }
    }

    #[inline]
    pub(super) fn decode_items_long(
        list: &[u8],
        out: &mut [MaybeUninit<u8>],
        size: usize,
        letters: Letters,
        _avx2: Avx2,
    ) -> usize {
        // SAFETY: an `Avx2` proves that the processor has the features of the function.
        unsafe { decode_items_avx2(list, out, size, letters) }
    }

    /// Items of at least 32 bytes. One function for all items, so that constants are loaded once.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn decode_items_avx2(
        list: &[u8],
        out: &mut [MaybeUninit<u8>],
        size: usize,
        letters: Letters,
    ) -> usize {
        let mut count = 0;
        let items = list.chunks_exact(size.saturating_mul(2).saturating_add(3));
        for (text, item) in items.zip(out.chunks_exact_mut(size)) {
            let [b'"', digits @ .., b'"', b','] = text else {
                break;
            };
            if !decode_avx2(digits, item, letters) {
                break;
            }
            count += 1;
        }
        count
    }

    /// At least 32 bytes, in blocks of 32; `out` is twice as long.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn encode_avx2(bytes: &[u8], out: &mut [MaybeUninit<u8>]) {
        let low_bits = _mm256_set1_epi8(0x0f);
        let digits = digits();
        let encode = |bytes: &[u8; 32], out: &mut Space<64>| {
            // Quarters in the order 0 2 1 3. Unpacking, which works on each half of a register,
            // restores the order.
            let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(load_32(bytes));
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low_bits);
            let low = _mm256_and_si256(bytes, low_bits);
            let high = _mm256_shuffle_epi8(digits, high);
            let low = _mm256_shuffle_epi8(digits, low);
            let (halves, _) = out.as_chunks_mut();
            store_32(&mut halves[0], _mm256_unpacklo_epi8(high, low));
            store_32(&mut halves[1], _mm256_unpackhi_epi8(high, low));
        };
        if let (Some(bytes), Some(out)) = (bytes.last_chunk(), out.last_chunk_mut()) {
            encode(bytes, out);
        }
        // The last block is done.
        let (blocks, _) = bytes[..bytes.len().saturating_sub(1)].as_chunks();
        for (bytes, out) in blocks.iter().zip(out.as_chunks_mut().0) {
            encode(bytes, out);
        }
    }

    /// The sixteen digits, in both halves.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn digits() -> __m256i {
        let order = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        _mm256_broadcastsi128_si256(digits_of(order))
    }

    /// At least 64 digits, in blocks of 64; `out` is half as long.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn decode_avx2(text: &[u8], out: &mut [MaybeUninit<u8>], letters: Letters) -> bool {
        let fold = _mm256_set1_epi8(letters.fold.cast_signed());
        let first = _mm256_set1_epi8(letters.first.cast_signed());
        let splat = |byte: u8| _mm256_set1_epi8(byte.cast_signed());
        // As the function `values_of`, with 32 bytes.
        let values_of = |text| {
            let digit = _mm256_subs_epu8(_mm256_add_epi8(text, splat(0xff - b'9')), splat(6));
            let decimal = _mm256_sub_epi8(digit, splat(0xf0));
            let letter = _mm256_sub_epi8(_mm256_or_si256(text, fold), first);
            _mm256_min_epu8(decimal, _mm256_adds_epu8(letter, splat(10)))
        };
        let mut all = _mm256_setzero_si256();
        let mut decode = |text: &[u8; 64], out: &mut Space<32>| {
            let (chunks, _) = text.as_chunks::<32>();
            let (front, back) = (
                values_of(load_32(&chunks[0])),
                values_of(load_32(&chunks[1])),
            );
            all = _mm256_or_si256(all, _mm256_or_si256(front, back));
            // 16 * high + low, in 16 bits.
            let weights = _mm256_set1_epi16(0x0110);
            let front = _mm256_maddubs_epi16(front, weights);
            let back = _mm256_maddubs_epi16(back, weights);
            // Packing works on each half of a register: the quarters are in the order 0 2 1 3.
            let bytes = _mm256_packus_epi16(front, back);
            store_32(out, _mm256_permute4x64_epi64::<0b11_01_10_00>(bytes));
        };
        if let (Some(text), Some(out)) = (text.last_chunk(), out.last_chunk_mut()) {
            decode(text, out);
        }
        // The last block is done.
        let (blocks, _) = text[..text.len().saturating_sub(1)].as_chunks();
        for (text, out) in blocks.iter().zip(out.as_chunks_mut().0) {
            decode(text, out);
        }
        _mm256_testz_si256(all, splat(0xf0)) == 1
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load_32(bytes: &[u8; 32]) -> __m256i {
        // SAFETY: the reference covers 32 initialised bytes; the load is unaligned.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn store_32(out: &mut Space<32>, bytes: __m256i) {
        // SAFETY: the reference covers 32 writable bytes; the store is unaligned.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), bytes) }
    }

    /// Any number of bytes, in blocks of 16 or 8; `out` is twice as long.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn encode_short(bytes: &[u8], out: &mut [MaybeUninit<u8>]) {
        if let (Some(last), Some(end)) = (bytes.last_chunk(), out.last_chunk_mut()) {
            encode_16(last, end);
            let (blocks, _) = bytes[..bytes.len().saturating_sub(1)].as_chunks();
            for (bytes, out) in blocks.iter().zip(out.as_chunks_mut().0) {
                encode_16(bytes, out);
            }
        } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            if let Some(out) = out.first_chunk_mut() {
                encode_8(first, out);
            }
            if let Some(out) = out.last_chunk_mut() {
                encode_8(last, out);
            }
        } else {
            encode_bytes(bytes, out);
        }
    }

    /// Any number of digits, in blocks of 32 or 16; `out` is half as long.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn decode_short(text: &[u8], out: &mut [MaybeUninit<u8>], letters: Letters) -> bool {
        let mut all = _mm_setzero_si128();
        if let (Some(last), Some(end)) = (text.last_chunk(), out.last_chunk_mut()) {
            decode_32(last, end, letters, &mut all);
            let (blocks, _) = text[..text.len().saturating_sub(1)].as_chunks();
            for (text, out) in blocks.iter().zip(out.as_chunks_mut().0) {
                decode_32(text, out, letters, &mut all);
            }
        } else if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
            if let Some(out) = out.first_chunk_mut() {
                decode_16(first, out, letters, &mut all);
            }
            if let Some(out) = out.last_chunk_mut() {
                decode_16(last, out, letters, &mut all);
            }
        } else {
            return decode_bytes(text, out, letters);
        }
        // Values of 16 or more get a sign bit.
        _mm_movemask_epi8(_mm_adds_epu8(all, splat(0x70))) == 0
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn encode_16(bytes: &[u8; 16], out: &mut Space<32>) {
        let (high, low) = nibbles(load_16(bytes));
        let (high, low) = (digits_of(high), digits_of(low));
        let (halves, _) = out.as_chunks_mut();
        store_16(&mut halves[0], _mm_unpacklo_epi8(high, low));
        store_16(&mut halves[1], _mm_unpackhi_epi8(high, low));
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn encode_8(bytes: &[u8; 8], out: &mut Space<16>) {
        let (high, low) = nibbles(_mm_cvtsi64_si128(i64::from_le_bytes(*bytes)));
        store_16(out, digits_of(_mm_unpacklo_epi8(high, low)));
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn nibbles(bytes: __m128i) -> (__m128i, __m128i) {
        let low_bits = splat(0x0f);
        let high = _mm_and_si128(_mm_srli_epi16::<4>(bytes), low_bits);
        (high, _mm_and_si128(bytes, low_bits))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn digits_of(nibbles: __m128i) -> __m128i {
        let letter = _mm_cmpgt_epi8(nibbles, splat(9));
        let gap = _mm_and_si128(letter, splat(GAP));
        _mm_add_epi8(_mm_add_epi8(nibbles, splat(b'0')), gap)
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn decode_32(text: &[u8; 32], out: &mut Space<16>, letters: Letters, all: &mut __m128i) {
        let (halves, _) = text.as_chunks();
        let front = pairs_of(load_16(&halves[0]), letters, all);
        let back = pairs_of(load_16(&halves[1]), letters, all);
        store_16(out, _mm_packus_epi16(front, back));
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn decode_16(text: &[u8; 16], out: &mut Space<8>, letters: Letters, all: &mut __m128i) {
        let pairs = pairs_of(load_16(text), letters, all);
        let bytes = _mm_cvtsi128_si64(_mm_packus_epi16(pairs, pairs));
        out.copy_from_slice(&bytes.to_le_bytes().map(MaybeUninit::new));
    }

    /// Converts sixteen digits to eight numbers of 16 bits, and adds their values to `all` by "or".
    #[inline]
    #[target_feature(enable = "sse2")]
    fn pairs_of(text: __m128i, letters: Letters, all: &mut __m128i) -> __m128i {
        let values = values_of(text, letters);
        *all = _mm_or_si128(*all, values);
        // The high digit comes first, so it is the low byte of its pair.
        let (high, low) = (_mm_slli_epi16::<4>(values), _mm_srli_epi16::<8>(values));
        _mm_and_si128(_mm_or_si128(high, low), _mm_set1_epi16(0xff))
    }

    /// The value of each digit; 16 or more for any other byte.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn values_of(text: __m128i, letters: Letters) -> __m128i {
        // Moves `0` to `9` to 246 to 255. The saturating subtraction of 6 then leaves all other
        // bytes below 240.
        let digit = _mm_subs_epu8(_mm_add_epi8(text, splat(0xff - b'9')), splat(6));
        let decimal = _mm_sub_epi8(digit, splat(0xf0));
        let letter = _mm_or_si128(text, splat(letters.fold));
        let letter = _mm_sub_epi8(letter, splat(letters.first));
        _mm_min_epu8(decimal, _mm_adds_epu8(letter, splat(10)))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn splat(byte: u8) -> __m128i {
        _mm_set1_epi8(byte.cast_signed())
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn load_16(bytes: &[u8; 16]) -> __m128i {
        // SAFETY: the reference covers 16 initialised bytes; the load is unaligned.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn store_16(out: &mut Space<16>, bytes: __m128i) {
        // SAFETY: the reference covers 16 writable bytes; the store is unaligned.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), bytes) }
    }
}
