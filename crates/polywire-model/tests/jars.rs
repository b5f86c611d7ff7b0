//! Models in JARs: well made, odd, damaged and hostile ones.

#![cfg(feature = "jar")]
#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

mod zip;

use std::slice;
use std::time::Instant;

use polywire_model::{Loader, ModelError};
use zip::{Entry, zip};

const CITY: &str = "$version: \"2\"\nnamespace a\nstructure City { mayor: b#Person }\n";
const PERSON: &str = r#"{"smithy": "2.0", "shapes": {"b#Person": {"type": "string"}}}"#;

fn ids(jar: Vec<u8>) -> Vec<String> {
    let mut loader = Loader::new();
    loader.add_bytes("lib/models.jar", jar);
    let assembled = loader.assemble().unwrap_or_else(|error| panic!("{error}"));
    let model = assembled.model;
    model.shapes().map(|shape| shape.id().to_string()).collect()
}

fn error(jar: Vec<u8>) -> ModelError {
    Loader::new()
        .add_bytes("lib/models.jar", jar)
        .assemble()
        .unwrap_err()
}

fn message(jar: Vec<u8>) -> String {
    let error = error(jar);
    let mut errors = error.errors();
    let message = errors.next().unwrap().message.clone();
    assert!(errors.next().is_none(), "{error}");
    message
}

#[test]
fn a_manifest_says_which_files_count() {
    let jar = zip(&[
        Entry::new("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n"),
        Entry::new("META-INF/smithy/", ""),
        Entry::new(
            "META-INF/smithy/manifest",
            "# models\n\ncity.smithy\r\nnested/person.json\ncity.smithy\n",
        ),
        Entry::new("META-INF/smithy/city.smithy", CITY),
        Entry::new("META-INF/smithy/nested/person.json", PERSON),
        Entry::new("META-INF/smithy/notes.smithy", "not a model"),
        Entry::new("other/city.smithy", "not a model"),
    ]);
    assert_eq!(ids(jar), ["a#City", "b#Person"]);
}

#[test]
fn without_a_manifest_all_models_count() {
    let jar = zip(&[
        Entry::new("META-INF/smithy/person.json", PERSON).stored(),
        Entry::new("META-INF/smithy/city.smithy", CITY),
        Entry::new("META-INF/smithy/other.json", "{\"version\": \"1.0\"}"),
        Entry::new("META-INF/smithy/readme.txt", "not a model"),
    ]);
    assert_eq!(ids(jar.clone()), ["a#City", "b#Person"]);
    // A program stands before some JARs.
    let jar = [b"#!/bin/sh\nexec java -jar $0\n".as_slice(), &jar].concat();
    assert_eq!(ids(jar), ["a#City", "b#Person"]);
}

#[test]
fn findings_name_the_file_in_the_jar() {
    let jar = zip(&[
        Entry::new("META-INF/smithy/manifest", "a.smithy\nother.json\n"),
        Entry::new(
            "META-INF/smithy/a.smithy",
            "$version: \"2\"\nnamespace a\nstructure S { b: Nope }\n",
        ),
        Entry::new("META-INF/smithy/other.json", "{\"version\": \"1.0\"}"),
    ]);
    let text = error(jar).to_string();
    // What the manifest lists has to be a model.
    let place = "lib/models.jar!/META-INF/smithy/other.json:1:1";
    assert!(text.contains(place), "{text}");
    let jar = zip(&[Entry::new(
        "META-INF/smithy/a.smithy",
        "$version: \"2\"\nnamespace a\nstructure S { b: Nope }\n",
    )]);
    let text = error(jar).to_string();
    let place = "lib/models.jar!/META-INF/smithy/a.smithy:3:18";
    assert!(text.contains(place), "{text}");
}

#[test]
fn manifests_are_checked() {
    let jar = |manifest: &str| {
        zip(&[
            Entry::new("META-INF/smithy/manifest", manifest),
            Entry::new("META-INF/smithy/city.smithy", CITY),
            Entry::new("META-INF/smithy/readme.txt", "x"),
            Entry::new("META-INF/secret.smithy", CITY),
        ])
    };
    for line in [
        "../secret.smithy",
        "/city.smithy",
        "./city.smithy",
        "a//city.smithy",
        "city.smithy/",
        " city.smithy",
        "a\\city.smithy",
        "C:city.smithy",
    ] {
        let found = message(jar(&format!("# models\n{line}\n")));
        let expected = format!(
            "`lib/models.jar` cannot be read: line 2 of its manifest, `{line}`, is not a path below \
             `META-INF/smithy/`"
        );
        assert_eq!(found, expected);
    }
    assert_eq!(
        message(jar("missing.smithy\n")),
        "`lib/models.jar!/META-INF/smithy/missing.smithy` cannot be read: the manifest lists it, \
         but it is not in the JAR"
    );
    assert_eq!(
        message(jar("readme.txt\n")),
        "`lib/models.jar!/META-INF/smithy/readme.txt` cannot be read: the manifest lists it, but \
         it is neither IDL nor JSON"
    );
}

#[test]
fn odd_names_are_refused() {
    for name in [
        b"META-INF/smithy/../../../etc/a.smithy".as_slice(),
        b"META-INF/smithy//a.smithy",
        b"META-INF/smithy/a\x1b[31m.smithy",
        b"META-INF/smithy/\xff.smithy",
        b"META-INF/smithy/a\\b.smithy",
    ] {
        let jar = zip(&[Entry::new(name, CITY)]);
        let found = message(jar);
        assert!(found.contains("is not a plain path"), "{found}");
        assert!(!found.contains('\x1b'));
    }
    // Elsewhere in the archive names are nobody's business.
    let jar = zip(&[
        Entry::new("../../etc/passwd", "x"),
        Entry::new("META-INF/smithy/person.json", PERSON),
    ]);
    assert_eq!(ids(jar), ["b#Person"]);
    let jar = zip(&[
        Entry::new("META-INF/smithy/person.json", PERSON),
        Entry::new("META-INF/smithy/person.json", "{}"),
    ]);
    let found = message(jar);
    assert!(found.contains("it is twice in the JAR"), "{found}");
}

#[test]
fn other_files_are_no_jars() {
    let found = message(b"no archive".to_vec());
    assert_eq!(
        found,
        "`lib/models.jar` cannot be read: it is not a JAR: the directory of a ZIP archive is missing"
    );
    // Most JARs of a program hold no model: that is worth a word, and no error.
    for entries in [
        vec![],
        vec![Entry::new("META-INF/smithy/manifest", "# none\n")],
    ] {
        let mut loader = Loader::new();
        loader.add_bytes("lib/models.jar", zip(&entries));
        let warnings = loader.assemble().unwrap().warnings;
        assert_eq!(warnings[0].message, "`lib/models.jar` has no model");
    }
    let inner = zip(&[Entry::new("META-INF/smithy/person.json", PERSON)]);
    let nested = zip(&[Entry::new("META-INF/smithy/a.smithy", inner)]);
    let nested = message(nested);
    assert!(nested.contains("a.smithy` cannot be read: it is a ZIP archive"));
}

#[test]
fn damage_and_unknown_packing_are_told() {
    let entry = || Entry::new("META-INF/smithy/a.smithy", CITY);
    for (entry, expected) in [
        (entry().method(12), "its compression method is not"),
        (entry().encrypted(), "it is encrypted"),
        (entry().checksum(1), "its checksum differs"),
        (entry().stored().length(7), "its checksum differs"),
        (
            entry().length(7),
            "its length differs from the declared length",
        ),
        (entry().length(900), "its checksum differs"),
    ] {
        let found = message(zip(&[entry]));
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn bombs_do_not_go_off() {
    let start = Instant::now();
    let bomb = Entry::new("META-INF/smithy/a.smithy", vec![b' '; 5_000_000]);
    let found = message(zip(slice::from_ref(&bomb)));
    assert!(found.contains("more than 100 times"), "{found}");
    // One that lies about its length is stopped there.
    let found = message(zip(&[bomb.clone().length(1000)]));
    assert!(
        found.contains("its length differs from the declared length"),
        "{found}"
    );
    let found = message(zip(&[bomb.clone().length(u32::MAX - 1)]));
    assert!(
        found.contains("its models are larger than 256 MiB together"),
        "{found}"
    );
    // Many that are small, and together are not; they share their bytes.
    let stored = Entry::new("META-INF/smithy/a.smithy", vec![b'x'; 5_000_000]).stored();
    for first in [bomb, stored.length(1)] {
        let mut many = vec![first.clone()];
        many.extend((0..100).map(|index| Entry {
            name: format!("META-INF/smithy/{index}.smithy").into_bytes(),
            place: Some(0),
            ..first.clone()
        }));
        let found = message(zip(&many));
        assert!(
            found.contains("its models are larger than 256 MiB together"),
            "{found}"
        );
    }
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn truncated_and_changed_jars_give_findings() {
    let jar = zip(&[
        Entry::new("META-INF/smithy/manifest", "city.smithy\nperson.json\n"),
        Entry::new("META-INF/smithy/city.smithy", CITY),
        Entry::new("META-INF/smithy/person.json", PERSON).stored(),
    ]);
    for length in 0..jar.len() {
        error(jar[..length].to_vec());
    }
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize
    };
    for _ in 0..3_000 {
        let mut jar = jar.clone();
        for _ in 0..1 + random() % 3 {
            let at = random() % jar.len();
            jar[at] = random() as u8;
        }
        let mut loader = Loader::new();
        // What it gives is beside the point: it comes back.
        let _ = loader.add_bytes("lib/models.jar", jar).assemble();
    }
}
