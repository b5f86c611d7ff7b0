import os
import boto3, botocore.config, botocore.exceptions

# Nothing of the machine's: no settings, and no credentials, which are not needed.
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ.update(AWS_DATA_PATH=folder, AWS_CONFIG_FILE="/dev/null",
                  AWS_SHARED_CREDENTIALS_FILE="/dev/null", AWS_EC2_METADATA_DISABLED="true")
echo = boto3.client("echo", region_name="us-east-1", endpoint_url=url,
                    config=botocore.config.Config(retries={"total_max_attempts": 1}))

moment = datetime.datetime(2026, 11, 22, 10, 30, 59, tzinfo=datetime.timezone.utc)
early = datetime.datetime(year, 10, 14, tzinfo=datetime.timezone.utc)
every_byte = bytes(range(256))
text = " tea & <milk> \"grün\" 𝄞 ]]> 100%+1=\t'\n\r\\ "
if not returns:
    text = text.replace("\r", "")
content = {
    "text": text, "empty": "", "flag": True, "off": False,
    "small": -2147483648, "big": 9223372036854775807, "least": -9223372036854775808,
    "float": 1.5, "double": 0.1 + 0.2,
    "notANumber": float("nan"), "infinite": float("inf"), "negative": float("-inf"),
    "blob": every_byte, "moment": moment, "day": early, "header": moment, "seconds": early,
    "words": ["one", "", text], "flat": ["one", "two, three"], "blobs": [b"", every_byte],
    "lists": [["a", "b"], ["c"]],
    "parts": [{"id": "p<1>", "size": 9007199254740993, "words": ["x"]}, {"id": "p2"}],
    "named": "renamed", "pairs": {"key & <k>": text, "b": ""}, "flatPairs": {"c": "d"},
    "partsByName": {"left": {"size": -1}, "right": {"id": "r", "words": ["y", "z"]}},
    "color": "deep blue", "choice": {"part": {"id": "c", "size": 3}},
    "inner": {"text": "in", "inner": {"text": "innermost", "double": 1e-300}},
}
said = {
    "name": "a/b c?&%ü", "path": "x/y z/%2F+/é", "count": 9007199254740993,
    "tags": ["a&b", "c d"], "moment": moment, "heard": ["one", "two, three", 'fo"ur'],
    "content": content,
}
for name in left_out:
    del content[name]


def different(place, ours, theirs):
    """The places where two values are not the same."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return [line for name in {**ours, **theirs} for line in
                different(f"{place}.{name}", ours.get(name, "none"), theirs.get(name, "none"))]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [line for at, pair in enumerate(zip(ours, theirs))
                for line in different(f"{place}.{at}", *pair)]
    if isinstance(ours, float) and isinstance(theirs, float) and ours != ours:
        return [] if theirs != theirs else [f"{place} {ours!r} {theirs!r}"]
    is_same = type(ours) is type(theirs) and ours == theirs
    if isinstance(ours, datetime.datetime) and isinstance(theirs, datetime.datetime):
        is_same = ours == theirs
    return [] if is_same else [f"{place}: {ours!r} is not {theirs!r}"]


def bare(answer):
    return {name: item for name, item in answer.items() if name != "ResponseMetadata"}


def refused():
    try:
        return echo.refuse(reason="tea")
    except echo.exceptions.Refused as error:
        answer = error.response
        return [answer["ResponseMetadata"]["HTTPStatusCode"], answer["Error"]["Code"],
                answer["Error"]["Message"], answer["reason"], str(answer["count"]),
                answer["until"], answer["details"]]


ids = []
echo.meta.events.register(
    "after-call", lambda parsed, **_: ids.append(parsed["ResponseMetadata"]["RequestId"]))
pages = echo.get_paginator("lines").paginate(PaginationConfig={"PageSize": 2})
show({
    "protocol": echo.meta.service_model.resolved_protocol,
    "version": echo.meta.service_model.metadata.get("jsonVersion"),
    "different": different("", said, bare(echo.say(**said))),
    "little": bare(echo.say(name="n", path="p")),
    "refused": refused(),
    "pages": [page["lines"] for page in pages],
    "ids": [len(ids), len(set(ids)), min(map(len, ids)), max(map(len, ids))],
})
