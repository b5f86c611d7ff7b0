//! Documents put together at random: the format and its reference accept and refuse
//! the same, and find the same.

use polywire_codec::xml::XmlProfile;
use polywire_schema::{Limits, Value};
use proptest::prelude::*;

use super::shapes::{Collections, Node, Scalars, root, samples};
use super::{read_lenient, read_with, write};

/// So small that documents of some tokens reach them.
const SMALL: Limits = Limits::DEFAULT.with_depth(4).with_items(6).with_string(12);

const TOKENS: [&str; 63] = [
    "<Bucket>",
    "</Bucket>",
    "<Name>",
    "</Name>",
    "a",
    " ",
    "\n  ",
    "&amp;",
    "&#65;",
    "&#0;",
    "&lt",
    "<Owner>",
    "<Owner xsi:type='a' size=\"3\">",
    "<Owner size='1' size='1'>",
    "<Owner size='2'/>",
    "</Owner>",
    "<DisplayName>",
    "</DisplayName>",
    "<Contents>",
    "<Contents/>",
    "</Contents>",
    "<Key>",
    "</Key>",
    "<Size>",
    "</Size>",
    "12",
    "-7",
    "+5",
    "<Prefix>",
    "<Prefix/>",
    "</Prefix>",
    "<s3:Prefix>",
    "</s3:Prefix>",
    "<Parts>",
    "<Part>",
    "</Part>",
    "</Parts>",
    "<Tags>",
    "<entry>",
    "<key>",
    "</key>",
    "<value>",
    "<value/>",
    "</value>",
    "</entry>",
    "</Tags>",
    "<Label>",
    "<K>",
    "</K>",
    "<V>",
    "</V>",
    "</Label>",
    "<!-- c -->",
    "<?pi x?>",
    "<?1 x?>",
    "<\u{d7}/>",
    "<\u{e9}/>",
    "<![CDATA[x]]>",
    "]]>",
    "<Unknown a='>'>",
    "</Unknown>",
    "<Part xsi:nil='true'/>",
    "<!DOCTYPE a>",
];

/// Whole elements, so that most documents are well formed.
fn element() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(String::new()),
        "[a-c ]{0,4}",
        "-?[0-9]{1,3}",
        Just(" 12 ".to_owned()),
        Just("a<!-- b -->c&amp;".to_owned()),
        Just("<![CDATA[<]]>".to_owned()),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let name = prop::sample::select(vec![
            "Name",
            "Owner",
            "Owner size='1'",
            "DisplayName",
            "Contents",
            "Key",
            "Size",
            "Prefix",
            "Parts",
            "Part",
            "Tags",
            "entry",
            "key",
            "value",
            "Label",
            "K",
            "V",
            "Created",
            "q:Name",
            "p:Qualified",
            "Qualified",
            "Unknown",
            "Part i:nil='1'",
            "x:Prefix",
            "x:entry",
        ]);
        let element = (name, inner.clone()).prop_map(|(tag, content)| {
            let name = tag.split(' ').next().unwrap_or_default();
            format!("<{tag}>{content}</{name}>")
        });
        prop_oneof![
            4 => prop::collection::vec(element, 1..5).prop_map(|elements| elements.concat()),
            1 => inner,
        ]
    })
}

/// As it is, and laid out in lines.
fn check(text: &str) {
    check_one(text);
    check_one(&text.replace("><", ">\n      <"));
}

fn check_one(text: &str) {
    let at = root("Bucket");
    let strict = read_with(text, at, XmlProfile::DEFAULT, &Limits::DEFAULT);
    let lenient = read_lenient(text, at);
    if let Ok(strict) = &strict {
        assert_eq!(format!("{strict:?}"), format!("{:?}", lenient.unwrap()));
        let written = write(strict, at).unwrap();
        let again = read_with(&written, at, XmlProfile::DEFAULT, &Limits::DEFAULT).unwrap();
        // Members come in the order of the model now.
        assert_eq!(write(&again, at).unwrap(), written);
    }
    let limited = read_with(text, at, XmlProfile::DEFAULT, &SMALL);
    if let Ok(limited) = limited {
        assert_eq!(format!("{limited:?}"), format!("{:?}", strict.unwrap()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tokens(tokens in prop::collection::vec(prop::sample::select(TOKENS.to_vec()), 0..24)) {
        check(&tokens.concat());
        check(&format!("<Bucket>{}</Bucket>", tokens.concat()));
    }

    #[test]
    fn elements(content in element()) {
        check(&format!("<Bucket>{content}</Bucket>"));
        check(&format!("<Bucket>{}</Bucket>", content.replace("><", ">\n  <")));
    }

    /// A document of ours with a piece of it somewhere else.
    #[test]
    fn mutations(
        which in 0..3_usize,
        from in any::<prop::sample::Index>(),
        len in 0..40_usize,
        to in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let (name, text) = &written()[which];
        let from = from.index(text.len());
        let piece: String = text.chars().skip(from).take(len).collect();
        let to = to.index(text.chars().count());
        let mut mutated: String = text.chars().take(to).collect();
        mutated.push_str(&piece);
        mutated.extend(text.chars().skip(if cut { to + len } else { to }));
        let at = root(name);
        let strict = read_with(&mutated, at, XmlProfile::DEFAULT, &Limits::DEFAULT);
        if let Ok(value) = strict {
            prop_assert_eq!(
                format!("{:?}", read_lenient(&mutated, at).unwrap()),
                format!("{value:?}")
            );
        }
    }
}

fn written() -> [(&'static str, String); 3] {
    let collections = Collections {
        documents: None,
        documents_by_key: None,
        ..samples::collections()
    };
    let scalars = Scalars {
        document: None,
        ..samples::scalars()
    };
    let of = |name, text: Result<String, polywire_schema::Error>| (name, text.unwrap());
    [
        of("Node", write::<Node>(&samples::node(), root("Node"))),
        of("Collections", write(&collections, root("Collections"))),
        of("Scalars", write(&scalars, root("Scalars"))),
    ]
}

#[test]
fn whole_samples() {
    for (name, text) in written() {
        let value: Value =
            read_with(&text, root(name), XmlProfile::DEFAULT, &Limits::DEFAULT).unwrap();
        assert_eq!(write(&value, root(name)).unwrap(), text);
    }
}
