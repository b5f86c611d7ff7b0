import http.client, urllib.parse

s3.create_bucket(Bucket="bkt")
# Boundaries, fields and files as the module of CPython's email would write them.
def post(fields, data, filename="some file.txt", path="/bkt", headers={}, end="--\r\n"):
    boundary = "----boundary" + os.urandom(8).hex()
    body = b""
    for name, value in fields.items():
        body += (f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"'
                 f"\r\n\r\n{value}\r\n").encode()
    body += (f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{filename}"'
             f"\r\nContent-Type: text/plain\r\n\r\n").encode()
    body += data + f"\r\n--{boundary}{end}".encode()
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=30)
    kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    connection.request("POST", path, body, {**kind, **headers})
    answer = connection.getresponse()
    return answer, answer.read().decode()

def code(fields, data=b"x", **more):
    answer, text = post(fields, data, **more)
    return [answer.status, text.partition("<Code>")[2].partition("</Code>")[0]]

# As boto3 signs forms. The store checks the policy, not the signature.
signed = s3.generate_presigned_post(
    "bkt", "user/${filename}", Fields={"acl": "private", "x-amz-meta-m": "n", "Content-Type": "a/b"},
    Conditions=[["starts-with", "$key", "user/"], {"acl": "private"}, {"x-amz-meta-m": "n"},
                {"Content-Type": "a/b"}, ["content-length-range", 2, 3 << 20]])
data = os.urandom(3 << 20)
answer, text = post(signed["fields"], data)
same([answer.status, text, answer.headers["ETag"]], [204, "", tag(data)])
got = s3.get_object(Bucket="bkt", Key="user/some file.txt")
same(got["Body"].read() == data, True)
same([got["ContentType"], got["Metadata"]], ["a/b", {"m": "n"}])
same(code(signed["fields"], data + b"x"), [400, "EntityTooLarge"])
same(code(signed["fields"], b"x"), [400, "EntityTooSmall"])
same(code({**signed["fields"], "x-amz-meta-m": "other"}, data), [403, "AccessDenied"])
same(code({**signed["fields"], "x-amz-meta-extra": "x"}, data), [403, "AccessDenied"])
same(code({**signed["fields"], "x-ignore-this": "x"}, data)[0], 204)
same(code({**signed["fields"], "key": "elsewhere"}, data), [403, "AccessDenied"])
old = base64.b64encode(b'{"expiration": "2000-01-01T00:00:00Z", "conditions": []}').decode()
same(code({"key": "k", "policy": old}), [403, "AccessDenied"])
same(code({"key": "k", "policy": "e30="}), [400, "InvalidPolicyDocument"])

# Without a policy.
answer, text = post({"key": "a/${filename}", "success_action_status": "201"}, b"small", filename="C:\\d\\f.txt")
same(answer.status, 201)
same([f"<Key>a/f.txt</Key>" in text, answer.headers["Location"].endswith("/bkt/a/f.txt")], [True, True])
same(read("bkt", "a/f.txt"), b"small")
same(code({"key": "k", "success_action_status": "200"})[0], 200)
answer, _ = post({"key": "k", "success_action_redirect": "http://example.com/done?a=b"}, b"x")
same(answer.status, 303)
query = urllib.parse.parse_qs(urllib.parse.urlsplit(answer.headers["Location"]).query)
same(query, {"a": ["b"], "bucket": ["bkt"], "key": ["k"], "etag": [tag(b"x")]})
tagging = "<Tagging><TagSet><Tag><Key>t</Key><Value>u</Value></Tag></TagSet></Tagging>"
same(code({"key": "k", "tagging": tagging})[0], 204)
same(s3.get_object_tagging(Bucket="bkt", Key="k")["TagSet"], [{"Key": "t", "Value": "u"}])
same(code({}), [400, "InvalidArgument"])
same(code({"key": "k"}, path="/none"), [404, "NoSuchBucket"])
same(code({"key": "k" * 21000}), [400, "MalformedPOSTRequest"])
# A virtual host, and a body that ends early.
port = urllib.parse.urlsplit(url).port
same(code({"key": "host"}, path="/", headers={"Host": f"bkt.localhost:{port}"})[0], 204)
same(read("bkt", "host"), b"x")
connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=30)
head = b'--B\r\nContent-Disposition: form-data; name="key"\r\n\r\ncut\r\n'
head += b'--B\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
connection.request("POST", "/bkt", head + data, {"Content-Type": "multipart/form-data; boundary=B"})
same(connection.getresponse().status, 400)
same(fails(s3.head_object, Bucket="bkt", Key="cut"), ["404", 404])

# Errors in S3's XML.
connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=30)
connection.request("GET", "/bkt/not%20here")
answer = connection.getresponse()
text = answer.read().decode()
id = answer.headers["x-amz-request-id"]
same(text, '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchKey</Code>'
     "<Message>The specified key does not exist.</Message><Resource>/bkt/not%20here</Resource>"
     f"<RequestId>{id}</RequestId></Error>")
show("done")
