# What every script of this folder begins with: `client(NAME)`, `caught(CALL)`.
import os
import boto3, botocore.config

# Nothing of the machine's; credentials that nobody checks.
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ.update(AWS_CONFIG_FILE="/dev/null", AWS_SHARED_CREDENTIALS_FILE="/dev/null",
                  AWS_EC2_METADATA_DISABLED="true")


def client(name):
    made = boto3.client(
        name, region_name="us-east-1", endpoint_url=url,
        aws_access_key_id="nobody", aws_secret_access_key="nothing",
        config=botocore.config.Config(retries={"total_max_attempts": 1}))
    made.meta.events.register("after-call", has_an_id)
    return made


ids = set()


def has_an_id(parsed, **_):
    """Each answer, an error too, tells the id of its call."""
    answer = parsed["ResponseMetadata"]
    told = answer["HTTPHeaders"]["x-amzn-requestid"]
    # Of an answer without members over CBOR botocore reads the header only.
    assert answer.get("RequestId", told) == told and ("RequestId" in answer or len(parsed) == 1)
    assert len(told) == 36 and told not in ids, told
    ids.add(told)


def bare(answer):
    return {name: item for name, item in answer.items() if name != "ResponseMetadata"}


def caught(call):
    try:
        return ["no error", call()]
    except botocore.exceptions.ClientError as error:
        answer = error.response
        return [type(error).__name__, answer["Error"]["Code"], answer["Error"]["Message"],
                answer["ResponseMetadata"]["HTTPStatusCode"]]


EVERY_BYTE = b"\x00\x01\xfe\xff"
