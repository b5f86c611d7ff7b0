//! The startup message.

use polywire::model::Model;
use polywire::prelude::*;
use polywire::rpc::server::Mount;

use super::protocols::describe_offer;
use crate::authentication::CredentialKind;
use crate::paste;

/// Formats the startup message: what is served, and example commands.
pub(super) fn banner(
    model: &Model,
    services: &[ServiceHandle],
    server: &Server,
    urls: &[String],
    credentials: CredentialKind,
) -> String {
    let mut text = String::new();
    for service in services {
        let name = service.service();
        let count = name.operations().len();
        text.push_str(&format!(
            "{} {}: {count} operations on {}\n",
            name.id(),
            name.version(),
            urls.join(", ")
        ));
    }
    // The commands call the first service.
    let service = server.service();
    let name = service.service();
    // Prefer HTTP for examples, and URLs that need no trusted certificate.
    let with = |scheme: &str| urls.iter().find(|url| url.starts_with(scheme));
    // Ports that accept frames accept HTTP too.
    let http_of_frames = with("tcp://").map(|url| url.replacen("tcp", "http", 1));
    let base = with("http://").or_else(|| with("https://"));
    let base = base.or(http_of_frames.as_ref());
    let easiest = base.and_then(|base| Some((base, paste::easiest_call(model, service)?)));
    // Sort the easiest protocol first.
    let mut mounts: Vec<_> = server.mounts().collect();
    mounts.sort_by_key(|(mount, _)| **mount != Mount::default());
    for (mount, protocol) in mounts {
        text.push_str(&format!("\n  {}\n", describe_offer(mount, protocol.kind())));
        // The host name of a mount may not resolve to this server.
        let reachable = easiest.as_ref().filter(|_| mount.host_name().is_none());
        let line = reachable.and_then(|(base, (operation, input))| {
            let base = format!("{base}{}", mount.path_prefix());
            let calls = protocol.kind().client(name).ok()?;
            paste::command(&base, &*calls, *operation, input, credentials)
        });
        if let Some(line) = line {
            text.push_str(&format!("    {line}\n"));
        }
    }
    if server.offers_frames() {
        text.push_str("\n  frames\n");
        let url = with("tcp://").cloned();
        let url = url.or_else(|| with("http://").map(|url| url.replacen("http", "tcp", 1)));
        if let (Some(url), Some((_, (operation, input)))) = (url, &easiest)
            && let Some(line) = paste::over_frames(&url, *operation, input, credentials)
        {
            text.push_str(&format!("    {line}\n"));
        }
    }
    let lists = base.map(|base| format!("{base}/_polywire/ lists the operations. "));
    text.push_str(&format!("\n  {}Ctrl-C stops.\n", lists.unwrap_or_default()));
    text
}
