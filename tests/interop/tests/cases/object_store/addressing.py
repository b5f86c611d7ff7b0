import botocore.httpsession, urllib.parse

# Every name below localhost is this machine, but not every resolver knows it.
connect_to = socket.getaddrinfo
socket.getaddrinfo = lambda host, *more, **named: connect_to(
    "127.0.0.1" if str(host).endswith("localhost") else host, *more, **named)

port = urllib.parse.urlsplit(url).port
s3 = connect("virtual", f"http://s3.localhost:{port}")
hosts = []
s3.meta.events.register("before-send.s3", lambda request, **_: hosts.append(
    urllib.parse.urlsplit(request.url)[1:3]))
s3.create_bucket(Bucket="bucket")
s3.put_object(Bucket="bucket", Key="a//b c", Body=b"data")
same(read("bucket", "a//b c"), b"data")
same(keys(s3.list_objects_v2(Bucket="bucket", Prefix="a/")), ["a//b c"])
same(s3.get_bucket_location(Bucket="bucket")["LocationConstraint"], None)
same(fails(s3.get_object, Bucket="bucket", Key="none"), ["NoSuchKey", 404])
same([bucket["Name"] for bucket in s3.list_buckets()["Buckets"]], ["bucket"])
same(hosts[1], (f"bucket.s3.localhost:{port}", "/a//b%20c"))
# The same objects by path.
s3 = connect()
same(read("bucket", "a//b c"), b"data")
show("done")
