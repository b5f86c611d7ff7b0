//! Messages made at random: well-formed ones in all spellings, and changes of them.

/// Numbers that follow from a seed.
pub(crate) struct Source(u64);

impl Source {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub(crate) fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn rarely(&mut self) -> bool {
        self.below(12) == 0
    }
}

/// What stands in tests and peers' messages, to put anywhere.
const PIECES: &[&str] = &[
    "<value>",
    "</value>",
    "<value/>",
    "<int>",
    "</int>",
    "<i4>",
    "</i4>",
    "<i8>1</i8>",
    "<string>",
    "</string>",
    "<string/>",
    "<nil/>",
    "<ex:nil/>",
    "<nil></nil>",
    "<array>",
    "<data>",
    "</data>",
    "</array>",
    "<array/>",
    "<array><data/></array>",
    "<struct>",
    "</struct>",
    "<struct/>",
    "<member>",
    "</member>",
    "<name>",
    "</name>",
    "<name/>",
    "<param>",
    "</param>",
    "<params>",
    "</params>",
    "<params/>",
    "<fault>",
    "</fault>",
    "<base64>",
    "</base64>",
    "<boolean>true</boolean>",
    "<double>",
    "</double>",
    "<dateTime.iso8601>",
    "</dateTime.iso8601>",
    "<!-- x -->",
    "<!---->",
    "<!--",
    "-->",
    "--",
    "<?pi x?>",
    "<?",
    "?>",
    "<![CDATA[",
    "]]>",
    "<![CDATA[ ]]>",
    "<!DOCTYPE x>",
    "&amp;",
    "&lt;",
    "&#13;",
    "&#27;",
    "&#0;",
    "&#x10FFFF;",
    "&#55357;",
    "&#56832;",
    "&#xD83D;&#xDE00;",
    "&",
    "&nbsp;",
    "\u{1b}",
    "\u{0}",
    "\u{fffe}",
    "\u{feff}",
    "\r\n",
    "\r",
    "\n",
    "\t",
    " ",
    "é",
    "\u{1f600}",
    "]]",
    ">",
    "<",
    "/",
    "\"",
    "'",
    "=",
    " a=\"b\"",
    " a='>'",
    " a",
    "+",
    "-",
    "0",
    "1",
    "9",
    "2147483648",
    "9223372036854775808",
    ".",
    "e",
    "NaN",
    "inf",
    ":",
    "T",
    "Z",
    "24:00:00",
    "methodCall",
    "<member><name>a</name><value>1</value></member>",
];

pub(crate) fn changed(source: &mut Source, text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=source.below(3) {
        let at = source.below(bytes.len() + 1);
        match source.below(8) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] = source.next() as u8,
            2 if at < bytes.len() => bytes[at] ^= 1 << source.below(8),
            3 => {
                let end = (at + source.below(20)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let end = (at + source.below(60)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                let to = source.below(bytes.len() + 1);
                bytes.splice(to..to, part);
            }
            // Behind a tag, where most pieces mean something.
            5 | 6 => {
                let behind = bytes[at..].iter().position(|byte| *byte == b'>');
                let to = behind.map_or(at, |len| at + len + 1);
                bytes.splice(to..to, source.one_of(PIECES).bytes());
            }
            _ => {
                bytes.splice(at..at, source.one_of(PIECES).bytes());
            }
        }
    }
    bytes
}

/// What may stand between tags.
fn gap(source: &mut Source, out: &mut String) {
    if source.rarely() {
        out.push_str(source.one_of(&[
            " ",
            "\n",
            "\r\n\t",
            "<!-- <x> -->",
            "<?pi ?>",
            "\n <!---->\n",
            "<!--a--><!--b-->",
        ]));
    }
}

fn start(source: &mut Source, out: &mut String, name: &str) {
    out.push('<');
    out.push_str(name);
    if source.rarely() {
        out.push_str(source.one_of(&[
            " ",
            "\n",
            " a=\"b\"",
            " a='/>' b = \"\"",
            " xmlns:ex=\"x\" ",
        ]));
    }
    out.push('>');
}

fn end(source: &mut Source, out: &mut String, name: &str) {
    out.push_str("</");
    out.push_str(name);
    if source.rarely() {
        out.push_str(source.one_of(&[" ", "\n", "\t "]));
    }
    out.push('>');
}

/// An element around what `inside` writes, with gaps within.
fn element(
    source: &mut Source,
    out: &mut String,
    name: &str,
    inside: &mut dyn FnMut(&mut Source, &mut String),
) {
    start(source, out, name);
    gap(source, out);
    inside(source, out);
    gap(source, out);
    end(source, out, name);
    gap(source, out);
}

/// An element with a text.
fn leaf(source: &mut Source, out: &mut String, name: &str, text: &str) {
    if text.is_empty() && source.below(2) == 0 {
        out.push('<');
        out.push_str(name);
        out.push_str(source.one_of(&["/>", " />", " a='1'/>"]));
        return;
    }
    start(source, out, name);
    out.push_str(text);
    if source.rarely() {
        out.push_str(source.one_of(&["<!-- -->", "<?pi?>", "<![CDATA[]]>"]));
    }
    end(source, out, name);
}

fn string(source: &mut Source) -> String {
    let mut text = String::new();
    for _ in 0..source.below(6) {
        text.push_str(source.one_of(&[
            "a",
            "hello",
            " ",
            "\n",
            "\r\n",
            "\r",
            "&amp;",
            "&lt;",
            "&gt;",
            "&#65;",
            "&#x1F600;",
            "é",
            "\u{1f600}",
            "<![CDATA[<b>&]]>",
            "<!-- no text -->",
            "<?pi x?>",
            "]]",
            ">",
            "\"'",
            "&quot;&apos;",
            "&#13;",
            "a text that is longer than what is held in place, whatever that is",
        ]));
    }
    if source.rarely() {
        text.push_str(source.one_of(&["\u{1b}[1m", "&#27;", "]]>", "\u{fffe}", "\u{0}"]));
    }
    text
}

fn number(source: &mut Source) -> String {
    let digits = source.next() >> source.below(48);
    let sign = source.one_of(&["", "", "", "-", "+", "-0", "00", " ", "+-"]);
    let behind = source.one_of(&[
        "",
        "",
        "",
        "",
        "",
        "",
        " ",
        "\n",
        ".5",
        "0",
        "0000000000000",
    ]);
    match source.below(12) {
        0 => source
            .one_of(&[
                "",
                "-",
                "+",
                "127",
                "128",
                "-128",
                "-129",
                "32767",
                "32768",
                "2147483647",
                "2147483648",
                "-2147483648",
                "-2147483649",
                "9223372036854775807",
                "9223372036854775808",
                "-9223372036854775808",
                "-9223372036854775809",
                "0x1",
                "1e3",
                "-0",
                "000",
                "\u{661}",
            ])
            .to_owned(),
        _ => format!("{sign}{digits}{behind}"),
    }
}

fn double(source: &mut Source) -> String {
    match source.below(3) {
        0 => f64::from_bits(source.next() << 16 | source.next() & 0xffff).to_string(),
        1 => number(source),
        _ => source
            .one_of(&[
                "1e-07",
                "1.5",
                "-0.0",
                "0.1",
                "1.",
                ".5",
                "1e400",
                "NaN",
                "nan",
                "inf",
                "-inf",
                "INF",
                "Infinity",
                "+1.5",
                "1E5",
                "1e+5",
                "",
                " 2.5 ",
                "1_0",
                "5e-324",
                "1.7976931348623157e308",
                "-",
                "-Infinity",
                "+inf",
                "infinity",
                "0.10000000000000001",
            ])
            .to_owned(),
    }
}

fn date(source: &mut Source) -> String {
    let date = source.one_of(&[
        "20260102",
        "2026-01-02",
        "20240229",
        "20260229",
        "20261231",
        "00010101",
        "99991231",
        "2026-1-2",
        "",
        "00000101",
        "00000000",
    ]);
    let separator = source.one_of(&["T", "T", "T", "t", " ", ""]);
    let time = source.one_of(&[
        "03:04:05", "03:04:05", "03:04:05", "030405", "03:04", "24:00:00", "23:59:60", "25:00:00",
        "", "00:00:00", "3:4:5", "240000", "24:00",
    ]);
    let zone = source.one_of(&[
        "",
        "",
        "",
        "Z",
        "z",
        "+01:00",
        "-0330",
        ".25",
        ".250Z",
        ".",
        "+1",
        " ",
        ".000000000",
    ]);
    format!("{date}{separator}{time}{zone}")
}

fn base64(source: &mut Source) -> String {
    let mut text = String::new();
    for _ in 0..source.below(5) {
        text.push_str(source.one_of(&[
            "AQID", "/+9z", "QUJD", "AQ==", "AQI=", "\n", " ", "\r\n  ", "=", "A", "?", "AR==",
        ]));
    }
    text
}

pub(crate) fn value(source: &mut Source, out: &mut String, depth: usize) {
    if source.rarely() {
        out.push_str("<value/>");
        gap(source, out);
        return;
    }
    start(source, out, "value");
    let prefix = if source.rarely() { "ex:" } else { "" };
    let kind = source.below(if depth == 0 { 10 } else { 14 });
    if kind < 2 {
        let text = string(source);
        out.push_str(&text);
    } else {
        gap(source, out);
        match kind {
            2 | 3 => {
                let text = string(source);
                leaf(source, out, &format!("{prefix}string"), &text);
            }
            4 | 5 => {
                let name = source.one_of(&[
                    "int",
                    "i4",
                    "i8",
                    "i1",
                    "i2",
                    "int",
                    "biginteger",
                    "bigdecimal",
                ]);
                let text = number(source);
                leaf(source, out, &format!("{prefix}{name}"), &text);
            }
            6 => {
                let name = source.one_of(&["double", "double", "float", "bigdecimal"]);
                let text = double(source);
                leaf(source, out, &format!("{prefix}{name}"), &text);
            }
            7 => {
                let name = source.one_of(&["dateTime.iso8601", "dateTime.iso8601", "dateTime"]);
                let text = date(source);
                leaf(source, out, &format!("{prefix}{name}"), &text);
            }
            8 => {
                let text = base64(source);
                leaf(source, out, &format!("{prefix}base64"), &text);
            }
            9 => match source.below(3) {
                0 => out.push_str(source.one_of(&[
                    "<nil/>",
                    "<ex:nil/>",
                    "<nil />",
                    "<nil></nil>",
                    "<nil> </nil>",
                ])),
                _ => {
                    let text = source.one_of(&["0", "1", "1", "true", "False", "2", "", " 1"]);
                    leaf(source, out, &format!("{prefix}boolean"), text);
                }
            },
            10 | 11 => array(source, out, &format!("{prefix}array"), depth),
            _ => structure(source, out, &format!("{prefix}struct"), depth),
        }
        gap(source, out);
    }
    end(source, out, "value");
    gap(source, out);
}

fn array(source: &mut Source, out: &mut String, name: &str, depth: usize) {
    if source.rarely() {
        let empty = source.one_of(&[
            "<array/>",
            "<array></array>",
            "<array><data/></array>",
            "<array> <data > </data> </array>",
        ]);
        out.push_str(empty);
        return;
    }
    element(source, out, name, &mut |source, out| {
        element(source, out, "data", &mut |source, out| {
            for _ in 0..source.below(5) {
                value(source, out, depth - 1);
            }
        });
    });
}

fn structure(source: &mut Source, out: &mut String, name: &str, depth: usize) {
    if source.rarely() {
        out.push_str(source.one_of(&["<struct/>", "<struct></struct>", "<struct> </struct>"]));
        return;
    }
    element(source, out, name, &mut |source, out| {
        for count in 0..source.below(6) {
            element(source, out, "member", &mut |source, out| {
                let twice = source.rarely() && count > 0;
                let name = match source.below(6) {
                    0 if !twice => string(source),
                    _ if twice => "member0".to_owned(),
                    _ => format!("member{count}"),
                };
                leaf(source, out, "name", &name);
                gap(source, out);
                value(source, out, depth - 1);
            });
        }
    });
}

fn prolog(source: &mut Source, out: &mut String) {
    out.push_str(source.one_of(&[
        "<?xml version=\"1.0\"?>",
        "<?xml version=\"1.0\"?>",
        "<?xml version='1.0' encoding=\"utf-8\"?>\n",
        "<?xml version=\"1.0\" encoding=\"us-ascii\" standalone='yes'?>",
        "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>",
        "\u{feff}<?xml version=\"1.0\"?>\r\n",
        "\r\n <?xml version=\"1.0\"?>",
        "\u{feff}\n<?xml version=\"1.0\"?>",
        "",
        "\u{feff}",
        " <!-- a comment -->",
    ]));
}

pub(crate) fn call(source: &mut Source) -> String {
    let mut out = String::new();
    prolog(source, &mut out);
    element(source, &mut out, "methodCall", &mut |source, out| {
        let name = source.one_of(&[
            "echo",
            "a.b",
            " echo\n",
            "",
            "\u{e9}",
            "a&amp;b",
            "<![CDATA[x]]>",
        ]);
        leaf(source, out, "methodName", name);
        gap(source, out);
        match source.below(10) {
            0 => {}
            1 => out.push_str("<params/>"),
            _ => element(source, out, "params", &mut |source, out| {
                for _ in 0..source.below(4) {
                    element(source, out, "param", &mut |source, out| {
                        value(source, out, 3);
                    });
                }
            }),
        }
    });
    out
}

pub(crate) fn response(source: &mut Source) -> String {
    let mut out = String::new();
    prolog(source, &mut out);
    element(
        source,
        &mut out,
        "methodResponse",
        &mut |source, out| match source.below(12) {
            0 => out.push_str(source.one_of(&[
                "",
                "<params/>",
                "<params></params>",
                "<params><param/></params>",
                "<params><param> </param></params>",
            ])),
            1 | 2 => element(source, out, "fault", &mut |source, out| {
                value(source, out, 2);
            }),
            _ => element(source, out, "params", &mut |source, out| {
                element(source, out, "param", &mut |source, out| {
                    value(source, out, 4);
                });
            }),
        },
    );
    out
}

/// A `system.multicall`, of calls of which some are none.
pub(crate) fn multicall(source: &mut Source) -> String {
    let mut out = String::new();
    prolog(source, &mut out);
    out.push_str(
        "<methodCall><methodName>system.multicall</methodName><params><param><value><array><data>",
    );
    for _ in 0..source.below(5) {
        if source.rarely() {
            value(source, &mut out, 2);
            continue;
        }
        out.push_str("<value><struct>");
        for _ in 0..source.below(4) {
            out.push_str("<member>");
            let name = source.one_of(&["methodName", "params", "methodName", "params", "other"]);
            leaf(source, &mut out, "name", name);
            match name {
                "params" if !source.rarely() => {
                    out.push_str("<value>");
                    array(source, &mut out, "array", 2);
                    out.push_str("</value>");
                }
                "methodName" if !source.rarely() => {
                    out.push_str(source.one_of(&[
                        "<value>a</value>",
                        "<value><string>a.b</string></value>",
                        "<value/>",
                    ]));
                }
                _ => value(source, &mut out, 1),
            }
            out.push_str("</member>");
        }
        out.push_str("</struct></value>");
    }
    out.push_str("</data></array></value></param></params></methodCall>");
    out
}
