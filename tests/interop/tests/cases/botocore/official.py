# Runs Smithy's official protocol tests through clients that botocore makes of an
# export: requests that it writes and responses that it reads.
#
# Prints "OPERATION ID: what went wrong" for each test that failed, and how many did not.

import io, math, re, urllib.parse, uuid, xml.etree.ElementTree
import cbor2, botocore.awsrequest, botocore.config, botocore.loaders, botocore.session

ours_at, service, source, namespace, id = sys.argv[1:6]
model = json.load(open(source))["shapes"]

uuid.uuid4 = lambda: uuid.UUID("00000000-0000-4000-8000-000000000000")
FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
UTC = datetime.timezone.utc


def value(shape, node):
    """The value in Python that a node of a test means."""
    if node is None:
        return None
    kind = shape.type_name
    if kind == "structure" and not shape.metadata.get("document"):
        # `None` for a member that is not set is no Python.
        return {name: value(shape.members[name], item) for name, item in node.items() if item is not None}
    if kind == "list":
        return [value(shape.member, item) for item in node]
    if kind == "map":
        return {key: value(shape.value, item) for key, item in node.items()}
    if kind == "timestamp":
        return datetime.datetime.fromtimestamp(node, UTC)
    if kind == "blob":
        return node.encode()
    if kind in ("float", "double"):
        return FLOATS.get(node, node)
    if shape.serialization.get("jsonvalue"):
        return json.loads(node)
    return node


def got(shape, item):
    """What a client gave, to be compared."""
    if item is None:
        return None
    kind = shape.type_name
    if hasattr(item, "read"):
        item = item.read()
    if kind == "structure" and not shape.metadata.get("document"):
        return {name: got(shape.members[name], part) for name, part in item.items() if name in shape.members}
    if kind == "list":
        return [got(shape.member, part) for part in item]
    if kind == "map":
        return {key: got(shape.value, part) for key, part in item.items()}
    if kind == "float" and isinstance(item, float):
        return round(item, 4)
    return item


def same(left, right):
    if isinstance(left, float) and isinstance(right, float) and left != left:
        return right != right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def tree(element):
    text = (element.text or "").strip()
    # The order of elements is not the order of members, and means nothing.
    return element.tag, sorted(element.attrib.items()), text, sorted(map(tree, element))


def body(kind, data):
    if isinstance(data, str):
        data = data.encode()
    if kind == "application/json":
        return json.loads(data or b"null")
    if kind == "application/xml":
        return tree(xml.etree.ElementTree.fromstring(data)) if data else None
    if kind == "application/x-www-form-urlencoded":
        return sorted(urllib.parse.parse_qsl(data.decode(), keep_blank_values=True))
    if kind == "application/cbor":
        return cbor2.loads(base64.b64decode(data)) if data else None
    return data


class Stop(Exception):
    pass


class Raw(io.BytesIO):
    def stream(self, **_):
        yield self.read()


sent = None
answer = None


def before_send(request, **_):
    global sent
    sent = request
    if answer is None:
        raise Stop()
    return botocore.awsrequest.AWSResponse(request.url, *answer)


session = botocore.session.Session()
session.set_credentials("AKIDEXAMPLE", "secret")
loader = botocore.loaders.Loader(extra_search_paths=[ours_at])
session.register_component("data_loader", loader)
config = botocore.config.Config(retries={"total_max_attempts": 1}, signature_version=botocore.UNSIGNED,
                                request_checksum_calculation="when_required")
client = session.create_client(service, region_name="us-east-1", endpoint_url="http://example.com",
                               config=config)
client.meta.events.register("before-send", before_send)
passed, failed = 0, []


def check_request(operation, test):
    global answer
    answer = None
    shape = operation.input_shape
    parameters = value(shape, test.get("params", {})) if shape else {}
    try:
        client._make_api_call(operation.name, parameters)
    except Stop:
        pass
    url = urllib.parse.urlsplit(sent.url)
    path = url.path or "/"
    assert sent.method == test["method"], sent.method
    assert path == test["uri"], f"path {path}"
    query = url.query.split("&") if url.query else []
    for part in test.get("queryParams", []):
        assert part in query, f"query {query}, not {part}"
    names = [part.split("=")[0] for part in query]
    for name in test.get("forbidQueryParams", []):
        assert name not in names, f"query {query}"
    for name in test.get("requireQueryParams", []):
        assert name in names, f"query {query}"
    if "resolvedHost" in test:
        assert url.hostname == test["resolvedHost"], url.hostname
    headers = {name.lower(): item.decode() if isinstance(item, bytes) else item
               for name, item in sent.headers.items()}
    for name, item in test.get("headers", {}).items():
        # It sends none with XML and spells the others in ways of its own, and blanks
        # between the items of a list mean nothing.
        if name.lower() == "content-type":
            continue
        item = re.sub(r", (?!\d\d )", ",", item)
        assert headers.get(name.lower()) == item, f"{name}: {headers.get(name.lower())}"
    for name in test.get("forbidHeaders", []):
        assert name.lower() not in headers, f"{name}: {headers[name.lower()]}"
    if "body" in test:
        data = sent.body
        data = data.read() if hasattr(data, "read") else data or b""
        kind = test.get("bodyMediaType")
        ours = base64.b64encode(data) if kind == "application/cbor" else data
        wanted, ours = body(kind, test["body"]), body(kind, ours)
        assert same(wanted, ours), f"body {ours} instead of {wanted}"


def check_response(operation, shape, test):
    global answer
    data = test.get("body", "")
    data = base64.b64decode(data) if test.get("bodyMediaType") == "application/cbor" else data.encode()
    headers = botocore.awsrequest.HeadersDict(test.get("headers", {}))
    answer = test["code"], headers, Raw(data)
    try:
        parameters = least(operation.input_shape) if operation.input_shape else {}
        result = client._make_api_call(operation.name, parameters)
        assert shape is None or not shape.metadata.get("exception"), "no error"
    except client.exceptions.ClientError as error:
        result = error.response
        assert shape is not None and shape.metadata.get("exception"), error
        assert type(error).__name__ == shape.name, f"{type(error).__name__}, not {shape.name}"
    wanted = got(shape, value(shape, test.get("params", {}))) if shape else {}
    result = got(shape, result) if shape else {}
    assert same(wanted, result), f"{result} instead of {wanted}"


def least(shape, name="x"):
    """The least input that passes."""
    kind = shape.type_name
    if kind == "structure":
        return {name: least(shape.members[name]) for name in shape.required_members}
    return {"list": [], "map": {}, "string": "x", "blob": b"x", "boolean": True}.get(kind, 1)


def tests(shape, trait, protocol):
    for test in shape.get("traits", {}).get(trait, []):
        if test.get("appliesTo", "client") == "client" and test["protocol"] == protocol:
            yield test


def attempt(name, check, *arguments):
    global passed
    try:
        check(*arguments)
        passed += 1
    except Exception as error:
        kind = "" if isinstance(error, AssertionError) else type(error).__name__ + ": "
        failed.append(f"{name}: {kind}{error}"[:600])


described = client.meta.service_model
protocol = id
for name in described.operation_names:
    operation = described.operation_model(name)
    shape = model[f"{namespace}#{name}"]
    for test in tests(shape, "smithy.test#httpRequestTests", protocol):
        attempt(test["id"], check_request, operation, test)
    for test in tests(shape, "smithy.test#httpResponseTests", protocol):
        attempt(test["id"], check_response, operation, operation.output_shape, test)
    for error in operation.error_shapes:
        full = [e["target"] for e in shape.get("errors", []) if e["target"].endswith("#" + error.name)]
        for test in tests(model[full[0]], "smithy.test#httpResponseTests", protocol) if full else ():
            attempt(test["id"], check_response, operation, error, test)
show({"passed": passed, "failed": sorted(set(failed))})
