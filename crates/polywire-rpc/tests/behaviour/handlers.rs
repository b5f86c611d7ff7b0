//! Handlers: the context that they receive, and timeouts. Also errors of client calls.

use std::time::Duration;

use polywire_protocol::ProtocolKind::{self, RestJson1, XmlRpc};
use polywire_protocol::{Fault, FaultKind};
use polywire_rpc::{CallErrorKind, Context, Timeouts, dynamic};
use polywire_schema::Map;

use crate::support::{Site, WIRES, builder, call_of, service};

const SLOW: &str = r#"{"how":"slow"}"#;

#[tokio::test]
async fn what_a_handler_sees() {
    let show = dynamic(|_: Map, context: Context| async move {
        let text = format!(
            "{} {} {} {} {}",
            context.protocol(),
            context.method(),
            context.uri().path(),
            context.headers().contains_key("user-agent"),
            context.peer().is_some_and(|peer| peer.ip().is_loopback()),
        );
        Ok(Map::from_iter([("text", text)]))
    });
    let site = Site::start(builder().operation("Names", show)).await;
    for (kind, expected) in [
        (RestJson1, "restJson1 POST /names true true"),
        (
            ProtocolKind::RpcV2Cbor,
            "rpcv2Cbor POST /service/Wire/operation/Names true true",
        ),
        (XmlRpc, "xmlRpc POST /RPC2 true true"),
    ] {
        let output = site.client(kind).call("Names", "{}").await.unwrap();
        assert_eq!(output, format!(r#"{{"text":"{expected}"}}"#));
    }
}

#[tokio::test]
async fn handlers_that_take_too_long() {
    let site =
        Site::start(builder().timeouts(Timeouts::DEFAULT.with_handler(Duration::from_millis(200))))
            .await;
    for kind in WIRES {
        let reply = site.send(call_of(kind, "/fail", "Fail", SLOW)).await;
        let (status, name, message) = reply.error(kind);
        assert_eq!(message, "Fail took too long", "{kind}");
        match kind {
            XmlRpc => assert_eq!((status, name.as_str()), (200, "-32400")),
            _ => {
                assert_eq!(status, 504);
                assert!(name.ends_with("DeadlineExceededException"), "{name}");
            }
        }
        let fault = site.client(kind).fault("Fail", SLOW).await;
        // XML-RPC has one fault code for all temporary errors of a server.
        let expected = match kind {
            XmlRpc => FaultKind::Overloaded,
            _ => FaultKind::DeadlineExceeded,
        };
        assert_eq!(fault.kind(), expected, "{kind}");
    }
    site.assert_still_serving().await;
}

/// A handler that never waits for I/O uses up the coop budget of its task in each poll. The handler
/// timeout must apply nevertheless.
#[tokio::test]
async fn handlers_that_are_always_busy() {
    async fn busy() -> Result<Map, Fault> {
        loop {
            tokio::task::coop::consume_budget().await;
        }
    }
    let busy = dynamic(|_: Map, _| busy());
    let timeouts = Timeouts::DEFAULT.with_handler(Duration::from_millis(200));
    let site = Site::start(builder().timeouts(timeouts).operation("Names", busy)).await;
    let reply = site.send(call_of(RestJson1, "/names", "Names", "{}")).await;
    assert_eq!(reply.error(RestJson1).0, 504);
}

#[tokio::test]
async fn client_deadlines() {
    let site = Site::plain().await;
    let deadline = Duration::from_millis(200);
    for kind in WIRES {
        let client = site.client_with(kind, |builder| builder.deadline(deadline));
        match client.call("Fail", SLOW).await {
            Err(error) if error.kind() == CallErrorKind::Deadline => {
                let text = error.to_string();
                assert!(text.ends_with(": not done within 0.2 s"), "{text}");
            }
            other => panic!("{kind}: {other:?}"),
        }
        // The client stays usable.
        client
            .call("Fail", r#"{"how":"not at all"}"#)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn calls_without_a_server_fail() {
    let mut site = Site::plain().await;
    site.stop().await;
    for kind in WIRES {
        match site
            .client(kind)
            .call("Add", r#"{"left":1,"right":2}"#)
            .await
        {
            Err(error) if error.kind() == CallErrorKind::Connect => {
                let text = error.to_string();
                assert!(text.to_lowercase().contains("connection refused"), "{text}");
            }
            other => panic!("{kind}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn unknown_operations() {
    let site = Site::plain().await;
    let client = site.client(RestJson1).0;
    let error = client.call("Subtract", Map::new()).await.unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::UnknownOperation);
    assert!(error.to_string().contains("Subtract"), "{error}");
    // The client rejects an input that does not match the model, without sending it.
    let wrong = Map::from_iter([("left", "one")]);
    let error = client.call("Add", wrong).await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Encode, "{error}");
}

/// Server and client use XML-RPC at a custom path.
#[tokio::test]
async fn client_and_server_can_use_xmlrpc_at_a_custom_path() {
    let protocol = || {
        let protocol = polywire_protocol::XmlRpc::new(service().service()).unwrap();
        Box::new(protocol.at_path("/xmlrpc.php"))
    };
    let site = Site::start(builder().custom_protocol(protocol())).await;
    let input = r#"{"left":1,"right":2}"#;
    let client = site.client_with(RestJson1, |builder| builder.custom_protocol(protocol()));
    assert_eq!(client.call("Add", input).await.unwrap(), r#"{"sum":3}"#);
    let fault = site.client(XmlRpc).fault("Add", input).await;
    assert!(fault.message().contains("/xmlrpc.php"), "{fault}");
}
