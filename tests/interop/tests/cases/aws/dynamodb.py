dynamodb = client("dynamodb")
cities = {"TableName": "cities"}
pages = dynamodb.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 2})
table = dynamodb.describe_table(**cities)["Table"]
show({
    "pages": [page["TableNames"] for page in pages],
    "item": bare(dynamodb.get_item(**cities, Key={"id": {"S": "oslo"}})),
    "error": caught(lambda: dynamodb.get_item(TableName="rivers", Key={"id": {"S": "oslo"}})),
    "put": bare(dynamodb.put_item(
        **cities, ConditionExpression="attribute_not_exists(id)",
        Item={"id": {"S": "oslo"}, "flag": {"B": EVERY_BYTE},
              "parts": {"L": [{"S": "Frogner"}, {"M": {"depth": {"N": "2"}}}]}})),
    "table": [table["CreationDateTime"], str(table["ItemCount"]), table["TableStatus"]],
    "invalid": caught(lambda: dynamodb.get_item(
        **cities, Key={"id": {"S": "oslo"}}, ReturnConsumedCapacity="MAYBE"))[:2],
})
