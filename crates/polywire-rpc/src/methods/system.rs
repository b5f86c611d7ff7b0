//! `system.*`: methods about methods.
//!
//! Names, parameters and results follow the conventions of XML-RPC servers: introspection (`system.listMethods`,
//! `system.methodSignature`, `system.methodHelp`), `system.getCapabilities` and
//! `system.multicall`.

use std::sync::Arc;

use polywire_protocol::Fault;
use polywire_schema::{Map, Member, Operation, OperationFlags, ShapeKind, Value};

use super::call::{MethodFuture, ReplyWriter};
use super::parameters::Source;
use super::router::Router;
use crate::Context;
use crate::call::Engine;

/// A built-in method.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SystemMethod {
    ListMethods,
    MethodSignature,
    MethodHelp,
    GetCapabilities,
    Multicall,
}

/// What introspection returns for a method.
#[derive(Clone, Debug, Default)]
pub(crate) struct MethodInfo {
    /// Each signature is the type of the result, then those of the parameters.
    pub(crate) signatures: Vec<Vec<String>>,
    pub(crate) help: String,
}

impl SystemMethod {
    pub(crate) const ALL: [Self; 5] = [
        Self::ListMethods,
        Self::MethodSignature,
        Self::MethodHelp,
        Self::GetCapabilities,
        Self::Multicall,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ListMethods => "system.listMethods",
            Self::MethodSignature => "system.methodSignature",
            Self::MethodHelp => "system.methodHelp",
            Self::GetCapabilities => "system.getCapabilities",
            Self::Multicall => "system.multicall",
        }
    }

    pub(crate) fn info(self) -> MethodInfo {
        let (signature, help): (&[&str], &str) = match self {
            Self::ListMethods => (&["array"], "The names of all methods, sorted."),
            Self::MethodSignature => (
                &["array", "string"],
                "The signatures of a method: for each way to call it the type of the result and \
                 then those of the parameters. \"undef\" if they are not known.",
            ),
            Self::MethodHelp => (
                &["string", "string"],
                "What a method is for, as text. Empty if nothing is known.",
            ),
            Self::GetCapabilities => (
                &["struct"],
                "The extensions of XML-RPC that this server has: for each of them the address of \
                 its specification, specUrl, and its version, specVersion.",
            ),
            Self::Multicall => (
                &["array", "array"],
                "Makes several calls one after the other. The parameter is an array of structs \
                 with a methodName and an array params. The result is an array that has for each \
                 call either an array of its one result or a struct of faultCode and faultString.",
            ),
        };
        MethodInfo {
            signatures: vec![signature.iter().map(|&name| name.to_owned()).collect()],
            help: help.to_owned(),
        }
    }

    /// Decodes the parameters and starts the call.
    pub(crate) fn call(
        self,
        engine: &Arc<Engine>,
        source: Source<'_>,
        context: Context,
        reply: ReplyWriter,
    ) -> Result<MethodFuture, Fault> {
        let Some(router) = &engine.methods else {
            return Err(Fault::internal("a server without methods"));
        };
        let value = match self {
            Self::Multicall => return super::multicall::start(engine, source, context, reply),
            Self::ListMethods => {
                let () = source.decode()?;
                let names = router.info.iter().map(|(name, _)| Value::from(&**name));
                Value::List(names.collect())
            }
            Self::MethodSignature => {
                let (name,): (String,) = source.decode()?;
                signatures(find_info(router, &name)?)
            }
            Self::MethodHelp => {
                let (name,): (String,) = source.decode()?;
                Value::from(find_info(router, &name)?.help.as_str())
            }
            Self::GetCapabilities => {
                let () = source.decode()?;
                capabilities(router)
            }
        };
        Ok(Box::pin(async move { reply.value(&value) }))
    }
}

fn find_info<'r>(router: &'r Router, name: &str) -> Result<&'r MethodInfo, Fault> {
    let found = router.info.binary_search_by(|(own, _)| (**own).cmp(name));
    match found {
        Ok(at) => Ok(&router.info[at].1),
        Err(_) => Err(router.no_method(name)),
    }
}

/// An array of signatures, or `undef` without any, as introspection specifies.
fn signatures(info: &MethodInfo) -> Value {
    if info.signatures.is_empty() {
        return Value::from("undef");
    }
    let signature = |types: &Vec<String>| {
        let types = types.iter().map(|name| Value::from(name.as_str()));
        Value::List(types.collect())
    };
    Value::List(info.signatures.iter().map(signature).collect())
}

/// The implemented specifications. Names and versions are those that other servers return.
fn capabilities(router: &Router) -> Value {
    let known = [
        ("xmlrpc", "http://www.xmlrpc.com/spec", 1),
        (
            "introspection",
            "http://phpxmlrpc.sourceforge.net/doc-2/ch10.html",
            2,
        ),
        (
            "introspect",
            "http://xmlrpc.usefulinc.com/doc/reserved.html",
            1,
        ),
        (
            "system.multicall",
            "http://www.xmlrpc.com/discuss/msgReader$1208",
            1,
        ),
        ("nil", "http://www.ontosys.com/xml-rpc/extensions.php", 1),
        (
            "faults_interop",
            "http://xmlrpc-epi.sourceforge.net/specs/rfc.fault_codes.php",
            20_010_516,
        ),
    ];
    let entry = |(name, url, version): (&'static str, &'static str, i64)| {
        let specification = Map::from_iter([
            ("specUrl", Value::from(url)),
            ("specVersion", Value::from(version)),
        ]);
        (name, Value::Map(specification))
    };
    let multicall = SystemMethod::Multicall.name();
    let is_offered =
        |(name, ..): &(&str, &str, i64)| *name != multicall || router.find(name).is_ok();
    let known = known.into_iter().filter(is_offered);
    Value::Map(known.map(entry).collect())
}

/// The signatures of an operation in XML-RPC.
pub(crate) fn signatures_of(operation: Operation<'_>) -> Vec<Vec<String>> {
    let result = || "struct".to_owned();
    let input = operation.input();
    let required = |member: &Member<'_>| member.is_required();
    if !operation.has(OperationFlags::POSITIONAL) {
        let mut signatures = Vec::new();
        if !input.members().any(|member| required(&member)) {
            signatures.push(vec![result()]);
        }
        if input.members().next().is_some() {
            signatures.push(vec![result(), "struct".to_owned()]);
        }
        return signatures;
    }
    // Callers may omit optional members at the end.
    let types: Vec<String> = input
        .members()
        .map(|member| type_of(member.kind()).to_owned())
        .collect();
    let min = input.members().rposition(|member| required(&member));
    let min = min.map_or(0, |last| last + 1);
    (min..=types.len())
        .map(|count| {
            std::iter::once(result())
                .chain(types[..count].to_vec())
                .collect()
        })
        .collect()
}

/// The XML-RPC type of values of a shape.
const fn type_of(kind: ShapeKind) -> &'static str {
    match kind {
        ShapeKind::Boolean => "boolean",
        ShapeKind::Byte | ShapeKind::Short | ShapeKind::Integer | ShapeKind::IntEnum => "int",
        ShapeKind::Long => "i8",
        ShapeKind::Float | ShapeKind::Double => "double",
        ShapeKind::Blob => "base64",
        ShapeKind::Timestamp => "dateTime.iso8601",
        ShapeKind::List => "array",
        ShapeKind::Map | ShapeKind::Structure | ShapeKind::Union => "struct",
        ShapeKind::Document => "undef",
        _ => "string",
    }
}
