//! Faults over frames.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use polywire_codec::cbor::{self, CborDecoder, CborProfile};
use polywire_frame::FaultCode;
use polywire_protocol::{Fault, FaultKind};
use polywire_schema::{Limits, Map, Value};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

/// A fault as it was received. Its payload is decoded once, in the form that is asked for: as the structure of a modelled
/// error, or as [`Fault`].
#[derive(Clone)]
pub(crate) struct FrameFault {
    code: FaultCode,
    /// Milliseconds; 0 for none.
    retry_after: u32,
    payload: Box<[u8]>,
    fault: OnceLock<Fault>,
}

impl FrameFault {
    pub(crate) fn new(code: FaultCode, retry_after: u32, payload: &[u8]) -> Self {
        Self {
            code,
            retry_after,
            payload: payload.into(),
            fault: OnceLock::new(),
        }
    }

    pub(crate) const fn code(&self) -> FaultCode {
        self.code
    }

    pub(crate) const fn retry_after(&self) -> Option<Duration> {
        match self.retry_after {
            0 => None,
            millis => Some(Duration::from_millis(millis as u64)),
        }
    }

    pub(crate) const fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The name of the error without its namespace. The other members are skipped.
    pub(crate) fn name(&self) -> Option<String> {
        let payload =
            CborDecoder::from_slice(&self.payload, CborProfile::DEFAULT, &Limits::DEFAULT);
        let name: TypeName = payload.ok()?.deserialize().ok()?;
        let name = name.0?;
        Some(match name.rsplit_once('#') {
            Some((_, name)) => name.to_owned(),
            None => name,
        })
    }

    pub(crate) fn fault(&self) -> &Fault {
        self.fault.get_or_init(|| {
            let mut details = match cbor::read_value(&self.payload) {
                Ok(Value::Map(details)) => details,
                _ => Map::new(),
            };
            let name = match details.remove("__type") {
                Some(Value::String(name)) => name.to_string(),
                _ => String::new(),
            };
            let fault = match self.code {
                FaultCode::MODELLED => Fault::modelled(name, details),
                code => {
                    let message = details.get("message").and_then(Value::as_str);
                    let fault = general_fault(code, &name, message.unwrap_or_default());
                    fault.with_details(details)
                }
            };
            match self.retry_after() {
                Some(time) => fault.with_retry_after(time),
                None => fault,
            }
        })
    }
}

/// The value of `__type` in a map.
struct TypeName(Option<String>);

impl<'de> Deserialize<'de> for TypeName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = TypeName;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TypeName, A::Error> {
                let mut name = None;
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "__type" => name = Some(map.next_value()?),
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(TypeName(name))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// The fault for a code, a name that is not of the model, and a message. The name can have a namespace or be empty.
pub(crate) fn general_fault(code: FaultCode, name: &str, message: &str) -> Fault {
    let name = name.rsplit_once('#').map_or(name, |(_, name)| name);
    let shown = match name {
        "" => code.to_string(),
        name => name.to_owned(),
    };
    let kind = FaultKind::from_name(name).unwrap_or(kind_of(code));
    Fault::new(kind, message).with_name(shown)
}

const fn kind_of(code: FaultCode) -> FaultKind {
    match code {
        FaultCode::DEADLINE => FaultKind::DeadlineExceeded,
        FaultCode::FORBIDDEN => FaultKind::Forbidden,
        FaultCode::INVALID => FaultKind::Invalid,
        FaultCode::MALFORMED | FaultCode::UNSUPPORTED => FaultKind::Malformed,
        FaultCode::NAMED => FaultKind::Named,
        FaultCode::OVERLOADED | FaultCode::UNAVAILABLE => FaultKind::Overloaded,
        FaultCode::TOO_LARGE => FaultKind::TooLarge,
        FaultCode::UNAUTHENTICATED => FaultKind::Unauthenticated,
        FaultCode::UNKNOWN_OPERATION => FaultKind::UnknownOperation,
        _ => FaultKind::Internal,
    }
}

#[cfg(test)]
mod tests {
    use polywire_protocol::Retry;

    use super::*;

    #[test]
    fn unauthenticated_and_forbidden_callers_get_different_faults() {
        for (code, kind, shown) in [
            (
                FaultCode::UNAUTHENTICATED,
                FaultKind::Unauthenticated,
                "unauthenticated",
            ),
            (FaultCode::FORBIDDEN, FaultKind::Forbidden, "forbidden"),
        ] {
            for (name, shown) in [("", shown), (kind.name(), kind.name())] {
                let fault = general_fault(code, name, "no");
                assert_eq!(fault.kind(), kind, "{code}");
                assert_eq!(fault.status(), kind.status(), "{code}");
                assert_eq!((fault.name(), fault.message()), (shown, "no"));
                assert_eq!(fault.retry(), Retry::No);
            }
        }
        let other = general_fault(FaultCode::NAMED, "ValidationException", "no");
        assert_eq!(other.kind(), FaultKind::Invalid);
        assert_eq!(
            general_fault(FaultCode::INTERNAL, "", "").kind(),
            FaultKind::Internal
        );
    }
}
