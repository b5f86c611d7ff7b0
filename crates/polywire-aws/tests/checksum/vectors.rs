//! Published values: the check values of the catalogue of CRC algorithms, RFC 3720 (CRC32C), the NVM Express
//! specification (CRC64NVME), RFC 1321 (MD5), FIPS 180-4 and its examples (SHA). Facts, not texts.

use polywire_aws::checksum::{Algorithm, Checksum, Hasher};

const CHECK: &[u8] = b"123456789";

#[track_caller]
fn assert_hex(algorithm: Algorithm, data: &[u8], expected: &str) {
    assert_eq!(
        Checksum::of(algorithm, data).to_hex(),
        expected,
        "{algorithm}"
    );
    let mut hasher = Hasher::new(algorithm);
    for byte in data {
        hasher.update(std::slice::from_ref(byte));
    }
    assert_eq!(
        hasher.finish().to_hex(),
        expected,
        "{algorithm}, byte by byte"
    );
}

fn ascending(len: usize) -> Vec<u8> {
    (0..=255).cycle().take(len).collect()
}

fn descending(len: usize, from: u8) -> Vec<u8> {
    (0..=from).rev().cycle().take(len).collect()
}

#[test]
fn crc32() {
    assert_hex(Algorithm::Crc32, b"", "00000000");
    assert_hex(Algorithm::Crc32, CHECK, "cbf43926");
    assert_hex(
        Algorithm::Crc32,
        b"The quick brown fox jumps over the lazy dog",
        "414fa339",
    );
}

#[test]
fn crc32c_of_rfc_3720() {
    assert_hex(Algorithm::Crc32c, b"", "00000000");
    assert_hex(Algorithm::Crc32c, CHECK, "e3069283");
    assert_hex(Algorithm::Crc32c, &[0; 32], "8a9136aa");
    assert_hex(Algorithm::Crc32c, &[0xff; 32], "62a8ab43");
    assert_hex(Algorithm::Crc32c, &ascending(32), "46dd794e");
    assert_hex(Algorithm::Crc32c, &descending(32, 31), "113fdb5c");
}

#[test]
fn crc64_of_nvm_express() {
    assert_hex(Algorithm::Crc64Nvme, b"", "0000000000000000");
    assert_hex(Algorithm::Crc64Nvme, CHECK, "ae8b14860a799888");
    assert_hex(Algorithm::Crc64Nvme, &[0; 4096], "6482d367eb22b64e");
    assert_hex(Algorithm::Crc64Nvme, &[0xff; 4096], "c0ddba7302eca3ac");
    assert_hex(Algorithm::Crc64Nvme, &ascending(4096), "3e729f5f6750449c");
    assert_hex(
        Algorithm::Crc64Nvme,
        &descending(4096, 255),
        "9a2df64b8e9e517e",
    );
}

#[test]
fn md5_of_rfc_1321() {
    assert_hex(Algorithm::Md5, b"", "d41d8cd98f00b204e9800998ecf8427e");
    assert_hex(Algorithm::Md5, b"abc", "900150983cd24fb0d6963f7d28e17f72");
    assert_hex(Algorithm::Md5, CHECK, "25f9e794323b453885f5181f1b624d0b");
    let digits =
        b"12345678901234567890123456789012345678901234567890123456789012345678901234567890";
    assert_hex(Algorithm::Md5, digits, "57edf4a22be3c955ac49da2e2107b67a");
}

#[test]
fn sha1_of_fips_180() {
    assert_hex(
        Algorithm::Sha1,
        b"",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    );
    assert_hex(
        Algorithm::Sha1,
        b"abc",
        "a9993e364706816aba3e25717850c26c9cd0d89d",
    );
    assert_hex(
        Algorithm::Sha1,
        CHECK,
        "f7c3bc1d808e04732adf679965ccc34ca7ae3441",
    );
}

#[test]
fn sha2_of_fips_180() {
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_hex(Algorithm::Sha256, b"", empty);
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_hex(Algorithm::Sha256, b"abc", abc);
    let check = "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225";
    assert_hex(Algorithm::Sha256, CHECK, check);
    let abc = "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
               2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f";
    assert_hex(Algorithm::Sha512, b"abc", abc);
    let check = "d9e6762dd1c8eaf6d61b3c6192fc408d4d6d5f1176d0c29169bc24e71c3f274a\
                 d27fcd5811b313d681f7e55ec02d73d499c95455b6b5bb503acf574fba8ffe85";
    assert_hex(Algorithm::Sha512, CHECK, check);
}

/// The example of S3's documentation of signed trailers.
#[test]
fn the_checksum_of_the_published_body() {
    let checksum = Checksum::of(Algorithm::Crc32c, &vec![b'a'; 66_560]);
    assert_eq!(checksum.to_string(), "sOO8/Q==");
}
