# What boto3 does unasked: checksums in headers, or over HTTPS in the trailers of aws-chunked.
s3.create_bucket(Bucket="bkt")
for name, body in {"bytes": b"data", "stream": io.BytesIO(b"data"), "empty": b""}.items():
    put = s3.put_object(Bucket="bkt", Key=name, Body=body)
    same(put["ChecksumCRC32"] != "", True)
    got = s3.get_object(Bucket="bkt", Key=name, ChecksumMode="ENABLED")
    # Reading checks the checksum.
    same(got["Body"].read(), b"" if name == "empty" else b"data")
    same(got["ChecksumCRC32"], put["ChecksumCRC32"])
    same("ContentEncoding" in got, False)
for algorithm in ["CRC32", "SHA1", "SHA256"]:
    put = s3.put_object(Bucket="bkt", Key=algorithm, Body=io.BytesIO(b"x" * 200_000),
                        ChecksumAlgorithm=algorithm, ContentEncoding="gzip")
    got = s3.head_object(Bucket="bkt", Key=algorithm, ChecksumMode="ENABLED")
    same(got["Checksum" + algorithm], put["Checksum" + algorithm])
    same(got["ContentEncoding"], "gzip")
# Wrong checksums: nothing is stored.
same(fails(s3.put_object, Bucket="bkt", Key="bad", Body=b"x", ChecksumCRC32="AAAAAA=="),
     ["BadDigest", 400])
same(fails(s3.put_object, Bucket="bkt", Key="bad", Body=b"x", ContentMD5="AAAAAAAAAAAAAAAAAAAAAA=="),
     ["BadDigest", 400])
same(fails(s3.head_object, Bucket="bkt", Key="bad"), ["404", 404])
show("done")
