functions = client("lambda")
arn = "arn:aws:lambda:us-east-1:123456789012:function:rain"
pages = functions.get_paginator("list_aliases").paginate(
    FunctionName=arn, FunctionVersion="$LATEST", PaginationConfig={"PageSize": 2})
called = functions.invoke(
    FunctionName="rain", Payload=EVERY_BYTE, ClientContext="e30=", Qualifier="7")
waiting = functions.invoke(FunctionName="rain", InvocationType="Event", Payload=b"")
settings = functions.get_function_configuration(FunctionName="rain", Qualifier="7")
created = functions.create_alias(
    FunctionName="rain", Name="live", FunctionVersion="7", Description="tea & <milk> \"grün\"",
    RoutingConfig={"AdditionalVersionWeights": {"8": 0.1, "9": 1e-7}})


def without_payload(answer):
    return {**bare(answer), "Payload": list(answer["Payload"].read())}


show({
    "pages": [[alias["Name"] for alias in page["Aliases"]] for page in pages],
    "called": without_payload(called),
    "waiting": without_payload(waiting),
    "settings": bare(settings),
    "created": bare(created),
    "status": created["ResponseMetadata"]["HTTPStatusCode"],
    "error": caught(lambda: functions.get_function_configuration(FunctionName="snow")),
    "invalid": caught(lambda: functions.list_aliases(FunctionName="rain", FunctionVersion="new"))[:2],
    "tags": functions.list_tags(Resource=arn)["Tags"],
    "untagged": bare(functions.untag_resource(Resource=arn, TagKeys=["a & b", "c"])),
})
