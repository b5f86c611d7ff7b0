//! The model of the tests.

/// A shop whose operations have no resources, and a zoo that has.
pub(crate) const MODEL: &str = r#"
    $version: "2"
    namespace example
    use aws.api#arn
    use aws.api#service
    use aws.protocols#restJson1

    @restJson1
    @service(sdkId: "Shop", arnNamespace: "shop")
    @paginated(inputToken: "NextToken", outputToken: "NextToken", pageSize: "MaxResults")
    service Shop {
        version: "1"
        operations: [
            CreateCart, GetCart, UpdateCart, DeleteCart, ListCarts, GetCartSettings, SetCartSettings
            PutItem, GetItem, HeadItem, DeleteItem, ListItems, ListItemsV2, DeleteItems, CopyItem
            CreateUpload, UploadPart, ListParts, CompleteUpload, AbortUpload, ListUploads
            CreateOrder, DescribeOrder, DescribeOrders
            PutNote, GetReport, Ping
        ]
    }

    @http(method: "POST", uri: "/carts")
    operation CreateCart {
        input := {
            @required CartName: String
            Colour: String
            Settings: Settings
            @idempotencyToken Token: String
        }
        output := { @required CartArn: String, CartUrl: String, Colour: String }
        errors: [CartExists]
    }
    @readonly
    @examples([{
        title: "an example"
        input: { CartName: "example" }
        output: { Cart: { CartName: "example", Weight: 9 } }
    }])
    @http(method: "GET", uri: "/carts/{CartName}")
    operation GetCart {
        input := { @required @httpLabel CartName: String }
        output := { @required Cart: CartDescription }
        errors: [TooManyRequests, NoSuchCart]
    }
    structure CartDescription {
        @required CartName: String
        CartArn: String
        Colour: String
        CreatedAt: Timestamp
        LastModified: Timestamp
        CartStatus: Status
        @required Weight: Integer
    }
    enum Status { CREATING, ACTIVE, DELETING }
    @http(method: "POST", uri: "/carts/{CartName}")
    operation UpdateCart {
        input := { @required @httpLabel CartName: String, Colour: String }
        output := { Cart: CartDescription }
        errors: [NoSuchCart]
    }
    @idempotent
    @http(method: "DELETE", uri: "/carts")
    operation DeleteCart {
        input := { @required @httpQuery("arn") CartArn: String }
        errors: [NoSuchCart]
    }
    @readonly
    @paginated(items: "Carts")
    @http(method: "GET", uri: "/carts")
    operation ListCarts {
        input := {
            @httpQuery("token") NextToken: String
            @httpQuery("max") @range(min: 1, max: 3) MaxResults: Integer
            @httpQuery("prefix") CartNamePrefix: String
        }
        output := { NextToken: String, Carts: Carts, CartArns: Arns, Count: Integer }
    }
    list Carts { member: CartDescription }
    list Arns { member: String }
    @readonly
    @http(method: "GET", uri: "/settings")
    operation GetCartSettings {
        input := { @required @httpQuery("url") CartUrl: String }
        output := { Settings: Settings }
        errors: [NoSuchCart]
    }
    @http(method: "POST", uri: "/settings")
    operation SetCartSettings {
        input := { @required CartUrl: String, Settings: Settings }
        errors: [NoSuchCart]
    }
    map Settings { key: String, value: String }

    @idempotent
    @http(method: "PUT", uri: "/carts/{Cart}/items/{Key}")
    operation PutItem {
        input := {
            @required @httpLabel Cart: String
            @required @httpLabel Key: String
            @httpHeader("x-kind") Kind: String
            @httpHeader("x-checksum") Checksum: String
            @httpPayload Content: Blob
        }
        output := { @httpHeader("ETag") ETag: String }
        errors: [NoSuchCart]
    }
    @readonly
    @http(method: "GET", uri: "/carts/{Cart}/items/{Key}")
    operation GetItem {
        input := {
            @required @httpLabel Cart: String
            @required @httpLabel Key: String
            @httpHeader("Range") Range: String
        }
        output := {
            @httpHeader("ETag") ETag: String
            @httpHeader("x-kind") Kind: String
            @httpHeader("Content-Range") ContentRange: String
            @httpHeader("x-checksum") Checksum: String
            @httpPayload Content: Blob
        }
        errors: [NoSuchCart, NoSuchKey]
    }
    @readonly
    @http(method: "HEAD", uri: "/carts/{Cart}/items/{Key}")
    operation HeadItem {
        input := { @required @httpLabel Cart: String, @required @httpLabel Key: String }
        output := { @httpHeader("Content-Length") ContentLength: Long }
        errors: [NotFound]
    }
    @idempotent
    @http(method: "DELETE", uri: "/carts/{Cart}/items/{Key}")
    operation DeleteItem {
        input := { @required @httpLabel Cart: String, @required @httpLabel Key: String }
    }
    @readonly
    @examples([{
        title: "an example"
        input: { Cart: "example" }
        output: { Items: [{ Key: "example" }] }
    }])
    @http(method: "GET", uri: "/carts/{Cart}/items")
    operation ListItems {
        input := { @required @httpLabel Cart: String }
        output := { Items: Items }
        errors: [NoSuchCart]
    }
    @readonly
    @paginated
    @http(method: "GET", uri: "/carts/{Cart}/items2")
    operation ListItemsV2 {
        input := {
            @required @httpLabel Cart: String
            @httpQuery("prefix") Prefix: String
            @httpQuery("delimiter") Delimiter: String
            @httpQuery("max") MaxResults: Integer
            @httpQuery("token") NextToken: String
        }
        output := {
            Items: Items
            Prefixes: Prefixes
            Prefix: String
            Count: Integer
            NextToken: String
            HasMoreItems: Boolean
        }
        errors: [NoSuchCart]
    }
    list Prefixes { member: PrefixGroup }
    structure PrefixGroup { Prefix: String }
    @http(method: "POST", uri: "/carts/{Cart}/delete")
    operation DeleteItems {
        input := { @required @httpLabel Cart: String, @required Delete: ItemsToDelete }
        output := { Deleted: Items, Errors: Problems }
    }
    structure ItemsToDelete { @required Objects: Items, Quiet: Boolean }
    list Problems { member: Problem }
    structure Problem { Key: String, Code: String }
    @http(method: "PUT", uri: "/carts/{Cart}/copies/{Key}")
    operation CopyItem {
        input := {
            @required @httpLabel Cart: String
            @required @httpLabel Key: String
            @required @httpHeader("x-source") CopySource: String
            @httpHeader("x-kind") Kind: String
        }
        output := { @httpPayload CopyItemResult: CopyItemResult }
        errors: [NoSuchKey]
    }
    structure CopyItemResult { ETag: String }

    @http(method: "POST", uri: "/carts/{Cart}/uploads/{Key}")
    operation CreateUpload {
        input := {
            @required @httpLabel Cart: String
            @required @httpLabel Key: String
            @httpHeader("x-kind") Kind: String
        }
        output := { UploadId: String, Cart: String, Key: String }
    }
    @idempotent
    @http(method: "PUT", uri: "/carts/{Cart}/uploads/{Key}")
    operation UploadPart {
        input := {
            @required @httpLabel Cart: String
            @required @httpLabel Key: String
            @required @httpQuery("part") PartNumber: Integer
            @required @httpQuery("upload") UploadId: String
            @httpPayload Content: Blob
        }
        output := { @httpHeader("ETag") ETag: String }
        errors: [NoSuchUpload]
    }
    @readonly
    @http(method: "GET", uri: "/carts/{Cart}/uploads/{Key}")
    operation ListParts {
        input := {
            @required @httpLabel Cart: String
            @required @httpLabel Key: String
            @required @httpQuery("upload") UploadId: String
        }
        output := { Parts: Parts }
    }
    list Parts { member: Part }
    structure Part { PartNumber: Integer, ETag: String, Size: Long }
    @http(method: "POST", uri: "/carts/{Cart}/complete/{Key}")
    operation CompleteUpload {
        input := {
            @required @httpLabel Cart: String
            @required @httpLabel Key: String
            @required @httpQuery("upload") UploadId: String
            @httpPayload Upload: CompletedUpload
        }
        output := { ETag: String, Key: String }
        errors: [NoSuchUpload]
    }
    structure CompletedUpload { Parts: Parts }
    @idempotent
    @http(method: "DELETE", uri: "/carts/{Cart}/uploads/{Key}")
    operation AbortUpload {
        input := {
            @required @httpLabel Cart: String
            @required @httpLabel Key: String
            @required @httpQuery("upload") UploadId: String
        }
        errors: [NoSuchUpload]
    }
    @readonly
    @http(method: "GET", uri: "/carts/{Cart}/uploads")
    operation ListUploads {
        input := { @required @httpLabel Cart: String }
        output := { Uploads: Uploads }
    }
    list Uploads { member: UploadSummary }
    structure UploadSummary { Key: String, UploadId: String }
    @error("client") @httpError(404) structure NoSuchUpload {}
    list Items { member: Item }
    structure Item { Key: String, Size: Long, ETag: String }

    @http(method: "POST", uri: "/orders")
    operation CreateOrder {
        input := { Amount: Integer }
        output := { @required OrderId: String }
    }
    @readonly
    @http(method: "GET", uri: "/orders/{OrderId}")
    operation DescribeOrder {
        input := { @required @httpLabel OrderId: String }
        output := { Order: Order }
    }
    structure Order { OrderId: String, Amount: Integer }
    @readonly
    @http(method: "GET", uri: "/orders")
    operation DescribeOrders { output := { Orders: Orders } }
    list Orders { member: Order }

    /// Nothing reads notes.
    @http(method: "POST", uri: "/notes")
    operation PutNote { input := { @required Name: String }, output := { @required Name: String } }
    @readonly
    @http(method: "GET", uri: "/report")
    @examples([{ title: "one", output: { Text: "an example" } }])
    operation GetReport { output := { Text: String } }
    @http(method: "POST", uri: "/ping")
    operation Ping { input := { Text: String, Numbers: Numbers }, output := { Text: String } }
    list Numbers { member: Integer }

    @error("client") @httpError(409) structure CartExists { message: String }
    @error("client") @httpError(404) structure NoSuchCart { @required Message: String }
    @error("client") @httpError(404) structure NoSuchKey { Message: String }
    @error("client") structure NotFound {}
    @error("client") @retryable(throttling: true) @httpError(429)
    structure TooManyRequests { Message: String }
"#;

/// Resources with lifecycles, one inside another.
pub(crate) const ZOO: &str = r#"
    $version: "2"
    namespace example.zoo
    use aws.api#arn
    use aws.protocols#restJson1

    @restJson1
    service Zoo { version: "1", resources: [House] }

    @arn(template: "house/{houseId}")
    resource House {
        identifiers: { houseId: String }
        create: OpenHouse
        read: VisitHouse
        list: Houses
        delete: CloseHouse
        resources: [Animal]
    }
    @http(method: "POST", uri: "/houses")
    operation OpenHouse {
        input := { @required title: String }
        output := { @required houseId: String, title: String, arn: String }
    }
    @readonly
    @http(method: "GET", uri: "/houses/{houseId}")
    operation VisitHouse {
        input := { @required @httpLabel houseId: String }
        output := { @required houseId: String, title: String }
        errors: [HouseNotFound]
    }
    @readonly
    @http(method: "GET", uri: "/houses")
    operation Houses { output := { houses: HouseList } }
    list HouseList { member: HouseSummary }
    structure HouseSummary { @required houseId: String, title: String }
    @idempotent
    @http(method: "DELETE", uri: "/houses/{houseId}")
    operation CloseHouse {
        input := { @required @httpLabel houseId: String }
        errors: [HouseNotFound]
    }

    resource Animal {
        identifiers: { houseId: String, animalName: String }
        put: Admit
        read: Look
        update: Feed
    }
    @idempotent
    @http(method: "PUT", uri: "/houses/{house}/animals/{animalName}")
    operation Admit {
        input := {
            @required @httpLabel @resourceIdentifier("houseId") house: String
            @required @httpLabel animalName: String
            legs: Integer
        }
        errors: [HouseNotFound]
    }
    @readonly
    @http(method: "GET", uri: "/houses/{houseId}/animals/{animalName}")
    operation Look {
        input := { @required @httpLabel houseId: String, @required @httpLabel animalName: String }
        output := { @required animalName: String, legs: Integer, meals: Integer }
        errors: [AnimalNotFound, HouseNotFound]
    }
    @http(method: "POST", uri: "/houses/{houseId}/animals/{animalName}")
    operation Feed {
        input := {
            @required @httpLabel houseId: String
            @required @httpLabel animalName: String
            meals: Integer
        }
        output := { meals: Integer, legs: Integer }
        errors: [AnimalNotFound]
    }
    @error("client") @httpError(404) structure HouseNotFound { message: String }
    @error("client") @httpError(404) structure AnimalNotFound { message: String }
"#;
