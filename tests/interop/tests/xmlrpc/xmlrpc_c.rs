//! The program `xmlrpc` of xmlrpc-c, which cannot send arrays and structs.

use polywire_interop::{Case, Sample};

#[test]
fn xmlrpc_c_gets_back_what_it_sends() {
    let case = Case::begin("xmlrpc_c_gets_back_what_it_sends");
    let Some(xmlrpc) = case.xmlrpc_c() else {
        return;
    };
    let server = Sample::start();
    for (sent, shown) in [
        ("i/-5", "Integer: -5"),
        ("i/2147483647", "Integer: 2147483647"),
        (
            "I/9223372036854775807",
            "64-bit integer: 9223372036854775807",
        ),
        ("b/t", "Boolean: TRUE"),
        ("d/0.5", "Floating Point: 0.500000"),
        ("s/ <&> ", "String: ' <&> '"),
        ("s/", "String: ''"),
        ("ö", r"String: '\xc3\xb6'"),
        ("n/", "Nil"),
        ("h/00ff", "Bit string: 00ff"),
    ] {
        let got = xmlrpc.call(&server.url, &["echo", sent]);
        assert_eq!(got.as_deref(), Ok(shown), "{sent}");
    }
    // The program writes an unescaped CR LF, which every XML parser reads as LF.
    let got = xmlrpc.call(&server.url, &["sample.length", "s/a\r\nb"]);
    assert_eq!(got.as_deref(), Ok("Integer: 3"));
    let got = xmlrpc.call(&server.url, &["echo", "i/1", "s/two"]);
    let both = "Array of 2 items:\n  Index  0 Integer: 1\n  Index  1 String: 'two'";
    assert_eq!(got.as_deref(), Ok(both));
}

#[test]
fn xmlrpc_c_calls_methods_of_every_type() {
    let case = Case::begin("xmlrpc_c_calls_methods_of_every_type");
    let Some(xmlrpc) = case.xmlrpc_c() else {
        return;
    };
    let server = Sample::start();
    let person = "Struct of 3 members:
  Key:   String: 'name'
  Value: String: 'Ada \\xc5\\x81ovelace'
  Key:   String: 'age'
  Value: Integer: 36
  Key:   String: 'tags'
  Value: Array of 2 items:
           Index  0 String: '<first>'
           Index  1 String: '& only'";
    let signature = "Array of 1 items:
  Index  0 Array of 3 items:
             Index  0 String: 'int'
             Index  1 String: 'int'
             Index  2 String: 'int'";
    let cases: [(&[&str], &str); 8] = [
        (&["sample.add", "i/2", "i/3"], "Integer: 5"),
        (
            &["sample.add", "I/9007199254740992", "i/1"],
            "64-bit integer: 9007199254740993",
        ),
        (&["sample.person"], person),
        (&["sample.nothing"], "Nil"),
        (&["sample.double"], "Floating Point: 0.100000"),
        (&["sample.size", "h/0001ff"], "Integer: 3"),
        (
            &["system.methodHelp", "sample.add"],
            "String: 'Adds two numbers.'",
        ),
        (&["system.methodSignature", "sample.add"], signature),
    ];
    for (arguments, shown) in cases {
        let got = xmlrpc.call(&server.url, arguments);
        assert_eq!(got.as_deref(), Ok(shown), "{arguments:?}");
    }
    let methods = xmlrpc.call(&server.url, &["system.listMethods"]).unwrap();
    assert!(methods.contains("'sample.add'"), "{methods}");
    let date = xmlrpc.call(&server.url, &["sample.date"]).unwrap();
    assert!(date.contains("datetime value"), "{date}");
}

#[test]
fn xmlrpc_c_faults() {
    let case = Case::begin("xmlrpc_c_faults");
    let Some(xmlrpc) = case.xmlrpc_c() else {
        return;
    };
    let server = Sample::start();
    let cases: [(&[&str], &str); 4] = [
        (
            &["sample.divide", "i/1", "i/0"],
            "division by zero.  (XML-RPC fault code 7)",
        ),
        (&["nowhere"], "(XML-RPC fault code -32601)"),
        (&["sample.add", "s/1", "i/0"], "(XML-RPC fault code -32602)"),
        (&["system.multicall", "i/1"], "(XML-RPC fault code -32602)"),
    ];
    for (arguments, end) in cases {
        let error = xmlrpc.call(&server.url, arguments).unwrap_err();
        assert!(error.ends_with(end), "{arguments:?}: {error}");
    }
}
