# What boto3 does unasked is refused, not stored as it came.
same(s3.create_bucket(Bucket="bkt")["ResponseMetadata"]["HTTPStatusCode"], 200)
unasked = boto3.client("s3", region_name="us-east-1", endpoint_url=url,
                       config=botocore.config.Config(request_checksum_calculation="when_supported",
                                                     retries={"total_max_attempts": 1}))
stream = io.BytesIO(b"data")
ended = fails(unasked.put_object, Bucket="bkt", Key="k", Body=stream)
if ended == "it did not fail":
    # Over http the sum stands in the head, and the body is as it is.
    same(read("bkt", "k"), b"data")
else:
    same(ended, ["NotImplemented", 501])
show("done")
