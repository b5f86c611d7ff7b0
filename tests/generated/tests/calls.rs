//! A generated client calls a generated server, over every wire of the model.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_core::Stream;
use generated::library::client::{self, Client};
use generated::library::server::{self, Library};
use generated::library::{
    self, Book, Closed, Genre, GetBookError, GetBookInput, GetBookOutput, ListBooksError,
    ListBooksInput, ListBooksOutput, NoSuchBook, PingError, PingInput, PingOutput, PutBookError,
    PutBookInput, PutBookOutput, Rank, Shelf, ShoutError, ShoutInput, ShoutOutput, WhisperError,
    WhisperInput, WhisperOutput,
};
use polywire::protocol::{Fault, FaultKind, ProtocolKind, Retry};
use polywire::rpc::{CallErrorKind, Context, RunningServer, Validation, frames};
use polywire::schema::{Blob, Text, Timestamp, Value};

/// What a call came over, and from which reader.
type Seen = (ProtocolKind, Option<String>);

#[derive(Clone, Default)]
struct Shelves {
    /// Whether it has been too busy once.
    busy: Arc<AtomicBool>,
    books: Arc<Mutex<Vec<Book>>>,
    tokens: Arc<Mutex<Vec<String>>>,
    /// Of pings.
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Library for Shelves {
    async fn get_book(
        &self,
        input: GetBookInput,
        _: &Context,
    ) -> Result<GetBookOutput, GetBookError> {
        // The default of the model came with the call that did not say it.
        assert_eq!(input.depth, Some(3));
        if input.id.as_str() == "closed" {
            return Err(Closed::builder().message("on Sundays").build().into());
        }
        if input.id.as_str() == "broken" {
            let fault = Fault::new(FaultKind::Overloaded, "later");
            return Err(fault.with_retry_after(Duration::from_secs(7)).into());
        }
        if input.id.as_str() == "busy" && !self.busy.swap(true, Ordering::Relaxed) {
            return Err(Fault::new(FaultKind::Overloaded, "later").into());
        }
        if input.id.as_str() == "forgotten" {
            return Ok(GetBookOutput::builder().build()?);
        }
        let books = self.books.lock().unwrap();
        match books.iter().find(|book| book.id == input.id) {
            Some(book) => Ok(GetBookOutput::builder().book(book.clone()).build()?),
            None => {
                let error = NoSuchBook::builder().message("no such book").id(input.id);
                Err(error.build()?.into())
            }
        }
    }

    async fn list_books(
        &self,
        input: ListBooksInput,
        _: &Context,
    ) -> Result<ListBooksOutput, ListBooksError> {
        // A server gets no call without it.
        let token = input.request_token.unwrap();
        self.tokens.lock().unwrap().push(token.to_string());
        let books = self.books.lock().unwrap();
        let start: usize = input.next_token.map_or(0, |token| token.parse().unwrap());
        let size = input.page_size.unwrap_or(2) as usize;
        let page = books.iter().skip(start).take(size).cloned().collect();
        let mut output = ListBooksOutput::builder().books(page);
        if start + size < books.len() {
            output = output.next_token((start + size).to_string());
        }
        Ok(output.build()?)
    }

    async fn put_book(
        &self,
        input: PutBookInput,
        _: &Context,
    ) -> Result<PutBookOutput, PutBookError> {
        let token = input.request_token.unwrap_or_default();
        self.tokens.lock().unwrap().push(token.to_string());
        self.books.lock().unwrap().push(input.book);
        let mut output = PutBookOutput::builder().token(token);
        if let Some(reader) = input.reader {
            output = output.reader(reader);
        }
        Ok(output.build())
    }

    async fn shout(&self, input: ShoutInput, _: &Context) -> Result<ShoutOutput, ShoutError> {
        if let Some(pause) = input.pause {
            tokio::time::sleep(Duration::from_millis(pause as u64)).await;
        }
        if input.words.as_str() == "silence" {
            return Err(Closed::builder().message("hush").build().into());
        }
        Ok(ShoutOutput::builder().words(input.words).build()?)
    }

    async fn whisper(
        &self,
        input: WhisperInput,
        _: &Context,
    ) -> Result<WhisperOutput, WhisperError> {
        // No call comes without.
        let words = input.words.unwrap();
        Ok(WhisperOutput::builder().words(words).build()?)
    }

    async fn ping(&self, _: PingInput, context: &Context) -> Result<PingOutput, PingError> {
        let reader = context.headers().get("x-reader");
        let reader = reader.map(|value| value.to_str().unwrap().to_owned());
        self.seen.lock().unwrap().push((context.protocol(), reader));
        Ok(PingOutput::default())
    }
}

const KINDS: [ProtocolKind; 4] = [
    ProtocolKind::Frame,
    ProtocolKind::RestJson1,
    ProtocolKind::RpcV2Cbor,
    ProtocolKind::XmlRpc,
];

async fn start() -> (RunningServer, String) {
    start_with(Shelves::default()).await
}

async fn start_with(shelves: Shelves) -> (RunningServer, String) {
    let server = server::builder(shelves).build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("http://{}", running.address());
    (running, url)
}

/// The same server over another wire.
fn over(url: &str, kind: ProtocolKind) -> String {
    match kind {
        ProtocolKind::Frame => url.replacen("http", "tcp", 1),
        _ => url.to_owned(),
    }
}

/// A client that tries no call again.
fn once(url: &str, kind: ProtocolKind) -> Client {
    match kind {
        ProtocolKind::Frame => {
            let frames = frames::Client::builder().endpoint(&over(url, kind));
            client::over_frames(frames.retries(0).build().unwrap())
        }
        _ => client::connect(url, kind).unwrap(),
    }
}

fn book(id: &str) -> Book {
    Book::builder()
        .id(id)
        .title("A title \u{2603} that is longer than what fits in a text itself")
        .genre(Genre::ShortStory)
        .rank(Rank::High)
        .ratio(0.5)
        .cover(Blob::from(b"\x00\xffpng"))
        .bought(Timestamp::new(1_700_000_000, 0))
        .shelf(Shelf::Inside(Box::new(plain("inner"))))
        .notes([("a", "b")].map(|(k, v)| (k.into(), v.into())).into())
        .tags(vec!["one".into(), "two".into()])
        .by_genre([(Genre::Novel, 1), (Genre::NonFiction, 2)].into())
        .previous(plain("before"))
        .sequels(vec![plain("after")])
        .r#type("hard")
        .self_(true)
        .is_http2(false)
        .build()
        .unwrap()
}

fn plain(id: &str) -> Book {
    Book::builder().id(id).title("t").build().unwrap()
}

async fn put(client: &Client, book: Book) -> PutBookOutput {
    client.put_book().book(book).send().await.unwrap()
}

#[tokio::test]
async fn whole_structures_make_the_round() {
    for kind in KINDS {
        let (running, url) = start().await;
        let client = client::connect(&over(&url, kind), kind).unwrap();
        let sent = book("one");
        let output = client
            .put_book()
            .book(sent.clone())
            .reader("Ada")
            .send()
            .await;
        let output = output.unwrap();
        assert_eq!(output.reader.as_deref(), Some("Ada"));
        // The client made a token of its own.
        assert_eq!(output.token.unwrap().len(), 36);
        let got = client.get_book().id("one").send().await.unwrap();
        assert_eq!(got.book, sent, "{kind}");
        client.ping().send().await.unwrap();
        running.shutdown().await;
    }
}

#[tokio::test]
async fn errors_keep_their_types() {
    for kind in KINDS {
        let (running, url) = start().await;
        let client = once(&url, kind);
        match client.get_book().id("none").send().await {
            Err(GetBookError::NoSuchBook(error)) => {
                assert_eq!(error.message.as_str(), "no such book");
                assert_eq!(error.id.as_deref(), Some("none"));
                assert_eq!(error.to_string(), "NoSuchBook: no such book");
            }
            other => panic!("{kind}: {other:?}"),
        }
        match client.get_book().id("closed").send().await {
            Err(GetBookError::Closed(error)) => {
                assert_eq!(error.message.as_deref(), Some("on Sundays"));
            }
            other => panic!("{kind}: {other:?}"),
        }
        match client.get_book().id("broken").send().await {
            Err(GetBookError::Other(error)) => {
                let fault = error.fault().unwrap();
                assert_eq!(fault.message(), "later");
                // The head says when to try again.
                assert_eq!(fault.retry(), Retry::Throttled, "{kind}");
                assert_eq!(fault.retry_after(), Some(Duration::from_secs(7)), "{kind}");
            }
            other => panic!("{kind}: {other:?}"),
        }
        // What the handler forgot is its own affair.
        match client.get_book().id("forgotten").send().await {
            Err(GetBookError::Other(error)) => {
                let fault = error.fault().unwrap();
                assert_eq!(fault.kind(), FaultKind::Internal);
            }
            other => panic!("{kind}: {other:?}"),
        }
        // Nothing was sent.
        match client.get_book().send().await {
            Err(GetBookError::Other(error)) => {
                assert_eq!(error.kind(), CallErrorKind::Encode);
                assert!(error.to_string().contains("id"), "{error}");
            }
            other => panic!("{kind}: {other:?}"),
        }
        running.shutdown().await;
    }
}

#[tokio::test]
async fn pages_follow_each_other() {
    for kind in KINDS {
        let (running, url) = start().await;
        let client = client::connect(&over(&url, kind), kind).unwrap();
        for number in 0..5 {
            put(&client, plain(&number.to_string())).await;
        }
        let mut pages = client.list_books().into_paginator();
        let mut lengths = Vec::new();
        while let Some(page) = pages.next().await {
            lengths.push(page.unwrap().books.len());
        }
        assert_eq!(lengths, [2, 2, 1], "{kind}");
        let items = client.list_books().page_size(3).into_paginator().items();
        let items = items.collect().await.unwrap();
        let ids: Vec<&str> = items.iter().map(|book| book.id.as_str()).collect();
        assert_eq!(ids, ["0", "1", "2", "3", "4"]);
        running.shutdown().await;
    }
}

/// Each page is a call, and each call has a token of its own, unless it was
/// given one.
#[tokio::test]
async fn tokens_of_pages() {
    for kind in KINDS {
        let shelves = Shelves::default();
        let (running, url) = start_with(shelves.clone()).await;
        let client = client::connect(&over(&url, kind), kind).unwrap();
        for number in 0..5 {
            put(&client, plain(&number.to_string())).await;
        }
        let items = client.list_books().into_paginator().items();
        assert_eq!(items.collect().await.unwrap().len(), 5);
        // One of them without pages.
        client.list_books().send().await.unwrap();
        let made = std::mem::take(&mut *shelves.tokens.lock().unwrap());
        assert_eq!(made.len(), 5 + 3 + 1, "{kind}");
        assert!(made.iter().all(|token| token.len() == 36), "{made:?}");
        let different: BTreeSet<&String> = made.iter().collect();
        assert_eq!(different.len(), made.len(), "{kind}: {made:?}");

        let own = client.list_books().request_token("own");
        assert_eq!(
            own.into_paginator().items().collect().await.unwrap().len(),
            5
        );
        assert_eq!(*shelves.tokens.lock().unwrap(), ["own"; 3], "{kind}");
        running.shutdown().await;
    }
}

/// A program links the protocols of the model, so others are refused; unless the
/// program makes one itself.
#[tokio::test]
async fn other_protocols_are_left_out() {
    let (running, url) = start().await;
    let error = client::connect(&url, ProtocolKind::AwsJson1_0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the client was generated without awsJson1_0, only for frame, restJson1, rpcv2Cbor, xmlRpc: \
         add awsJson1_0 to `Build::protocols`"
    );
    let own = polywire::rpc::Client::builder(library::service(), ProtocolKind::RpcV2Json);
    let own = own.connect(&url).unwrap();
    let error = Client::new(own).ping().send().await.unwrap_err();
    // The server answers in the protocol of the request and says that it does not offer it.
    let PingError::Other(other) = error else {
        panic!("{error:?}");
    };
    let fault = other.into_fault().unwrap();
    assert_eq!(fault.kind(), FaultKind::UnknownOperation);
    assert!(
        fault.message().contains("does not offer rpcv2Json"),
        "{fault}"
    );
    running.shutdown().await;
}

/// Nothing goes out before it is awaited, and what cannot be written is said then.
#[tokio::test]
async fn calls_are_lazy() {
    let (running, url) = start().await;
    let client = client::connect(&url, ProtocolKind::RpcV2Cbor).unwrap();
    drop(
        client
            .put_book()
            .with_input(PutBookInput::builder().book(plain("1")).build().unwrap())
            .send(),
    );
    let error = client.get_book().id("1").send().await.unwrap_err();
    assert!(matches!(error, GetBookError::NoSuchBook(_)), "{error}");
    let unset = client.get_book().send();
    let error = unset.await.unwrap_err();
    assert!(
        error.to_string().starts_with("cannot encode the call: "),
        "{error}"
    );
    running.shutdown().await;
}

#[tokio::test]
async fn pages_are_streams() {
    let (running, url) = start().await;
    let client = client::connect(&url, ProtocolKind::RpcV2Cbor).unwrap();
    for number in 0..5 {
        put(&client, plain(&number.to_string())).await;
    }
    let pages = client.list_books().into_paginator().into_stream();
    let lengths: Vec<usize> = all(pages)
        .await
        .iter()
        .map(|page| page.books.len())
        .collect();
    assert_eq!(lengths, [2, 2, 1]);
    let items = client.list_books().into_paginator().items().into_stream();
    assert_eq!(all(items).await.len(), 5);
    running.shutdown().await;
    // A stream ends with the error that ends the pages.
    let mut pages = client.list_books().into_paginator().into_stream();
    assert!(next(&mut pages).await.unwrap().is_err());
    assert!(next(&mut pages).await.is_none());
    assert!(next(&mut pages).await.is_none());
}

async fn next<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    poll_fn(|context| Pin::new(&mut *stream).poll_next(context)).await
}

async fn all<T, E: Debug>(mut stream: impl Stream<Item = Result<T, E>> + Unpin) -> Vec<T> {
    let mut all = Vec::new();
    while let Some(item) = next(&mut stream).await {
        all.push(item.unwrap());
    }
    all
}

#[test]
fn documents_and_defaults() {
    let mut book = plain("x");
    assert_eq!((book.pages, &book.genre), (100, &Genre::Novel));
    book.extra = Some(Value::from("anything"));
    assert_eq!(book.clone(), book);
}

#[test]
fn values_of_enums_come_from_texts() {
    for (text, genre) in [
        ("short-story", Genre::ShortStory),
        ("poem", Genre::Unknown("poem".into())),
    ] {
        assert_eq!(Genre::from(text), genre);
        assert_eq!(Genre::from(text.to_owned()), genre);
        assert_eq!(Genre::from(Text::from(text)), genre);
    }
}

#[test]
fn builders_say_what_is_missing() {
    let error = Book::builder().id("x").build().unwrap_err();
    assert_eq!(error.to_string(), "Book needs `title`");
}

#[test]
fn what_is_sensitive_is_not_shown() {
    let output = PutBookOutput::builder().token("t").reader("Ada").build();
    let shown = format!("{output:?}");
    assert_eq!(
        shown,
        "PutBookOutput { token: Some(\"t\"), reader: (sensitive) }"
    );
    let builder = format!("{:?}", PutBookOutput::builder().reader("Ada"));
    assert!(!builder.contains("Ada"), "{builder}");
}

/// The client of frames is built apart, and the URL says which wire it is of.
#[tokio::test]
async fn clients_over_frames() {
    let shelves = Shelves::default();
    let (running, url) = start_with(shelves.clone()).await;
    let frames = frames::Client::builder()
        .endpoint(&over(&url, ProtocolKind::Frame))
        .in_flight(1..=1);
    let frames = frames.connect().await.unwrap();
    let client = client::over_frames(frames.clone());
    put(&client, plain("one")).await;
    let output = client.get_book().id("one").send().await.unwrap();
    assert_eq!(output.book.title.as_str(), "t");
    assert_eq!(frames.stats().replies, 2);
    // The model says that it only reads, so that it is tried again.
    put(&client, plain("busy")).await;
    let output = client.get_book().id("busy").send().await.unwrap();
    assert_eq!(output.book.id.as_str(), "busy");
    assert_eq!(frames.stats().retries, 1);
    assert!(format!("{client:?}").contains("FramesClient"), "{client:?}");

    let wrong = client::connect(&url, ProtocolKind::Frame).unwrap_err();
    assert!(wrong.to_string().contains("expected tcp://"), "{wrong}");
    let tcp = over(&url, ProtocolKind::Frame);
    let wrong = client::connect(&tcp, ProtocolKind::RpcV2Cbor).unwrap_err();
    assert!(wrong.to_string().contains("ProtocolKind::Frame"), "{wrong}");

    // The server goes: the call ends, and says why.
    running.shutdown().await;
    let quick = client::over_frames(frames.with_deadline(Duration::from_millis(50)));
    let error = quick.get_book().id("one").send().await.unwrap_err();
    assert!(
        matches!(&error, GetBookError::Other(error) if error.is_deadline()),
        "{error:?}"
    );
}

/// Headers are metadata there, which handlers see as headers.
#[tokio::test]
async fn headers_over_frames() {
    let shelves = Shelves::default();
    let (_running, url) = start_with(shelves.clone()).await;
    let name = http::HeaderName::from_static("x-reader");
    let builder = client::builder(ProtocolKind::Frame);
    let builder = builder.header(name, "ann".parse().unwrap());
    let client = Client::new(builder.connect(&over(&url, ProtocolKind::Frame)).unwrap());
    client.ping().send().await.unwrap();
    let seen = shelves.seen.lock().unwrap().clone();
    assert_eq!(seen, [(ProtocolKind::Frame, Some("ann".to_owned()))]);
}

/// Within a process calls, errors and constraints are as over every wire.
#[tokio::test]
async fn calls_within_a_process() {
    let shelves = Shelves::default();
    let server = server::builder(shelves).build().unwrap();
    let _running = server.listen_inproc("hands").unwrap();
    let client = client::connect("inproc://hands", ProtocolKind::Frame).unwrap();
    const LONG: &str = "words that are so long that a text has to keep them elsewhere";
    for pause in [None, Some(1)] {
        let words = Text::from(LONG);
        let input = ShoutInput::builder().words(words);
        let input = match pause {
            Some(pause) => input.pause(pause),
            None => input,
        };
        let call = client.shout().with_input(input.build().unwrap());
        let output = call.send().await.unwrap();
        assert_eq!(output.words.as_str(), LONG);
    }
    let error = client.shout().words("silence").send().await.unwrap_err();
    assert!(matches!(error, ShoutError::Closed(_)), "{error:?}");
    let error = client.shout().words("x".repeat(101)).send().await;
    let ShoutError::Other(other) = error.unwrap_err() else {
        panic!("not a fault");
    };
    let fault = other.into_fault().unwrap();
    assert_eq!(fault.kind(), FaultKind::Invalid);
    assert!(fault.message().contains("words"), "{fault}");
    // What has defaults or a token is encoded, so that they are filled in.
    put(&client, book("one")).await;
    let output = client.get_book().id("one").send().await.unwrap();
    assert_eq!(output.book, book("one"));
}

/// What a type leaves out and the model requires is refused as over every wire, and never seen by a handler.
#[tokio::test]
async fn what_is_required_is_not_handed_over_without() {
    for (name, validation) in [("all", Validation::All), ("off", Validation::Off)] {
        let server = server::builder(Shelves::default()).validation(validation);
        let server = server.build().unwrap();
        let _inproc = server.listen_inproc(name).unwrap();
        let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let mut faults = Vec::new();
        for url in [
            format!("tcp://{}", running.address()),
            format!("inproc://{name}"),
        ] {
            let client = client::connect(&url, ProtocolKind::Frame).unwrap();
            let output = client.whisper().words("psst").send().await.unwrap();
            assert_eq!(output.words.as_str(), "psst");
            let error = client.whisper().send().await.unwrap_err();
            let WhisperError::Other(other) = error else {
                panic!("not a fault: {error:?}");
            };
            let fault = other.into_fault().unwrap();
            faults.push((fault.kind(), fault.message().to_owned()));
        }
        assert_eq!(faults[0], faults[1], "{validation:?}");
        assert!(faults[1].1.contains("words"), "{faults:?}");
    }
}

/// A server with other types, members by name: nothing is handed over.
#[tokio::test]
async fn strangers_are_given_payloads() {
    let service = library::service();
    let mut stranger = polywire::rpc::Server::builder(service.clone());
    for operation in service.service().operations() {
        let same = polywire::rpc::dynamic(|input, _| async move { Ok(input) });
        stranger = stranger.operation(operation.name(), same);
    }
    let _running = stranger.build().unwrap().listen_inproc("stranger").unwrap();
    let client = client::connect("inproc://stranger", ProtocolKind::Frame).unwrap();
    let output = client.shout().words("hello").send().await.unwrap();
    assert_eq!(output.words.as_str(), "hello");
}
