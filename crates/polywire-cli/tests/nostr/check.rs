//! `check` and large inputs.

use std::fs;
use std::io::Write;

use super::{Directory, line, nostr, start};

/// Returns the count and the first line of a row in the table of reasons.
fn row(table: &str, reason: &str) -> Option<(String, String)> {
    let row = table.lines().find(|line| line.starts_with(reason))?;
    let mut words = row.split_whitespace().skip(1);
    Some((words.next()?.to_owned(), words.next()?.to_owned()))
}

#[test]
fn all_are_valid() {
    let lines: Vec<String> = (0..50).map(line).collect();
    for (text, counts) in [
        (lines.join("\n"), "50 lines: 50 valid, 0 invalid\n"),
        (
            lines.join("\r\n") + "\r\n",
            "50 lines: 50 valid, 0 invalid\n",
        ),
        (
            format!("\n{}\n \t\r\n\n", lines[0]),
            "4 lines: 1 valid, 0 invalid, 3 blank\n",
        ),
        (String::new(), "0 lines: 0 valid, 0 invalid\n"),
    ] {
        for arguments in [&["check"][..], &["check", "-", "--jobs", "1"]] {
            let output = nostr(arguments, &text).expect(0);
            assert_eq!((&*output.out, &*output.err), (counts, ""));
        }
    }
}

#[test]
fn reasons_are_counted() {
    let directory = Directory::new();
    let good = line(1);
    let changed = good.replace("event 1", "event 2");
    let forged = good.replace("\"sig\":\"", "\"sig\":\"0").replace("\"}", "");
    let forged = format!("{}\"}}", &forged[..forged.len() - 1]);
    let first = directory.write("first.jsonl", format!("{good}\n{changed}\n{{}}\n{changed}"));
    let mut bytes = format!("\n{forged}\r\n").into_bytes();
    bytes.extend_from_slice(b"{\"\xff\"}\n{\"kind\":65536}");
    let second = directory.write("second.jsonl", bytes);
    let output = nostr(&["check", &first, &second], "").expect(1);
    for (reason, count, place) in [
        ("id-mismatch", "2", format!("{first}:2")),
        ("missing", "1", format!("{first}:3")),
        ("invalid-signature", "1", format!("{second}:2")),
        ("not-utf8", "1", format!("{second}:3")),
        ("too-large", "1", format!("{second}:4")),
    ] {
        assert_eq!(
            row(&output.out, reason),
            Some((count.to_owned(), place)),
            "{}",
            output.out
        );
    }
    assert!(
        output
            .out
            .ends_with("\n8 lines: 1 valid, 6 invalid, 1 blank\n"),
        "{}",
        output.out
    );
    let messages: Vec<&str> = output.err.lines().collect();
    assert_eq!(messages.len(), 6);
    assert_eq!(
        messages[5],
        format!("{second}:4: invalid: kind: number is too large, at byte 8")
    );

    let unsigned = nostr(&["check", "--no-signatures", &second], "").expect(1);
    assert_eq!(row(&unsigned.out, "invalid-signature"), None);

    let output = nostr(&["check", "--json", &first, &second], "").expect(1);
    let json: serde_json::Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(
        (&json["lines"], &json["valid"], &json["invalid"]),
        (&8.into(), &1.into(), &6.into())
    );
    let reason = &json["reasons"][0];
    assert_eq!(reason["reason"], "id-mismatch");
    assert_eq!((&reason["count"], &reason["line"]), (&2.into(), &2.into()));
    assert_eq!(reason["file"], first);
}

#[test]
fn leniencies_and_limits() {
    let upper = line(1).replacen('b', "B", 1);
    let at = upper.find("\"id\":\"").unwrap() + 6;
    let id = upper[at..at + 64].to_ascii_uppercase();
    let upper = format!("{}{id}{}", &upper[..at], &upper[at + 64..]);
    let output = nostr(&["check"], &upper).expect(1);
    assert!(
        row(&output.out, "upper-case-hex").is_some(),
        "{}",
        output.out
    );
    nostr(&["check", "--allow", "upper_case_hex"], &upper).expect(0);
    nostr(&["check", "--allow", "empty_tags,upper_case_hex"], &upper).expect(0);
    nostr(&["check", "--profile", "compatible"], &upper).expect(0);
    nostr(&["check", "--allow", "whole_floats"], &upper).expect(1);
    nostr(&["check", "--allow", "everything"], &upper).expect(2);

    let event = line(1);
    let len = event.len();
    nostr(
        &["check", "--max-bytes", &len.to_string()],
        format!("{event}\r\n"),
    )
    .expect(0);
    let output = nostr(&["check", "--max-bytes", &(len - 1).to_string()], &event).expect(1);
    assert!(
        row(&output.out, "too-many-bytes").is_some(),
        "{}",
        output.out
    );
    let output = nostr(&["check", "--max-tags", "0"], &event).expect(1);
    assert!(
        row(&output.out, "too-many-tags").is_some(),
        "{}",
        output.out
    );
}

#[test]
fn messages_are_few() {
    let text = "x\n".repeat(50);
    let output = nostr(&["check"], &text).expect(1);
    assert_eq!(output.err.lines().count(), 20);
    assert!(
        output
            .err
            .starts_with("-:1: invalid: JSON syntax error, at byte 0\n"),
        "{}",
        output.err
    );
    assert!(output.out.contains("--all"), "{}", output.out);
    let output = nostr(&["check", "--all"], &text).expect(1);
    assert_eq!(output.err.lines().count(), 50);
    assert!(!output.out.contains("--all"));
}

#[test]
fn lines_are_sorted_into_files() {
    let directory = Directory::new();
    let (valid, invalid) = (directory.path("valid"), directory.path("invalid"));
    let mut text = String::new();
    let (mut good, mut bad) = (String::new(), String::new());
    for number in 0..3000 {
        let line = match number % 3 {
            0 => format!("{{\"bad\":{number},\"x\":\"{}\"}}\n", "x".repeat(500)),
            _ => line(number / 2) + "\n",
        };
        text.push_str(&line);
        match number % 3 {
            0 => bad.push_str(&line),
            _ => good.push_str(&line),
        }
    }
    let input = directory.write("input", text);
    let outputs = [
        "--no-signatures",
        "--jobs",
        "4",
        "--valid",
        &valid,
        "--invalid",
        &invalid,
    ];
    let arguments = [&["check", &input][..], &outputs].concat();
    nostr(&arguments, "").expect(1);
    assert!(fs::read_to_string(&valid).unwrap() == good);
    assert!(fs::read_to_string(&invalid).unwrap() == bad);

    // Existing files are not replaced.
    let output = nostr(&arguments, "").expect(2);
    assert!(output.err.contains("--force"), "{}", output.err);
    let output = nostr(&["check", &input, "--force", "--valid", &input], "").expect(2);
    assert!(output.err.contains("is an input"), "{}", output.err);

    // `line(number / 2)` repeats some events, of which --unique prints each once.
    let unique = [
        "check",
        &input,
        "--no-signatures",
        "--unique",
        "--valid",
        "-",
    ];
    let output = nostr(&unique, "").expect(1);
    let mut lines: Vec<&str> = good.lines().collect();
    let all = lines.len();
    lines.dedup();
    assert!(output.out.lines().eq(lines.iter().copied()));
    let repeated = format!(", {} repeated", all - lines.len());
    assert!(
        all > lines.len() && output.err.contains(&repeated),
        "{}",
        output.err
    );
}

#[test]
fn files_that_are_not_there() {
    let output = nostr(&["check", "no-such-file.jsonl"], "").expect(2);
    assert!(output.err.contains("no-such-file.jsonl"), "{}", output.err);
    assert_eq!(output.out, "");
    nostr(&["check", "--jobs", "0"], "").expect(2);
    nostr(&["check", std::env::temp_dir().to_str().unwrap()], "").expect(2);
}

/// Streams more data than the memory limit.
#[test]
fn memory_is_constant() {
    const MOST: u64 = 40 << 20;
    let line = line(1) + "\n";
    let bad = "{}\n".repeat(10);
    let block = line.repeat((1 << 20) / line.len());
    let lines = block.lines().count();
    let mut child = start(&["check", "--no-signatures", "--jobs", "2"], &[]);
    let mut stdin = child.stdin.take().unwrap();
    for _ in 0..64 {
        stdin.write_all(block.as_bytes()).unwrap();
        stdin.write_all(bad.as_bytes()).unwrap();
    }
    let used = peak_memory(child.id());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let (valid, invalid) = (64 * lines, 64 * 10);
    let out = String::from_utf8(output.stdout).unwrap().replace(',', "");
    let counts = format!("{} lines: {valid} valid {invalid} invalid", valid + invalid);
    assert!(out.contains(&counts), "{out}");
    assert_eq!(output.status.code(), Some(1));
    assert!(used.is_none_or(|used| used < MOST), "{used:?}");
}

#[test]
fn a_line_without_end_is_not_kept() {
    const MOST: u64 = 40 << 20;
    let mut child = start(&["check", "--jobs", "2"], &[]);
    let mut stdin = child.stdin.take().unwrap();
    let block = vec![b'x'; 1 << 20];
    for _ in 0..64 {
        stdin.write_all(&block).unwrap();
    }
    let used = peak_memory(child.id());
    stdin
        .write_all(format!("\n{}", line(1)).as_bytes())
        .unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains("too-many-bytes"), "{out}");
    assert!(out.contains("2 lines: 1 valid, 1 invalid"), "{out}");
    assert!(used.is_none_or(|used| used < MOST), "{used:?}");
}

/// Returns the peak memory of a process in bytes, on systems that provide it.
fn peak_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}
