//! Prints messages as they are sent and received.

use polywire::rpc::client::Exchange;

use crate::print;

/// Prints the request, or the response if there is one.
pub(crate) fn show(exchange: &Exchange) {
    let Some(response) = &exchange.response else {
        let request = &exchange.request;
        print::err(format_args!("> {} {}", request.method(), request.uri()));
        show_message('>', request.headers(), request.body());
        return;
    };
    print::err(format_args!("< {}", response.status()));
    show_message('<', response.headers(), response.body());
}

fn show_message(mark: char, headers: &http::HeaderMap, body: &[u8]) {
    for (name, value) in headers {
        // Users copy this output into bug reports.
        let value = match value.is_sensitive() {
            true => "***".into(),
            false => String::from_utf8_lossy(value.as_bytes()),
        };
        print::err(format_args!("{mark} {name}: {}", value.escape_debug()));
    }
    print::err(mark);
    let printable = |text: &&str| {
        !text
            .chars()
            .any(|character| character.is_control() && !matches!(character, '\n' | '\r' | '\t'))
    };
    match std::str::from_utf8(body).ok().filter(printable) {
        Some(text) => text
            .lines()
            .for_each(|line| print::err(format_args!("{mark} {line}"))),
        None => hex_dump(mark, body),
    }
}

fn hex_dump(mark: char, body: &[u8]) {
    for (index, row) in body.chunks(16).enumerate() {
        let hex: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
        let text: String = row
            .iter()
            .map(|byte| {
                if byte.is_ascii_graphic() {
                    char::from(*byte)
                } else {
                    '.'
                }
            })
            .collect();
        print::err(format_args!(
            "{mark} {:06x}  {:<47}  {text}",
            index * 16,
            hex.join(" ")
        ));
    }
}
