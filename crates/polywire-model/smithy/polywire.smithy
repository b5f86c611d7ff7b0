$version: "2.0"

// Polywire's own traits: the protocols that Smithy does not define.
//
// A model says on which wires its service may be offered by putting protocol
// traits on the service. `aws.protocols#restJson1` and
// `smithy.protocols#rpcv2Cbor` come with Smithy; the traits of this file stand
// beside them:
//
//     use aws.protocols#restJson1
//     use polywire#xmlRpc
//     use polywire#xmlRpcMethod
//
//     @restJson1
//     @xmlRpc
//     service Weather {
//         version: "2026-11-01"
//         operations: [GetCity]
//     }
//
//     @xmlRpcMethod(name: "weather.city")
//     operation GetCity {
//         // ...
//     }
//
// The whole mapping, with samples of the XML, is in `docs/xmlrpc-mapping.md`.
namespace polywire

use smithy.api#httpError

/// The service can be called over XML-RPC.
///
/// Every operation of the service is a method. A call is an HTTP `POST` to
/// `/RPC2` unless the server mounts the protocol elsewhere.
///
/// **Names.** The method has the name of the operation, or the one that
/// `@xmlRpcMethod` gives. Members have their Smithy names; `@jsonName`,
/// `@xmlName`, `@xmlFlattened` and the HTTP binding traits have no effect.
///
/// **Input.** One parameter: a struct with the members that are set. A call
/// without any parameter is read as one with an empty struct.
/// `@xmlRpcMethod(positional: true)` makes one parameter of each member instead.
///
/// **Output.** One value: a struct with the members that are set, and an empty
/// struct for an operation without output.
///
/// **Errors.** A modelled error becomes a `<fault>` whose struct has three
/// members:
///
/// - `faultCode`, an int: the code that the error's `@httpError` gives, or else
///   400 for a client error and 500 for a server error;
/// - `faultString`, a string: the name of the error's shape, a colon, a blank and
///   the error's message;
/// - `detail`, a struct: `__type` with the absolute shape ID of the error, and
///   all members of the error's structure that are set.
///
/// A client that knows nothing of Smithy reads the first two and passes over the
/// third; a client that has the model gets the whole structure back. Faults that
/// no model describes, such as an unknown method, carry the negative codes of the
/// XML-RPC specification for fault code interoperability and no `detail`.
@protocolDefinition(
    traits: [xmlRpcMethod, httpError]
)
@trait(selector: "service")
structure xmlRpc {}

/// How an operation appears as a method of XML-RPC. Without this trait the method
/// has the operation's name and takes one struct.
///
/// Both members change what clients have to send, so changing them breaks
/// existing callers.
@trait(
    selector: "operation"
    breakingChanges: [
        {
            change: "any"
        }
    ]
)
structure xmlRpcMethod {
    /// The name of the method, which takes the place of the operation's name.
    ///
    /// XML-RPC allows letters, digits, underscores, dots, colons and slashes.
    /// Dots are a common way to group methods, as in `weather.forecast`; names
    /// that begin with `system.` belong to introspection.
    @length(min: 1)
    @pattern("^[A-Za-z0-9_.:/]+$")
    name: String

    /// Whether the members of the input are sent as parameters, one after the
    /// other in the order of the model, and not as one struct.
    ///
    /// Members at the end that are not set are left out; one that is not set and
    /// has a set member behind it is sent as nil. New members may therefore only
    /// be added at the end of the input.
    positional: Boolean
}

/// The service can be called over Polywire's own framed protocol, which
/// `docs/frame.md` defines.
///
/// Every operation of the service is called by the name of the service, a dot and
/// its own name. Inputs, outputs and errors are CBOR as rpcv2Cbor has it:
/// `@jsonName`, `@xmlName`, `@timestampFormat` and the HTTP binding traits have no
/// effect. An operation that is `@readonly` or `@idempotent`, and an error that is
/// `@retryable`, may be tried again by clients.
@protocolDefinition
@trait(selector: "service")
structure frame {}

/// The service can be called over JSON-RPC 2.0, <https://www.jsonrpc.org/specification>.
///
/// Every operation of the service is a method. A call is an HTTP `POST` to
/// `/jsonrpc` unless the server mounts the protocol elsewhere.
///
/// **Names.** The method has the name of the operation, or the name of the service,
/// a dot and the name of the operation. Members have their Smithy names;
/// `@jsonName` and the HTTP binding traits have no effect.
///
/// **Input.** `params` by name has the members of the input. `params` by position
/// has their values in the order of the model, so new members may only be added at
/// the end of the input if callers use positions.
///
/// **Output.** `result` is an object with the members of the output.
///
/// **Errors.** A modelled error has the code -32000, its message, and as `data` an
/// object with `__type`, the absolute shape ID of the error, and the members of the
/// error's structure. Other faults have the codes of the specification.
@protocolDefinition
@trait(selector: "service")
structure jsonRpc {}
