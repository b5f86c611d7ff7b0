# Signatures in the head and in URLs, and what is wrong with them.
import ssl, time, urllib.error, urllib.request

def fetch(link, method="GET", data=None):
    context = ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE"))
    request = urllib.request.Request(link, method=method, data=data)
    try:
        with urllib.request.urlopen(request, context=context if link.startswith("https") else None) as answer:
            return [answer.status, answer.read()]
    except urllib.error.HTTPError as error:
        text = error.read().decode()
        return [error.code, text.partition("<Code>")[2].partition("</Code>")[0]]

s3.create_bucket(Bucket="bkt")
s3.put_object(Bucket="bkt", Key="a b/ü+%.txt", Body=b"hello")
sign = lambda call, seconds=60, **arguments: s3.generate_presigned_url(
    call, Params={"Bucket": "bkt", **arguments}, ExpiresIn=seconds)
same(fetch(sign("get_object", Key="a b/ü+%.txt")), [200, b"hello"])
same(fetch(sign("put_object", Key="put"), "PUT", b"by url"), [200, b""])
same(read("bkt", "put"), b"by url")
old = sign("get_object", Key="put", seconds=1)
time.sleep(2)
same(fetch(old), [403, "AccessDenied"])
link = sign("get_object", Key="put")
same(fetch(link[:-1] + ("1" if link[-1] == "0" else "0")), [403, "SignatureDoesNotMatch"])
same(fetch(f"{url}/bkt/put"), [403, "AccessDenied"])
other = lambda id, secret: boto3.client(
    "s3", region_name="us-east-1", endpoint_url=url, aws_access_key_id=id, aws_secret_access_key=secret)
same(fails(other("x", "wrong").list_buckets), ["SignatureDoesNotMatch", 403])
same(fails(other("y", "x").list_buckets), ["InvalidAccessKeyId", 403])
# A part of an upload, and an upload of several megabytes, with the default settings.
data = os.urandom(6 << 20)
id = s3.create_multipart_upload(Bucket="bkt", Key="parts")["UploadId"]
part = s3.upload_part(Bucket="bkt", Key="parts", UploadId=id, PartNumber=1, Body=io.BytesIO(data))
parts = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
s3.complete_multipart_upload(Bucket="bkt", Key="parts", UploadId=id, MultipartUpload=parts)
same(read("bkt", "parts") == data, True)
# Forms are signed by their policies.
signed = s3.generate_presigned_post("bkt", "form")
def post(fields):
    boundary = "B" + os.urandom(8).hex()
    body = "".join(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                   for name, value in fields.items())
    body += f'--{boundary}\r\nContent-Disposition: form-data; name="file"\r\n\r\nhello\r\n--{boundary}--\r\n'
    request = urllib.request.Request(f"{url}/bkt", body.encode(), method="POST",
                                     headers={"Content-Type": f"multipart/form-data; boundary={boundary}"})
    context = ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE"))
    try:
        with urllib.request.urlopen(request, context=context if url.startswith("https") else None) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.read().decode().partition("<Code>")[2].partition("</Code>")[0]
same(post(signed["fields"]), 204)
same(read("bkt", "form"), b"hello")
same(post({**signed["fields"], "x-amz-signature": "0" * 64}), "SignatureDoesNotMatch")
same(post({"key": "form"}), "AccessDenied")
show("done")
