//! A protocol is a type with a name around what it shares with others, which
//! has the methods: this makes the type a [`Protocol`](crate::Protocol): both sides of one.

/// Makes a type whose field has the methods of a protocol one, of a kind.
/// `by_body` stands for those whose operation stands in the body, `own_ids` for those that
/// tell the ids of calls in a way of their own.
macro_rules! delegate {
    ($type:ty, $kind:expr $(, $more:ident)?) => {
        impl $crate::OfKind for $type {
            fn kind(&self) -> $crate::ProtocolKind {
                $kind
            }
        }

        impl $crate::ServerProtocol for $type {
            fn claim(&self, summary: &$crate::HeadSummary<'_>) -> $crate::Claim {
                self.0.claim(summary)
            }

            fn route(&self, head: &::http::request::Parts) -> Result<$crate::Plan, $crate::Fault> {
                self.0.route(head)
            }

            $crate::delegate::own_methods!($($more)?);

            fn parse_input<'de>(
                &self,
                operation: ::polywire_schema::Operation<'_>,
                request: &$crate::ReadPlan<'de>,
                sink: &mut dyn ::polywire_codec::Sink<'de>,
            ) -> Result<(), $crate::Fault> {
                self.0.parse_input(operation, request, sink)
            }

            fn encode_output(
                &self,
                operation: ::polywire_schema::Operation<'_>,
                output: &dyn ::polywire_codec::Message,
            ) -> Result<::http::Response<::bytes::Bytes>, ::polywire_schema::Error> {
                self.0.encode_output(operation, output)
            }

            fn encode_error(
                &self,
                error: ::polywire_schema::Schema<'_>,
                fault: &$crate::Fault,
            ) -> Result<::http::Response<::bytes::Bytes>, ::polywire_schema::Error> {
                self.0.encode_error(error, fault)
            }

            fn encode_other(&self, fault: &$crate::Fault) -> ::http::Response<::bytes::Bytes> {
                self.0.encode_other(fault)
            }
        }

        impl $crate::ClientProtocol for $type {
            fn encode_input(
                &self,
                operation: ::polywire_schema::Operation<'_>,
                input: &dyn ::polywire_codec::Message,
            ) -> Result<::http::Request<::bytes::Bytes>, ::polywire_schema::Error> {
                self.0.encode_input(operation, input)
            }

            fn parse_outcome<'s>(
                &self,
                operation: ::polywire_schema::Operation<'s>,
                head: &::http::response::Parts,
                body: &::polywire_schema::Body,
                limits: &::polywire_schema::Limits,
            ) -> Result<$crate::Outcome<'s>, ::polywire_schema::Error> {
                self.0.parse_outcome(operation, head, body, limits)
            }

            fn parse_output<'de>(
                &self,
                operation: ::polywire_schema::Operation<'_>,
                head: &'de ::http::response::Parts,
                body: &'de ::polywire_schema::Body,
                limits: &::polywire_schema::Limits,
                sink: &mut dyn ::polywire_codec::Sink<'de>,
            ) -> Result<(), ::polywire_schema::Error> {
                self.0.parse_output(operation, head, body, limits, sink)
            }

            fn parse_error<'de>(
                &self,
                error: ::polywire_schema::Schema<'_>,
                head: &'de ::http::response::Parts,
                body: &'de ::polywire_schema::Body,
                limits: &::polywire_schema::Limits,
                sink: &mut dyn ::polywire_codec::Sink<'de>,
            ) -> Result<(), ::polywire_schema::Error> {
                self.0.parse_error(error, head, body, limits, sink)
            }
        }
    };
}
pub(crate) use delegate;

/// The methods that some have of their own.
macro_rules! own_methods {
    () => {};
    (by_body) => {
        fn route_body(
            &self,
            head: &::http::request::Parts,
            body: &::polywire_schema::Body,
            limits: &::polywire_schema::Limits,
        ) -> Result<$crate::Route, $crate::Fault> {
            self.0.route_body(head, body, limits)
        }
    };
    (own_ids) => {
        fn tell_request_id(&self, response: &mut ::http::Response<::bytes::Bytes>, id: &str) {
            self.0.tell_request_id(response, id);
        }
    };
}
pub(crate) use own_methods;
