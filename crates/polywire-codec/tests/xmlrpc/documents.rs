//! What stands around and between the elements of a message: by XML 1.0, or not read.

use polywire_codec::reference::xmlrpc as reference;
use polywire_codec::xmlrpc::{self, XmlRpcProfile};
use polywire_schema::{Error, ErrorKind, Limits, Value};

const CALL: &str = "<methodCall><methodName>a</methodName><params><param><value>\u{e9}</value>\
    </param></params></methodCall>";

/// Reads a call, as the reference has to as well.
fn read(text: &str) -> Result<(String, Vec<Value>), Error> {
    let read = xmlrpc::read_call(text, &Limits::DEFAULT);
    let other = reference::read_call(text, XmlRpcProfile::DEFAULT, &Limits::DEFAULT);
    assert_eq!(
        read.as_ref().ok(),
        other.as_ref().ok(),
        "{text}\n{read:?}\n{other:?}"
    );
    read
}

/// Sees to it that a text is refused, where this stands, with what was expected.
fn refused(text: &str, at: usize, expected: &str) {
    let error = read(text).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Syntax, "{text}: {error}");
    assert_eq!(error.offset(), Some(at), "{text}: {error}");
    let told = error.what_was_expected();
    assert!(told.contains(expected), "{text}: {error}");
}

#[test]
fn declarations_that_xml_has() {
    for declaration in [
        "",
        "<?xml version=\"1.0\"?>",
        "<?xml version='1.0'?>\n",
        "<?xml version=\"1.0\" ?>",
        "<?xml  version = '1.0'\n?>",
        "<?xml version='1.1'?>",
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n",
        "<?xml version=\"1.0\" encoding='UTF-8' standalone=\"yes\"?>",
        "<?xml version='1.0' standalone='no'?>",
        "\u{feff}<?xml version=\"1.0\" encoding=\"UTF8\" ?>",
        "\u{feff}",
        "<!-- <?xml?> -->",
        "<?xml-stylesheet href='a'?>",
        "<?xmlish?><?a?><?b <c> ?>",
    ] {
        let text = format!("{declaration}{CALL}");
        assert_eq!(read(&text).unwrap().1, [Value::from("\u{e9}")], "{text}");
    }
}

#[test]
fn declarations_that_xml_has_not() {
    let version = "version=\"1.0\"";
    for (declaration, at, expected) in [
        ("<?xml?>", 5, version),
        ("<?xml ?>", 6, version),
        ("<?xml encoding='UTF-8'?>", 6, version),
        ("<?xml version='2.0'?>", 15, version),
        ("<?xml version='1.'?>", 15, version),
        ("<?xml version='1.0a'?>", 15, version),
        ("<?xml version=''?>", 15, version),
        ("<?xml version=1.0?>", 14, version),
        ("<?xml version '1.0'?>", 14, version),
        ("<?xml Version='1.0'?>", 6, version),
        (
            "<?xml version='1.0' encoding=''?>",
            30,
            "the name of an encoding",
        ),
        (
            "<?xml version='1.0' encoding='8bit'?>",
            30,
            "the name of an encoding",
        ),
        (
            "<?xml version='1.0' encoding='utf 8'?>",
            30,
            "the name of an encoding",
        ),
        (
            "<?xml version='1.0' encoding?>",
            28,
            "the name of an encoding",
        ),
        ("<?xml version='1.0' standalone='maybe'?>", 32, "yes or no"),
        ("<?xml version='1.0'encoding='UTF-8'?>", 19, "in this order"),
        (
            "<?xml version='1.0' standalone='no' encoding='UTF-8'?>",
            36,
            "in this order",
        ),
        ("<?xml version='1.0' version='1.0'?>", 20, "in this order"),
        ("<?xml version='1.0' colour='red'?>", 20, "in this order"),
        ("<?xml version='1.0'>", 19, "in this order"),
        ("\u{feff}<?xml version='3'?>", 18, version),
    ] {
        refused(&format!("{declaration}{CALL}"), at, expected);
        if !declaration.starts_with('\u{feff}') {
            // As a response too.
            let text = format!("{declaration}<methodResponse/>");
            let error = xmlrpc::read_response(&text, &Limits::DEFAULT).unwrap_err();
            assert_eq!(error.offset(), Some(at), "{text}: {error}");
        }
    }
}

#[test]
fn a_declaration_stands_at_the_beginning_and_once() {
    let declaration = "<?xml version=\"1.0\"?>";
    let expected = "an XML declaration stands at the very beginning, and once";
    for before in [
        "\n",
        " ",
        declaration,
        "<?xml version='1.0'?>",
        "<!-- a -->",
        "<?a?>",
        "<?xml version='1.0'?>\n\n",
    ] {
        refused(
            &format!("{before}{declaration}{CALL}"),
            before.len(),
            expected,
        );
        refused(&format!("{before}<?XML?>{CALL}"), before.len(), expected);
    }
    for at in [
        CALL.find("<methodName>").unwrap(),
        CALL.find("a</methodName>").unwrap() + 1,
        CALL.find("</value>").unwrap(),
        CALL.len(),
    ] {
        let (before, behind) = CALL.split_at(at);
        for declaration in [declaration, "<?xml?>", "<?XmL a?>"] {
            refused(&format!("{before}{declaration}{behind}"), at, expected);
        }
    }
}

#[test]
fn instructions_have_a_target() {
    for instruction in ["<?1a?>", "<?-?>", "<? a?>", "<??>", "<?.a b?>"] {
        let expected = "the target of a processing instruction";
        refused(&format!("{instruction}{CALL}"), 0, expected);
    }
    for instruction in ["<?a/?>", "<?a=b?>", "<?a\"b\"?>"] {
        refused(
            &format!("{instruction}{CALL}"),
            0,
            "white space behind the target",
        );
    }
}

#[test]
fn names_of_tags_and_attributes() {
    for name in ["1a", "-a", ".a", "1", "\u{b7}", "a\u{d7}b", "\u{300}a"] {
        let text = CALL.replace("<params>", &format!("<{name}/><params>"));
        let at = text.find(&format!("<{name}")).unwrap();
        refused(&text, at, "a name that XML allows");
        for attributes in [format!("{name}='1'"), format!("b='' {name}='1'")] {
            let text = CALL.replace("<params>", &format!("<params {attributes}>"));
            let at = text.find(&format!("{name}='1'")).unwrap();
            refused(&text, at, "a name that XML allows");
        }
    }
    for name in ["_", "a1", "a-b.c", ":", "\u{e9}", "a\u{b7}", "\u{4e00}"] {
        let text = CALL.replace("<params>", &format!("<params {name}='1'>"));
        read(&text).unwrap();
        // An element of that name is XML, and has no place here.
        let text = CALL.replace("<params>", &format!("<{name}/><params>"));
        assert_eq!(
            read(&text).unwrap_err().kind(),
            ErrorKind::Structure,
            "{text}"
        );
    }
}
