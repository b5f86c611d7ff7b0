from boto3.s3.transfer import TransferConfig

s3.create_bucket(Bucket="bkt")
with tempfile.TemporaryDirectory() as folder:
    for size in (0, 1, (8 << 20) - 1, 8 << 20, (20 << 20) + 3):
        data = os.urandom(size)
        there, back = os.path.join(folder, "there"), os.path.join(folder, "back")
        with open(there, "wb") as file:
            file.write(data)
        s3.upload_file(there, "bkt", "a file", ExtraArgs={"Metadata": {"size": str(size)}})
        head = s3.head_object(Bucket="bkt", Key="a file")
        same([head["ContentLength"], head["Metadata"]], [size, {"size": str(size)}])
        # 8 MiB and more go in parts.
        same("-" in head["ETag"], size >= 8 << 20)
        s3.download_file("bkt", "a file", back)
        with open(back, "rb") as file:
            same(file.read() == data, True)
config = TransferConfig(multipart_threshold=1, multipart_chunksize=5 << 20, max_concurrency=4)
data = os.urandom(11 << 20)
s3.upload_fileobj(io.BytesIO(data), "bkt", "object", Config=config)
back = io.BytesIO()
s3.download_fileobj("bkt", "object", back, Config=config)
same(back.getvalue() == data, True)
show("done")
