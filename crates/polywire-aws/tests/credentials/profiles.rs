//! Profile files. The facts are those of the published parser tests of AWS's SDKs.

use polywire_aws::credentials::{ProfileFile, ProfileSet, Section};
use proptest::prelude::*;

/// All profiles as `name{property=value,...}`, with `|` for line breaks in values.
fn profiles(config: &str, credentials: &str) -> String {
    match ProfileSet::parse(config, credentials) {
        Ok(set) => {
            let names: Vec<&str> = set.profile_names().collect();
            let one = |name: &&str| format!("{name}{}", section(set.profile(name).unwrap()));
            names.iter().map(one).collect::<Vec<_>>().join(" ")
        }
        Err(error) => format!("error: {error}"),
    }
}

fn section(section: &Section) -> String {
    let property = |name: &str| format!("{name}={}", section.get(name).unwrap().replace('\n', "|"));
    let properties: Vec<String> = section.names().map(property).collect();
    format!("{{{}}}", properties.join(","))
}

#[test]
fn the_config_file_is_read_as_published() {
    for (config, expected) in [
        ("", ""),
        ("[profile foo]", "foo{}"),
        (
            "[profile some-thing:long/the_one%only.foo@bar+]\n[profile foo!bar]",
            "some-thing:long/the_one%only.foo@bar+{}",
        ),
        (
            "[profile foo",
            "error: config file, line 1: expected `]` at the end of the section",
        ),
        ("[profile \tfoo \t]", "foo{}"),
        ("[profile\tfoo]", "foo{}"),
        (
            "[   profile foo    ]\nname = value\n[profile bar]",
            "bar{} foo{name=value}",
        ),
        (
            "name = value",
            "error: config file, line 1: expected a section such as `[default]`",
        ),
        ("[profile foo]\r\nname = value", "foo{name=value}"),
        ("[profile foo]\nname = val=ue", "foo{name=val=ue}"),
        ("[profile foo]\nname = \u{1f602}", "foo{name=\u{1f602}}"),
        ("[profile foo]\nname \t=  \tvalue \t", "foo{name=value}"),
        ("[profile foo]\nname =", "foo{name=}"),
        (
            "[profile foo]\n= value",
            "error: config file, line 2: the property has no name",
        ),
        (
            "[profile foo]\nkey : value",
            "error: config file, line 2: expected `=` in the property",
        ),
        ("[profile foo]\n[profile bar]", "bar{} foo{}"),
        (
            "\t \n[profile foo]\n\t\n \nname = value\n\t \n[profile bar]\n \t",
            "bar{} foo{name=value}",
        ),
        (
            "# Comment\n[profile foo] # Comment\nname = value # Comment with # sign",
            "foo{name=value}",
        ),
        (
            "; Comment\n[profile foo] ; Comment\nname = value ; Comment with ; sign",
            "foo{name=value}",
        ),
        (";\n[profile foo];\nname = value ;\n", "foo{name=value}"),
        (
            "[profile foo]; Adjacent\n[profile bar]# Adjacent",
            "bar{} foo{}",
        ),
        (
            "[profile foo]\nname = value; Adjacent\nname2 = value# Adjacent",
            "foo{name=value; Adjacent,name2=value# Adjacent}",
        ),
        (
            "[profile foo]\nname = value\n -continued\n -and-continued",
            "foo{name=value|-continued|-and-continued}",
        ),
        (
            "[profile foo]\nname = value\n \t -continued \t ",
            "foo{name=value|-continued}",
        ),
        (
            "[profile foo]\nname = value\n -continued # Comment",
            "foo{name=value|-continued # Comment}",
        ),
        (
            " -continued",
            "error: config file, line 1: expected a section such as `[default]`",
        ),
        (
            "[profile foo]\n -continued",
            "error: config file, line 2: expected a property, found a continuation",
        ),
        (
            "[profile foo]\nname = value\n[profile foo]\n -continued",
            "error: config file, line 4: expected a property, found a continuation",
        ),
        (
            "[profile foo]\nname = value\n[profile foo]\nname2 = value2",
            "foo{name=value,name2=value2}",
        ),
        (
            "[profile foo]\nName = value\n[profile foo]\nname = value2",
            "foo{name=value2}",
        ),
        (
            "[profile default]\nname = value\n[default]\nname2 = value2",
            "default{name=value}",
        ),
        (
            "[default]\nname2 = value2\n[profile default]\nname = value",
            "default{name=value}",
        ),
        ("[profile foo]\nin valid = value\n more", "foo{}"),
        (
            "[profile foo]\nABCxyz019-_ = value",
            "foo{abcxyz019-_=value}",
        ),
        (
            "[profile foo]\ns3 =\n name = value",
            "foo{s3=|name = value}",
        ),
        (
            "[profile foo]\ns3 =\n invalid",
            "error: config file, line 3: expected `=` in the nested property",
        ),
        ("[profile foo]\ns3 =\n name =", "foo{s3=|name =}"),
        (
            "[profile foo]\ns3 =\n = value",
            "error: config file, line 3: the nested property has no name",
        ),
        (
            "[profile foo]\ns3 =\n in valid = value",
            "foo{s3=|in valid = value}",
        ),
        (
            "[profile foo]\ns3 =\n name = value\n\t \n name2 = value2",
            "foo{s3=|name = value|name2 = value2}",
        ),
        ("[foo]\nname = value", ""),
        ("[profilefoo]\nname = value\n[profile bar]", "bar{}"),
        (
            "[profile foo]\nname = value\n[profile in valid]\nx = 1\n[profile bar]\nname = value2",
            "bar{name=value2} foo{name=value}",
        ),
    ] {
        assert_eq!(profiles(config, ""), expected, "{config:?}");
    }
}

#[test]
fn both_files_are_merged_as_published() {
    for (config, credentials, expected) in [
        (
            "[profile foo]\nname = value",
            "[foo]\nname2 = value2",
            "foo{name=value,name2=value2}",
        ),
        (
            "[profile foo]\nname = value",
            "[foo]\nname = value2",
            "foo{name=value2}",
        ),
        ("", "[profile foo]\nname = value", ""),
        (
            "[profile in valid]\nname = value",
            "[in valid 2]\nname2 = value2",
            "",
        ),
        (
            "[profile default]\nname = value\n[default]\nname2 = value2\n[profile default]\nname3 = value3",
            "[default]\nsecret=foo",
            "default{name=value,name3=value3,secret=foo}",
        ),
        (
            "",
            "[   foo    ]\nname = value\n[profile bar]",
            "foo{name=value}",
        ),
        (
            "",
            "[sso-sessionfoo]\nname = value\n[bar]",
            "bar{} sso-sessionfoo{name=value}",
        ),
        (
            "",
            "x",
            "error: credentials file, line 1: expected a section such as `[default]`",
        ),
    ] {
        assert_eq!(profiles(config, credentials), expected, "{config:?}");
    }
}

#[test]
fn other_sections_are_apart_from_profiles() {
    let config = "[sso-session foo]\nname = value\n[services bar]\ns3 =\n  endpoint_url = http://a\n[plugins]\nx = y";
    let set = ProfileSet::parse(config, "").unwrap();
    assert_eq!(set.profile_names().count(), 0);
    assert_eq!(set.sso_session("foo").unwrap().get("name"), Some("value"));
    let services = set.services("bar").unwrap();
    assert_eq!(services.nested("s3", "endpoint_url"), Some("http://a"));
    assert_eq!(services.nested("s3", "other"), None);
    assert_eq!(services.nested("dynamodb", "endpoint_url"), None);
}

#[test]
fn errors_and_debug_do_not_show_values() {
    let error = ProfileSet::parse("", "[a]\nhunter2").unwrap_err();
    assert_eq!((error.file(), error.line()), (ProfileFile::Credentials, 2));
    assert!(!format!("{error:?} {error}").contains("hunter2"));
    let set = ProfileSet::parse("", "[a]\naws_secret_access_key = hunter2\n").unwrap();
    let shown = format!("{set:?}");
    assert!(shown.contains("aws_secret_access_key") && !shown.contains("hunter2"));
}

#[test]
fn a_byte_order_mark_is_ignored() {
    assert_eq!(profiles("\u{feff}[default]\na = b", ""), "default{a=b}");
}

proptest! {
    #[test]
    fn arbitrary_files_do_not_panic(config in "[\\[\\]a =#;\\n\\t\u{e9}]{0,60}", credentials in any::<String>()) {
        let _ = ProfileSet::parse(&config, &credentials);
    }

    #[test]
    fn written_profiles_are_read(
        entries in prop::collection::btree_map("[a-z][a-z0-9_]{0,8}", "[!-:<-~]{1,20}", 0..6),
    ) {
        let mut text = "[default]\n".to_owned();
        for (name, value) in &entries {
            text += &format!("{name} = {value}\n");
        }
        let set = ProfileSet::parse(&text, "").unwrap();
        let profile = set.profile("default").unwrap();
        prop_assert_eq!(profile.names().count(), entries.len());
        for (name, value) in &entries {
            // A value that begins with `#` follows white space, so it is a comment.
            let expected = if value.starts_with('#') { "" } else { value };
            prop_assert_eq!(profile.get(name), Some(expected));
        }
    }
}
