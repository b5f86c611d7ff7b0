//! Storing the file of a form.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, request};
use http_body::Body;
use http_body_util::Full;
use polywire::protocol::Fault;
use polywire::schema::ByteStream;
use polywire::text::percent;

use super::fields::Fields;
use super::file::{Form, FormFile};
use super::parser::{Event, boundary};
use super::{policy, signature};
use crate::clock::now;
use crate::convert::{check_key, quoted};
use crate::document::{ResponseBody, error_response, escaped};
use crate::error::Error;
use crate::object::received_version;
use crate::service::ObjectStore;
use crate::storage::Checksums;

/// Whether a request uploads a form: a POST to a bucket with `multipart/form-data`.
pub(crate) fn is_form(head: &request::Parts) -> bool {
    let path = head.uri.path().trim_start_matches('/');
    let is_bucket = path.trim_end_matches('/').split('/').count() == 1 && !path.is_empty();
    let kind = head
        .headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let is_form = kind.is_some_and(|kind| {
        let kind = kind.split(';').next().unwrap_or_default();
        kind.trim().eq_ignore_ascii_case("multipart/form-data")
    });
    head.method == Method::POST && is_bucket && is_form && head.uri.query().is_none()
}

/// Stores the file of a form.
pub(crate) async fn answer<B, R>(
    own: &ObjectStore,
    head: &request::Parts,
    body: B,
) -> Response<ResponseBody<R>>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let bucket = head.uri.path().trim_matches('/').to_owned();
    match store(own, &bucket, head, body).await {
        Ok(posted) => posted.response(),
        Err(error) => error_response(error, head.uri.path()),
    }
}

/// A form that was stored.
struct Posted {
    bucket: String,
    key: String,
    etag: String,
    id: Option<String>,
    fields: Fields,
    /// The origin of the request, for the location of the object.
    origin: String,
}

async fn store<B>(
    own: &ObjectStore,
    bucket: &str,
    head: &request::Parts,
    body: B,
) -> Result<Posted, Error>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let kind = head
        .headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let boundary = kind.and_then(boundary);
    let boundary = boundary.ok_or(Error::MalformedPostRequest("The form has no boundary."))?;
    own.store.view()?.bucket(bucket)?;
    let mut form = Form::new(body, &boundary);
    let mut fields = Fields::default();
    let filename = loop {
        match form.next().await? {
            Event::Field { name, value } => fields.add(&name, value),
            Event::File { filename, .. } => break filename,
            Event::Bytes(_) | Event::End => {}
        }
    };
    // Browsers of old sent the whole path.
    let filename = filename.rsplit(['/', '\\']).next().unwrap_or_default();
    let key = fields.get("key").ok_or(Error::InvalidArgument(
        "Bucket POST must contain a field named 'key'.  If it is specified, please check the order of the fields.",
    ))?;
    let key = key.replace("${filename}", filename);
    check_key(&key)?;
    signature::verify(&fields, &own.settings.keys, now())?;
    let (smallest, largest) = policy::check(&fields, bucket, now())?;
    let (facts, tags) = (fields.facts()?, fields.tags()?);

    let body = ByteStream::new(FormFile::new(form, smallest));
    let limit = own.settings.put.min(largest);
    let mut received = own
        .store
        .receive(body, limit)
        .await
        .map_err(|fault| of_fault(&fault))?;
    let file = received.file.take();
    let version = received_version(received, file.as_ref(), facts, Checksums::default(), tags);
    let etag = quoted(&version.summary.etag).to_string();
    let place = (bucket.to_owned(), key.clone());
    let stored = own
        .store
        .change(move |changes| changes.put(&place.0, &place.1, version, file, |_| Ok(())))
        .await?;
    let host = head.headers.get("host").and_then(|host| host.to_str().ok());
    Ok(Posted {
        bucket: bucket.to_owned(),
        key,
        etag,
        id: stored.id,
        fields,
        origin: host
            .map(|host| format!("http://{host}"))
            .unwrap_or_default(),
    })
}

/// The error of a file that could not be received.
fn of_fault(fault: &Fault) -> Error {
    let own = [
        Error::EntityTooLarge,
        Error::EntityTooSmall,
        Error::InsufficientStorage,
        Error::Internal,
        Error::RequestTimeout,
    ];
    let mut own = own.into_iter();
    let found = own.find(|error| error.facts().0 == fault.name());
    found.unwrap_or(Error::IncompleteBody)
}

impl Posted {
    /// The URL of the object.
    fn location(&self) -> String {
        let mut path = String::new();
        percent::push_path(&mut path, &self.key);
        format!("{}/{}/{path}", self.origin, self.bucket)
    }

    fn response<R>(self) -> Response<ResponseBody<R>> {
        let redirect = self.fields.get("success_action_redirect");
        let redirect = redirect.or_else(|| self.fields.get("redirect"));
        if let Some(url) = redirect.and_then(|url| self.redirect(url)) {
            let mut response = self.empty(StatusCode::SEE_OTHER);
            response.headers_mut().insert(LOCATION, url);
            return response;
        }
        match self.fields.get("success_action_status") {
            Some("200") => self.empty(StatusCode::OK),
            Some("201") => {
                let document = format!(
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<PostResponse><Location>{}</Location><Bucket>{}</Bucket><Key>{}</Key><ETag>{}</ETag></PostResponse>",
                    escaped(&self.location()),
                    escaped(&self.bucket),
                    escaped(&self.key),
                    escaped(&self.etag)
                );
                let mut response = self.empty(StatusCode::CREATED);
                let kind = HeaderValue::from_static("application/xml");
                response.headers_mut().insert(CONTENT_TYPE, kind);
                *response.body_mut() = ResponseBody::Own(Full::new(document.into()));
                response
            }
            _ => self.empty(StatusCode::NO_CONTENT),
        }
    }

    /// The redirect with the query that S3 adds. `None` if the URL is not one.
    fn redirect(&self, url: &str) -> Option<HeaderValue> {
        let url: http::Uri = url.parse().ok()?;
        url.authority()?;
        let mut query = String::new();
        for (name, value) in [
            ("bucket", &self.bucket),
            ("key", &self.key),
            ("etag", &self.etag),
        ] {
            query.push(if query.is_empty() { '?' } else { '&' });
            query.push_str(name);
            query.push('=');
            percent::push(&mut query, value);
        }
        let mut text = url.to_string();
        if url.query().is_some() {
            query.replace_range(..1, "&");
        }
        text.push_str(&query);
        text.parse().ok()
    }

    fn empty<R>(&self, status: StatusCode) -> Response<ResponseBody<R>> {
        let mut response = Response::new(ResponseBody::Own(Full::default()));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        set(headers, ETAG, &self.etag);
        set(headers, LOCATION, &self.location());
        if let Some(id) = &self.id {
            set(headers, HeaderName::from_static("x-amz-version-id"), id);
        }
        let id = uuid::Uuid::new_v4().to_string();
        set(headers, HeaderName::from_static("x-amz-request-id"), &id);
        response
    }
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
