//! Commands for events and NIP-19 entities.

use polywire_nostr::{Event, PublicKey};

use super::{Directory, event, keys, line, nostr, nostr_as_me};

#[test]
fn templates_are_signed() {
    let text = "{\"kind\":1,\"content\":\"a\\nb\",\"tags\":[[\"t\",\"x\"]]}\r\n\n{\"kind\":0,\"created_at\":5}";
    let output = nostr_as_me(&["sign"], text).expect(0);
    let events: Vec<Event> = output
        .out
        .lines()
        .map(|line| Event::parse(line).unwrap())
        .collect();
    assert_eq!(events.len(), 2);
    for event in &events {
        event.as_ref().verify().unwrap();
        assert_eq!(*event.as_ref().pubkey(), keys().public_key());
    }
    assert_eq!(events[0].as_ref().content(), "a\nb");
    assert!(events[0].as_ref().created_at() > 1_700_000_000);
    assert_eq!(events[1].as_ref().created_at(), 5);
    nostr(&["check"], &output.out).expect(0);
}

#[test]
fn templates_that_are_wrong() {
    let other = PublicKey::from_bytes([9; 32]);
    for (text, part) in [
        (line(1), "sig: the event is already signed"),
        (
            format!("{{\"kind\":1,\"pubkey\":\"{other}\"}}"),
            "pubkey: the author of the event is",
        ),
        (
            format!("{{\"kind\":1,\"id\":\"{other}\"}}"),
            "id-mismatch: ",
        ),
        ("{\"content\":\"x\"}".to_owned(), "kind"),
        ("{\"kind\":1,\"tag\":[]}".to_owned(), "unknown field `tag`"),
        ("{\"kind\":1,\"tags\":[[]]}".to_owned(), "tag without items"),
        (
            "{\"kind\":1,\"created_at\":9007199254740992}".to_owned(),
            "too large",
        ),
        ("{\"kind\":70000}".to_owned(), "u16"),
        ("hello".to_owned(), "line 1 column 1"),
    ] {
        // The other lines are still signed.
        let output = nostr_as_me(&["sign"], format!("{text}\n{{\"kind\":1}}\n")).expect(1);
        assert!(
            output.err.starts_with("-:1: ") && output.err.contains(part),
            "{}",
            output.err
        );
        assert_eq!(output.out.lines().count(), 1, "{text}");
    }
}

#[test]
fn ids_are_computed() {
    let signed = line(1);
    let id = event(1).as_ref().id().to_string();
    let author = keys().public_key();
    let unsigned = format!(
        "{{\"pubkey\":\"{author}\",\"created_at\":1700000001,\"kind\":1,\"tags\":[[\"t\",\"test\"]],\
         \"content\":\"event 1\"}}"
    );
    let output = nostr(&["id"], format!("{signed}\n{unsigned}\n")).expect(0);
    assert_eq!(output.out, format!("{id}\n{id}\n"));
    let output = nostr(&["id"], signed.replace("event 1", "event 3")).expect(1);
    assert!(
        output.err.contains("id-mismatch") && output.err.contains(&id),
        "{}",
        output.err
    );
    assert_eq!(output.out.len(), 65);
    let output = nostr(&["id"], "{\"kind\":1}\n[]").expect(1);
    assert_eq!(output.err.lines().count(), 2);
}

#[test]
fn checks_are_told_apart() {
    let directory = Directory::new();
    let good = line(1);
    // An event that spans several lines.
    let pretty = good.replace(',', ",\n  ");
    let output = nostr(&["verify", &directory.write("event.json", pretty)], "").expect(0);
    assert!(
        output.out.contains("form       ok\nid         ok, "),
        "{}",
        output.out
    );
    assert!(
        output.out.contains(&keys().public_key().to_npub()),
        "{}",
        output.out
    );
    for (text, part) in [
        (
            good.replace("event 1", "event 2"),
            "id         wrong: the event states ",
        ),
        (
            good.replace("event 1", "event 2"),
            "signature  valid for the stated id",
        ),
        (
            good.replace("\"kind\":1", "\"kind\":-1"),
            "form       invalid: kind: negative number",
        ),
        (String::new(), "form       invalid: "),
    ] {
        let output = nostr(&["verify"], text).expect(1);
        assert!(output.out.contains(part), "{}", output.out);
    }
    let sig = good.rfind("\"sig\":\"").unwrap() + 7;
    let forged = format!("{}{}\"}}", &good[..sig], "1".repeat(128));
    let output = nostr(&["verify"], forged).expect(1);
    assert!(output.out.contains("id         ok") && output.out.contains("signature  wrong: "));
    let output = nostr(&["verify"], format!("{good}\n{good}\n")).expect(1);
    assert!(
        output.err.contains("polywire nostr check"),
        "{}",
        output.err
    );
    nostr(&["verify", "no-such-file.json"], "").expect(2);
}

#[test]
fn names_are_written_and_read() {
    let key = keys().public_key();
    let (hex, npub) = (key.to_string(), key.to_npub());
    let id = event(1).as_ref().id().to_string();
    let encoded = |arguments: &[&str]| {
        let arguments = [&["encode"], arguments].concat();
        nostr(&arguments, "").expect(0).out.trim_end().to_owned()
    };
    assert_eq!(encoded(&["npub", &hex]), npub);
    assert_eq!(encoded(&["npub", &npub, "--uri"]), format!("nostr:{npub}"));
    let note = encoded(&["note", &id]);
    let nevent = encoded(&[
        "nevent",
        &note,
        "--relay",
        "wss://a.example",
        "--author",
        &npub,
        "--kind",
        "1",
    ]);
    let output = nostr(&["decode", "--json", &nevent], "").expect(0);
    let json: serde_json::Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(
        (&json["type"], &json["kind"]),
        (&"nevent".into(), &1.into())
    );
    assert_eq!(
        (&json["id"], &json["author"]),
        (&id.into(), &hex.clone().into())
    );
    assert_eq!(json["relays"][0], "wss://a.example");
    let naddr = encoded(&["naddr", "--author", &hex, "--kind", "30023", "-d", "ö"]);
    let nprofile = encoded(&["nprofile", &npub, "--relay", "wss://b.example", "--uri"]);
    let output = nostr(&["decode"], format!("{naddr}\r\n\n{nprofile}\n")).expect(0);
    for part in [
        "identifier  ö\n",
        "kind        30023\n",
        "\n\ntype        nprofile\n",
        "relays      wss://b.example\n",
    ] {
        assert!(output.out.contains(part), "{}", output.out);
    }
    let output = nostr(&["decode", &npub[1..], &npub], "").expect(1);
    assert!(output.err.starts_with("argument 1: "), "{}", output.err);
    assert!(output.out.contains(&hex));
    let output = nostr(&["encode", "note", &npub], "").expect(2);
    assert!(output.err.contains("another entity"), "{}", output.err);
    nostr(&["encode", "nprofile", &npub, "--relay", "wss://ö"], "").expect(2);
}

#[test]
fn lines_are_filtered() {
    let text: String = (0..100).map(|number| line(number) + "\r\n").collect();
    let since = "{\"since\":1700000098}";
    let output = nostr(&["filter", since], &text).expect(0);
    assert_eq!(output.out, format!("{}\n{}\n", line(98), line(99)));
    assert_eq!(output.err, "");
    let output = nostr(
        &["filter", since, "--or", "{\"until\":1700000000}", "-c"],
        &text,
    )
    .expect(0);
    assert_eq!(output.out, "3\n");
    let output = nostr(&["filter", "{\"#t\":[\"test\"]}", "-v"], &text).expect(1);
    assert_eq!(output.out, "");
    let output = nostr(&["filter", "{}", "-c"], format!("{text}hello\n{{}}\n")).expect(0);
    assert_eq!(output.out, "100\n");
    assert!(output.err.contains("not events: 2;"), "{}", output.err);
    for wrong in ["{\"kinds\":1}", "x", "{\"search\":\"x\"}"] {
        nostr(&["filter", wrong], &text).expect(2);
    }
    nostr(&["filter", "{}", "no-such-file.jsonl"], "").expect(2);
}
