//! Request ids, and S3 buckets in the host.

use std::sync::Arc;

use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use polywire_model::Loader;
use polywire_protocol::ProtocolKind::{self, AwsQuery, RestJson1, RestXml};
use polywire_rpc::{Client, Server, ServerBuilder, ServiceHandle, dynamic};
use polywire_schema::Map;
use tower::ServiceExt;

use crate::support::within;

const MODEL: &str = r#"
    $version: "2"
    namespace example

    service Store { version: "1", operations: [Get] }

    @readonly
    @http(method: "GET", uri: "/{bucket}/{key+}")
    operation Get {
        input := { @required @httpLabel bucket: String, @required @httpLabel key: String }
        output := { seen: String, host: String, path: String }
    }
"#;

fn service() -> ServiceHandle {
    let model = Loader::new().add_text("store.smithy", MODEL).assemble();
    let model = model.unwrap_or_else(|error| panic!("{error}")).model;
    let set = model.schemas("example#Store").unwrap().unwrap();
    ServiceHandle::new(Arc::new(set), 0)
}

/// A server whose handler returns the request id, host and path of the call.
fn builder(kind: ProtocolKind) -> ServerBuilder {
    let get = dynamic(|_: Map, context| {
        let seen = context.request_id().unwrap_or("none").to_owned();
        let host = context.headers()["host"].to_str().unwrap().to_owned();
        let path = context.uri().path().to_owned();
        async move {
            Ok(Map::from_iter([
                ("seen", seen),
                ("host", host),
                ("path", path),
            ]))
        }
    });
    Server::builder(service())
        .protocol(kind)
        .operation("Get", get)
}

/// The status, the id in the header, and the body of a response.
async fn answer(server: Server, target: &str) -> (StatusCode, Option<String>, String) {
    let request = Request::get(target).header("host", "example.com");
    let request = request.body(Full::default()).unwrap();
    let response: polywire_rpc::server::HttpResponse = server.oneshot(request).await.unwrap();
    let (head, body) = response.into_parts();
    let id = head.headers.get("x-amzn-requestid");
    let id = id.map(|id| id.to_str().unwrap().to_owned());
    let body = body.collect().await.unwrap().to_bytes();
    (head.status, id, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn callers_and_handlers_know_the_id_of_a_call() {
    for (kind, target, place) in [
        (RestXml, "/b/k", "<seen>ID</seen>"),
        (
            AwsQuery,
            "/?Action=Get&bucket=b&key=k",
            "<ResponseMetadata><RequestId>ID</RequestId></ResponseMetadata></GetResponse>",
        ),
    ] {
        let server = builder(kind).build().unwrap();
        let (status, id, body) = answer(server.clone(), target).await;
        let id = id.unwrap();
        assert_eq!((status.as_u16(), id.len()), (200, 36));
        assert!(body.contains(&place.replace("ID", &id)), "{kind} {body}");
        assert!(
            body.contains(&format!("<seen>{id}</seen>")),
            "{kind} {body}"
        );
        // Each call has a different id.
        let (_, other, _) = answer(server, target).await;
        assert_ne!(other.unwrap(), id);
        let server = builder(kind).request_ids(false).build().unwrap();
        let (_, id, body) = answer(server, target).await;
        assert_eq!(id, None);
        assert!(body.contains("<seen>none</seen>"), "{kind} {body}");
        assert!(!body.contains("RequestId"), "{kind} {body}");
    }
    // Faults of unroutable requests have an id too.
    for (kind, target) in [(RestXml, "/nowhere"), (AwsQuery, "/?Action=Steal")] {
        let (status, id, body) = answer(builder(kind).build().unwrap(), target).await;
        let place = format!("<RequestId>{}</RequestId></ErrorResponse>", id.unwrap());
        assert!(status.is_client_error());
        assert!(body.ends_with(&place), "{kind} {body}");
    }
    // restJson1 does not define request ids. It has them, in the header, only with
    // `request_ids(true)`.
    let (_, id, _) = answer(builder(RestJson1).build().unwrap(), "/b/k").await;
    assert_eq!(id, None);
    let server = builder(RestJson1).request_ids(true).build().unwrap();
    for target in ["/b/k", "/nowhere"] {
        let (_, id, _) = answer(server.clone(), target).await;
        assert_eq!(id.unwrap().len(), 36);
    }
}

/// Head layers see the id in the header of the response.
#[tokio::test]
async fn head_layers_see_the_request_id() {
    let layer = tower::layer::layer_fn(|inner: polywire_rpc::server::HeadService| {
        tower::service_fn(move |arriving| {
            let inner = inner.clone();
            async move {
                let response = inner.oneshot(arriving).await?;
                assert!(response.headers().contains_key("x-amzn-requestid"));
                Ok::<_, polywire_protocol::Fault>(response)
            }
        })
    });
    let server = builder(RestXml).head_layer(layer).build().unwrap();
    let (status, id, body) = answer(server, "/b/k").await;
    assert_eq!(status, 200);
    assert!(
        body.contains(&format!("<seen>{}</seen>", id.unwrap())),
        "{body}"
    );
}

#[tokio::test]
async fn s3_buckets_in_the_host() {
    let server = builder(RestXml).build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = running.address();
    for (virtual_hosted, bucket, host, path) in [
        (false, "photos", format!("{address}"), "/photos/k"),
        (true, "photos", format!("photos.{address}"), "/k"),
        (true, "my.photos", format!("{address}"), "/my.photos/k"),
    ] {
        let client = Client::builder(service(), RestXml)
            .s3_virtual_hosted(virtual_hosted)
            .connect(&format!("http://{address}"))
            .unwrap();
        let mut sent = None;
        let input = Map::from_iter([("bucket", bucket), ("key", "k")]);
        let answer = client.call_showing("Get", input, |exchange| {
            sent = Some(exchange.request.clone());
        });
        // Only the request matters. The server does not know the virtual host, so the result of the
        // call is ignored.
        let _ = within(answer).await;
        let sent = sent.unwrap();
        assert_eq!(sent.uri().path(), path);
        let own = sent.headers().get("host");
        let own = own.map_or(format!("{address}"), |own| own.to_str().unwrap().to_owned());
        assert_eq!(own, host);
    }
}
