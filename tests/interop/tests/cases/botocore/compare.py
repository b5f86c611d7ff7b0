# Compares an export with the data that botocore ships for the same service.
#
# Both sides are read by botocore's own loader and model classes, which join what
# a reference says with what its shape says. Every operation is walked on both
# sides at once, from input, output and errors down, so that names of shapes do not
# matter, only what is sent: a difference is one line
#
#     PLACE FACT OURS THEIRS
#
# with the last two in JSON; `null` where a side has nothing.

import botocore.loaders, botocore.model

ours_at, service, version, protocol, source = sys.argv[1:6]
# The model itself: what it lacks is not ours to export. A line about something that
# only they have, and that the model has not either, is left out: their data is newer.
model = {id.split("#")[1]: shape for id, shape in json.load(open(source))["shapes"].items()}
FACTS = ["location", "queryName", "flattened", "payload", "timestampFormat", "xmlNamespace",
         "xmlAttribute", "eventstream", "event", "eventheader", "eventpayload", "jsonvalue",
         "hostLabel", "resultWrapper"]
RULES = ["required", "min", "max", "pattern", "sensitive", "enum", "idempotencyToken",
         "endpointdiscoveryid", "retryable", "document", "union", "contextParam", "requiresLength",
         "error", "exception"]
lines = []


newer = 0


def say(place, fact, ours, theirs):
    ours, theirs = json.dumps(ours, sort_keys=True), json.dumps(theirs, sort_keys=True)
    if ours != theirs:
        lines.append(f"{place} {fact} {ours} {theirs}")


def sets(place, fact, ours, theirs, known):
    """Names on one side only; those on both, in the order of ours."""
    global newer
    for name in theirs:
        if name not in ours and name in known:
            lines.append(f"{place}{name} {fact} null true")
        newer += name not in ours and name not in known
    for name in ours:
        if name not in theirs:
            lines.append(f"{place}{name} {fact} true null")
    return [name for name in ours if name in theirs]


def facts(shape, name):
    wire = dict(shape.serialization)
    found = {fact: wire.get(fact) for fact in FACTS}
    # A name that is the member's own says nothing.
    found["locationName"] = wire.get("name") if wire.get("name") != name else None
    for rule in RULES:
        value = shape.metadata.get(rule)
        if rule == "required" and value is not None:
            value = sorted(value)
        if rule == "pattern" and value is not None:
            # Theirs lost the anchors on the way; botocore checks no patterns.
            value = value.removeprefix("^").removesuffix("$")
        if rule == "min" and value == 0 and shape.type_name in ("string", "list", "map", "blob"):
            value = None
        if rule != "enum":
            found[rule] = value
    found["type"] = shape.type_name
    # Every blob that is a payload is streamed: the flag `streaming` is for help texts.
    return found


class Walk:
    def __init__(self):
        self.seen = set()

    def both(self, place, ours, theirs, name=None):
        left, right = facts(ours, name), facts(theirs, name)
        for fact in left:
            say(place, fact, left[fact], right[fact])
        values = {*ours.metadata.get("enum", [])}, {*theirs.metadata.get("enum", [])}
        sets(f"{place}=", "enum", *values, known=values[0])
        if ours.type_name != theirs.type_name or (ours.name, theirs.name) in self.seen:
            return
        self.seen.add((ours.name, theirs.name))
        if ours.type_name == "structure":
            for member in sets(ours.name + ".", "member", ours.members, theirs.members,
                               model.get(ours.name, {}).get("members", {})):
                self.both(f"{ours.name}.{member}", ours.members[member], theirs.members[member], member)
        elif ours.type_name == "list":
            self.both(f"{ours.name}[]", ours.member, theirs.member)
        elif ours.type_name == "map":
            self.both(f"{ours.name}.key", ours.key, theirs.key)
            self.both(f"{ours.name}.value", ours.value, theirs.value)


def optional(walk, place, ours, theirs):
    if ours is None or theirs is None:
        # An output without members may as well be none.
        empty = [shape for shape in (ours, theirs) if shape is not None and not shape.members]
        if not empty:
            say(place, "shape", ours and ours.name, theirs and theirs.name)
        return
    walk.both(place, ours, theirs)


def load(loader, kind):
    try:
        return loader.load_service_model(service, kind, version)
    except botocore.exceptions.DataNotFoundError:
        return {}


mine = botocore.loaders.Loader(extra_search_paths=[ours_at], include_default_search_paths=False)
shipped = botocore.loaders.Loader(include_default_search_paths=False)
shipped.search_paths.append(botocore.loaders.Loader.BUILTIN_DATA_PATH)
assert mine.list_api_versions(service, "service-2") == [version]
ours = botocore.model.ServiceModel(load(mine, "service-2"), service)
theirs = botocore.model.ServiceModel(load(shipped, "service-2"), service)
assert ours.resolved_protocol == protocol, ours.resolved_protocol

for key in sorted({*ours.metadata, *theirs.metadata}):
    if key != "signingName":
        say("metadata", key, ours.metadata.get(key), theirs.metadata.get(key))
say("metadata", "signing", ours.signing_name, theirs.signing_name)
say("service", "clientContextParams",
    sorted((p.name, p.type) for p in ours.client_context_parameters),
    sorted((p.name, p.type) for p in theirs.client_context_parameters))

def named(operation):
    """The errors that the model has for an operation."""
    return [error["target"].split("#")[1] for error in model[operation].get("errors", [])]


def traits(name):
    """What the model has of an operation's paginators or waiters, as names."""
    if name == "pagination":
        return [id for id, shape in model.items() if "smithy.api#paginated" in shape.get("traits", {})]
    waiters = (shape.get("traits", {}).get("smithy.waiters#waitable", {}) for shape in model.values())
    return [waiter for some in waiters for waiter in some]


walk = Walk()
for name in sets("", "operation", ours.operation_names, theirs.operation_names, model):
    left, right = ours.operation_model(name), theirs.operation_model(name)
    for fact in ("wire_name", "deprecated", "auth_type", "auth", "unsigned_payload",
                 "http_checksum_required", "http_checksum", "endpoint_discovery",
                 "is_endpoint_discovery_operation", "endpoint", "request_compression",
                 "has_event_stream_input", "has_event_stream_output", "has_streaming_input",
                 "has_streaming_output", "idempotent_members", "operation_context_parameters"):
        say(name, fact, getattr(left, fact), getattr(right, fact))
    say(name, "static_context_parameters",
        sorted(left.static_context_parameters), sorted(right.static_context_parameters))
    for fact, default in (("method", None), ("requestUri", None), ("responseCode", 200)):
        say(name, fact, left.http.get(fact, default), right.http.get(fact, default))
    optional(walk, f"{name}:input", left.input_shape, right.input_shape)
    optional(walk, f"{name}:output", left.output_shape, right.output_shape)
    ours_by, theirs_by = ({shape.name: shape for shape in side.error_shapes} for side in (left, right))
    for error in sets(f"{name}:", "error", ours_by, theirs_by, named(name)):
        walk.both(error, ours_by[error], theirs_by[error])
        say(error, "code", ours_by[error].error_code, theirs_by[error].error_code)

for kind, key in (("paginators-1", "pagination"), ("waiters-2", "waiters")):
    left, right = load(mine, kind).get(key, {}), load(shipped, kind).get(key, {})
    word = key.removesuffix("s")
    for name in sets("", word, left, right, traits(key)):
        for fact in sorted({*left[name], *right[name]} - {"description", "acceptors", "non_aggregate_keys"}):
            say(f"{name}:{word}", fact, left[name].get(fact), right[name].get(fact))
        order = lambda acceptors: [dict(sorted(acceptor.items())) for acceptor in acceptors]
        if "acceptors" in left[name]:
            say(f"{name}:{word}", "acceptors", order(left[name]["acceptors"]), order(right[name]["acceptors"]))

assert newer < 400, newer
show(sorted(set(lines)))
