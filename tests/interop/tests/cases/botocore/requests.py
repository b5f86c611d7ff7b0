# Sends every operation with a made-up input twice, with a client of an export and
# with one of the data that botocore ships, and compares the requests byte by byte:
# method, URL, headers with the signature, body. Nothing reaches the network.
#
# Prints how many operations were equal, and for each other one what differs.

import copy
import botocore.auth, botocore.awsrequest, botocore.config, botocore.loaders
import botocore.model, botocore.session

ours_at, service, version, protocol = sys.argv[1:5]

NOW = datetime.datetime(2026, 11, 22, 12, 0, 0, tzinfo=datetime.timezone.utc)
for module in (botocore.auth, botocore.awsrequest):
    if hasattr(module, "get_current_datetime"):
        module.get_current_datetime = lambda remove_tzinfo=True: NOW.replace(tzinfo=None) if remove_tzinfo else NOW

# Different in every request.
RANDOM = {"amz-sdk-invocation-id", "user-agent"}


class Exported(botocore.loaders.Loader):
    """What we export. S3's model tells operations on one URL apart with a literal
    `x-id`, which other clients send and botocore's own does not."""

    def load_service_model(self, *arguments, **more):
        data = super().load_service_model(*arguments, **more)
        for operation in data.get("operations", {}).values():
            path, _, query = operation["http"]["requestUri"].partition("?")
            query = "&".join(part for part in query.split("&") if not part.startswith("x-id="))
            operation["http"]["requestUri"] = path + (query and "?" + query)
        return data


class Shipped(botocore.loaders.Loader):
    """What botocore ships, over the protocol of the export."""

    def load_service_model(self, *arguments, **more):
        data = super().load_service_model(*arguments, **more)
        if "metadata" in data:
            data["metadata"].update(protocol=protocol, protocols=[protocol])
        return data


def client(loader):
    session = botocore.session.Session()
    session.set_config_variable("region", "us-east-1")
    session.set_credentials("AKIDEXAMPLE", "secret")
    session.register_component("data_loader", loader)
    config = botocore.config.Config(retries={"total_max_attempts": 1})
    client = session.create_client(service, api_version=version, config=config)
    client.meta.events.register("before-send", lambda request, **_: capture(request))
    return client


class Captured(Exception):
    pass


def capture(request):
    body = request.body
    body = body.read() if hasattr(body, "read") else body
    body = body.encode() if isinstance(body, str) else body
    headers = {name.lower(): value for name, value in request.headers.items()}
    headers = {name: value.decode() if isinstance(value, bytes) else value for name, value in headers.items()}
    raise Captured({
        "method": request.method,
        "url": request.url,
        "headers": {name: value for name, value in headers.items() if name not in RANDOM},
        "body": repr(body),
    })


def send(client, operation, parameters):
    try:
        client._make_api_call(operation, parameters)
    except Captured as captured:
        return captured.args[0]
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def text(shape, name):
    if shape.enum:
        return shape.enum[0]
    if "arn" in name.lower():
        # Kinesis finds its endpoints by them, and looks closely.
        rest = "/consumer/sample-name:1" if "consumer" in name.lower() else ""
        return f"arn:aws:{service}:us-east-1:123456789012:stream/sample-name{rest}"
    least = shape.metadata.get("min", 1)
    return "sample-name" + "x" * max(0, least - 11)


def sample(ours, theirs, name="", depth=0):
    """An input that both sides can take, with every member that both have."""
    kind = ours.type_name
    if kind != theirs.type_name:
        raise LookupError(name)
    if kind == "structure":
        made = {}
        members = ours.members.items()
        if ours.is_tagged_union:
            # The simple ones first, so that recursion ends.
            members = sorted(members, key=lambda item: hasattr(item[1], "members") or hasattr(item[1], "member"))
        for member, shape in members:
            needed = ours.is_tagged_union or member in ours.required_members or member in theirs.required_members
            # Where a request goes depends on these; one resource is enough.
            endpoint = shape.metadata.get("contextParam") and not needed
            if depth > 4 and not needed or endpoint or member not in theirs.members:
                continue
            try:
                made[member] = sample(shape, theirs.members[member], member, depth + 1)
            except LookupError:
                if needed:
                    raise
                continue
            if ours.is_tagged_union:
                break
        return made
    if kind == "list":
        item = sample(ours.member, theirs.member, name, depth + 1)
        return [item] * max(ours.metadata.get("min", 0), theirs.metadata.get("min", 0), 2)
    if kind == "map":
        key = sample(ours.key, theirs.key, name, depth + 1)
        return {key: sample(ours.value, theirs.value, name, depth + 1)}
    return {
        "string": lambda: text(ours, name),
        "blob": lambda: b"\x00\xff bytes",
        "boolean": lambda: True,
        "timestamp": lambda: NOW,
        "integer": lambda: max(ours.metadata.get("min", 7), theirs.metadata.get("min", 7)),
        "long": lambda: max(ours.metadata.get("min", 7), 7),
        "float": lambda: 7.25,
        "double": lambda: 7.25,
    }[kind]()


mine = client(Exported(extra_search_paths=[ours_at]))
theirs = client(Shipped())
equal, different = 0, []
for operation in mine.meta.service_model.operation_names:
    if operation not in theirs.meta.service_model.operation_names:
        continue
    shapes = [side.meta.service_model.operation_model(operation).input_shape for side in (mine, theirs)]
    parameters = sample(*shapes) if all(shapes) else {}
    # botocore makes files of bytes in place, which can be read once.
    left, right = (send(side, operation, copy.deepcopy(parameters)) for side in (mine, theirs))
    if left == right and "error" not in left:
        equal += 1
        continue
    for part in sorted({*left, *right}):
        a, b = left.get(part), right.get(part)
        if a == b and part != "error":
            continue
        if isinstance(a, dict) and isinstance(b, dict):
            for name in sorted({*a, *b}):
                if a.get(name) != b.get(name):
                    different.append(f"{operation} {name} {a.get(name)} {b.get(name)}")
        else:
            different.append(f"{operation} {part} {a} {b}")
show({"equal": equal, "different": different})
