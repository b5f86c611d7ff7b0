# What every case of the object store begins with: clients with no settings of the
# machine, and `fails`, which says how a call ended.
import hashlib, io, os, subprocess, tempfile

for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ.update(AWS_CONFIG_FILE="/dev/null", AWS_SHARED_CREDENTIALS_FILE="/dev/null",
                  AWS_EC2_METADATA_DISABLED="true", AWS_ACCESS_KEY_ID="x",
                  AWS_SECRET_ACCESS_KEY="x", AWS_REGION="us-east-1")
if url.startswith("https"):
    os.environ["AWS_CA_BUNDLE"] = os.environ["STORE_CERTIFICATE"]
import boto3, botocore.config, botocore.exceptions

def connect(style="path", endpoint=url, **more):
    config = botocore.config.Config(
        signature_version="s3v4", retries={"total_max_attempts": 1},
        s3={"addressing_style": style}, **more)
    return boto3.client("s3", region_name="us-east-1", endpoint_url=endpoint, config=config)

s3 = connect()

def fails(call, **arguments):
    """The code and the status with which a call fails."""
    try:
        call(**arguments)
    except botocore.exceptions.ClientError as error:
        answer = error.response
        return [answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]]
    return "it did not fail"

def tag(data):
    return f'"{hashlib.md5(data).hexdigest()}"'

def keys(page):
    return [item["Key"] for item in page.get("Contents", [])]

def prefixes(page):
    return [item["Prefix"] for item in page.get("CommonPrefixes", [])]

def read(bucket, key, **more):
    return s3.get_object(Bucket=bucket, Key=key, **more)["Body"].read()

def same(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"
