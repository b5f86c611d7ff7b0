//! What it costs to sign a request with a body of 1 KB, compared with its hashes alone.
//!
//! ```text
//! cargo bench -p polywire-aws --bench signature                   times, and their ratios
//! cargo bench -p polywire-aws --bench signature -- CASE COUNT     one case, to count instructions
//! ```
//!
//! | case | does |
//! |---|---|
//! | `hashes` | SHA-256 of the body and of the canonical request, one HMAC of the string to sign |
//! | `sign` | `sign_request` with a key of the cache, and the SHA-256 of the body |
//! | `hashes-derive` | as `hashes`, with the four HMACs that derive the key |
//! | `sign-derive` | as `sign`, with a derived key |
//! | `verify` | `SignedRequest::parse` and `Verifier::verify`, and the SHA-256 of the body |
//! | `head` | clones the head of the request, which `sign` must do too before it signs |
#![allow(clippy::print_stdout, reason = "a benchmark prints its results")]
#![allow(clippy::unwrap_used, reason = "a benchmark ends at the first mistake")]

use std::hint::black_box;
use std::time::Instant;

use hmac::{Hmac, KeyInit as _, Mac as _};
use polywire_aws::signature::{
    Credentials, KeyCache, Payload, Settings, SignedRequest, SigningKey, SigningTime, Verifier,
    sign_request,
};
use polywire_text::Timestamp;
use sha2::{Digest as _, Sha256};

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const REGION: &str = "us-east-1";
const SERVICE: &str = "dynamodb";

/// A call as an SDK sends it.
struct Setup {
    body: Vec<u8>,
    parts: http::request::Parts,
    signed: http::request::Parts,
    credentials: Credentials,
    time: SigningTime,
    cache: KeyCache,
    verifier: Verifier,
    canonical_request: Vec<u8>,
    string_to_sign: Vec<u8>,
    mac: Hmac<Sha256>,
    signature: String,
}

impl Setup {
    fn new() -> Self {
        let body = vec![b'x'; 1024];
        let request = http::Request::post("https://dynamodb.us-east-1.amazonaws.com/")
            .header("content-type", "application/x-amz-json-1.0")
            .header("content-length", "1024")
            .header("x-amz-target", "DynamoDB_20120810.PutItem")
            .header(
                "amz-sdk-invocation-id",
                "0d8f5f6c-b03a-4a36-bb6e-7bd0a0bd5a6c",
            )
            .header("amz-sdk-request", "attempt=1; max=3")
            .header("user-agent", "polywire/0.1.0");
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let credentials = Credentials::new("AKIDEXAMPLE", SECRET);
        let time = SigningTime::parse("20150830T123600Z").unwrap();
        let key = SigningKey::derive(&credentials, time.date(), REGION, SERVICE);
        let mut signed = parts.clone();
        let payload = Payload::of(&body);
        let signature = sign_request(&mut signed, payload, &key, &Settings::STANDARD, time);

        // The verifier reports what it has hashed if the key is wrong.
        let wrong = Credentials::new("AKIDEXAMPLE", "");
        let wrong = SigningKey::derive(&wrong, time.date(), REGION, SERVICE);
        let verifier = Verifier::new(SERVICE).with_region(REGION);
        let request = SignedRequest::parse(&signed).unwrap();
        let hash = Sha256::digest(&body).into();
        let now = Timestamp::new(time.seconds(), 0);
        let error = verifier
            .verify(&request, &wrong, now, Some(&hash))
            .unwrap_err();
        let canonical_request = error.canonical_request().to_vec();
        let string_to_sign = error.string_to_sign().to_vec();
        let mut setup = Self {
            body,
            parts,
            signed,
            credentials,
            time,
            cache: KeyCache::default(),
            verifier,
            canonical_request,
            string_to_sign,
            mac: derive(),
            signature: signature.unwrap().to_string(),
        };
        setup.check();
        setup
    }

    /// All cases must have the signature of the hashes.
    fn check(&mut self) {
        let hex = |bytes: [u8; 32]| {
            let mut text = Vec::new();
            polywire_text::hex::push(&mut text, &bytes);
            String::from_utf8(text).unwrap()
        };
        assert_eq!(hex(self.hashes()), self.signature);
        assert_eq!(hex(self.hashes_derive()), self.signature);
        for parts in [self.sign(), self.sign_derive()] {
            let value = parts.headers["authorization"].to_str().unwrap();
            assert!(value.ends_with(&self.signature));
        }
        assert!(self.verify());
    }

    fn hashes_with(&self, mut mac: Hmac<Sha256>) -> [u8; 32] {
        black_box(Sha256::digest(black_box(&self.body)));
        black_box(Sha256::digest(black_box(&self.canonical_request)));
        mac.update(black_box(&self.string_to_sign));
        mac.finalize().into_bytes().into()
    }

    fn hashes(&self) -> [u8; 32] {
        self.hashes_with(self.mac.clone())
    }

    fn hashes_derive(&self) -> [u8; 32] {
        self.hashes_with(derive())
    }

    fn sign(&mut self) -> http::request::Parts {
        let key = self
            .cache
            .key(&self.credentials, self.time, REGION, SERVICE);
        self.sign_with(&key)
    }

    fn sign_derive(&self) -> http::request::Parts {
        let date = self.time.date();
        self.sign_with(&SigningKey::derive(
            &self.credentials,
            date,
            REGION,
            SERVICE,
        ))
    }

    fn sign_with(&self, key: &SigningKey) -> http::request::Parts {
        let mut parts = self.parts.clone();
        let payload = Payload::of(black_box(&self.body));
        sign_request(&mut parts, payload, key, &Settings::STANDARD, self.time).unwrap();
        parts
    }

    fn verify(&mut self) -> bool {
        let request = SignedRequest::parse(&self.signed).unwrap();
        let key = self.cache.key_for(&request, &self.credentials);
        let hash = Sha256::digest(black_box(&self.body)).into();
        let now = Timestamp::new(self.time.seconds(), 0);
        self.verifier
            .verify(&request, &key, now, Some(&hash))
            .is_ok()
    }

    fn run(&mut self, case: &str, count: u32) {
        for _ in 0..count {
            match case {
                "hashes" => drop(black_box(self.hashes())),
                "sign" => drop(black_box(self.sign())),
                "hashes-derive" => drop(black_box(self.hashes_derive())),
                "sign-derive" => drop(black_box(self.sign_derive())),
                "verify" => drop(black_box(self.verify())),
                "head" => drop(black_box(self.parts.clone())),
                _ => panic!("there is no case {case}"),
            }
        }
    }

    /// The shortest of 40 runs of each case, in nanoseconds for each call. The cases alternate, so that
    /// all of them have a share of the moments at which the machine does nothing else.
    fn times<const N: usize>(&mut self, cases: [&str; N]) -> [f64; N] {
        const COUNT: u32 = 2000;
        let mut shortest = [f64::INFINITY; N];
        for _ in 0..40 {
            for (case, shortest) in cases.iter().zip(&mut shortest) {
                let start = Instant::now();
                self.run(case, COUNT);
                let time = start.elapsed().as_secs_f64() * 1e9 / f64::from(COUNT);
                *shortest = shortest.min(time);
            }
        }
        shortest
    }
}

/// Derives the key as the specification has it.
fn derive() -> Hmac<Sha256> {
    let mut mac = Hmac::new_from_slice(format!("AWS4{SECRET}").as_bytes()).unwrap();
    for part in ["20150830", REGION, SERVICE, "aws4_request"] {
        mac.update(part.as_bytes());
        let key = mac.finalize().into_bytes();
        mac = Hmac::new_from_slice(&key).unwrap();
    }
    mac
}

fn main() {
    let mut setup = Setup::new();
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    if let [case, count] = arguments.as_slice() {
        setup.run(case, count.parse().unwrap());
        return;
    }
    println!("canonical request: {} bytes", setup.canonical_request.len());
    let cases = [
        "head",
        "hashes",
        "sign",
        "verify",
        "hashes-derive",
        "sign-derive",
    ];
    let [head, hashes, sign, verify, hashes_derive, sign_derive] = setup.times(cases);
    println!("head           {head:8.0} ns");
    println!("hashes         {hashes:8.0} ns");
    println!("hashes-derive  {hashes_derive:8.0} ns");
    // Verification does not change the head, so it needs no clone.
    for (case, time, hashes) in [
        ("sign", sign - head, hashes),
        ("sign-derive", sign_derive - head, hashes_derive),
        ("verify", verify, hashes),
    ] {
        println!(
            "{case:14} {time:8.0} ns  {:.2} times its hashes",
            time / hashes
        );
    }
}
