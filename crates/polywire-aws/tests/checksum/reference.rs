//! CRCs bit by bit, as their definitions say, beside the library's; and checksums of any split of the data.

use polywire_aws::checksum::{Algorithm, Checksum, FullObjectChecksum, Hasher};
use proptest::collection::vec;
use proptest::prelude::*;

/// A reflected CRC: the polynomial has its lowest power in the highest of `bits` bits.
fn crc(polynomial: u64, bits: u32, data: &[u8]) -> u64 {
    let ones = u64::MAX >> (64 - bits);
    let mut state = ones;
    for &byte in data {
        state ^= u64::from(byte);
        for _ in 0..8 {
            let subtract = state & 1 == 1;
            state >>= 1;
            if subtract {
                state ^= polynomial;
            }
        }
    }
    state ^ ones
}

fn reference(algorithm: Algorithm, data: &[u8]) -> Vec<u8> {
    let (polynomial, bits) = match algorithm {
        Algorithm::Crc32 => (0xedb8_8320, 32),
        Algorithm::Crc32c => (0x82f6_3b78, 32),
        Algorithm::Crc64Nvme => (0x9a6c_9329_ac4b_c9b5, 64),
        other => unreachable!("{other} is not a CRC"),
    };
    let bytes = crc(polynomial, bits, data).to_be_bytes();
    bytes[8 - algorithm.len()..].to_vec()
}

const CRCS: [Algorithm; 3] = [Algorithm::Crc32, Algorithm::Crc32c, Algorithm::Crc64Nvme];

proptest! {
    #[test]
    fn crcs_are_those_of_the_definition(data in vec(any::<u8>(), 0..600)) {
        for algorithm in CRCS {
            let checksum = Checksum::of(algorithm, &data);
            prop_assert_eq!(checksum.as_bytes(), reference(algorithm, &data));
        }
    }

    #[test]
    fn the_split_does_not_matter(pieces in vec(vec(any::<u8>(), 0..300), 0..8)) {
        for algorithm in Algorithm::ALL {
            let mut hasher = Hasher::new(algorithm);
            for piece in &pieces {
                hasher.update(piece);
            }
            prop_assert_eq!(hasher.finish(), Checksum::of(algorithm, &pieces.concat()));
        }
    }

    #[test]
    fn combined_parts_are_the_whole(parts in vec(vec(any::<u8>(), 0..300), 0..8)) {
        for algorithm in CRCS {
            let mut object = FullObjectChecksum::new(algorithm).unwrap();
            for part in &parts {
                object.add(&Checksum::of(algorithm, part), part.len() as u64).unwrap();
            }
            prop_assert_eq!(object.len(), parts.concat().len() as u64);
            prop_assert_eq!(object.finish(), Checksum::of(algorithm, &parts.concat()));
        }
    }
}
