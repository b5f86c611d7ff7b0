//! The schemas of the shapes: what a code generator would make of a model.

use std::sync::LazyLock;

use polywire_schema::{
    Location, Member, MemberFlags, MemberSpec, SchemaBuilder, SchemaSet, ShapeKind, ShapeRef,
    TimestampFormat,
};

/// How many numbers a `Wide` has: more than [`polywire_schema::Seq`] can tell
/// apart in its two words.
pub(crate) const WIDE: u32 = 200;

static SET: LazyLock<SchemaSet<'static>> = LazyLock::new(|| {
    let mut shapes = Shapes::new();
    shapes.scalars();
    let node = shapes.node();
    shapes.collections(node);
    shapes.wide();
    shapes.strict();
    shapes.named();
    shapes.bucket();
    shapes.query(node);
    shapes.http(node);
    shapes.builder.finish().unwrap()
});

/// The root member of a shape by its name.
pub(crate) fn root(name: &str) -> Member<'static> {
    let id = format!("example.proof#{name}");
    SET.find_shape(&id).unwrap().root()
}

struct Shapes {
    builder: SchemaBuilder,
    string: ShapeRef,
    integer: ShapeRef,
    long: ShapeRef,
    timestamp: ShapeRef,
    strings: ShapeRef,
    integers: ShapeRef,
}

impl Shapes {
    fn new() -> Self {
        let mut builder = SchemaBuilder::new();
        let string = builder.shape(ShapeKind::String, "smithy.api#String");
        let integer = builder.shape(ShapeKind::Integer, "smithy.api#Integer");
        let long = builder.shape(ShapeKind::Long, "smithy.api#Long");
        let timestamp = builder.shape(ShapeKind::Timestamp, "smithy.api#Timestamp");
        let strings = builder.shape(ShapeKind::List, "example.proof#Strings");
        builder.member(strings, MemberSpec::new("member", string));
        let integers = builder.shape(ShapeKind::List, "example.proof#Integers");
        builder.member(integers, MemberSpec::new("member", integer));
        Self {
            builder,
            string,
            integer,
            long,
            timestamp,
            strings,
            integers,
        }
    }

    fn shape(&mut self, kind: ShapeKind, name: &str) -> ShapeRef {
        self.builder.shape(kind, format!("example.proof#{name}"))
    }

    fn structure(&mut self, name: &str, members: Vec<MemberSpec>) -> ShapeRef {
        let structure = self.shape(ShapeKind::Structure, name);
        self.members(structure, members);
        structure
    }

    fn members(&mut self, shape: ShapeRef, members: Vec<MemberSpec>) {
        for member in members {
            self.builder.member(shape, member);
        }
    }

    fn list(&mut self, name: &str, element: ShapeRef) -> ShapeRef {
        let list = self.shape(ShapeKind::List, name);
        self.builder
            .member(list, MemberSpec::new("member", element));
        list
    }

    fn map(&mut self, name: &str, value: ShapeRef) -> ShapeRef {
        let map = self.shape(ShapeKind::Map, name);
        let key = self.string;
        self.members(
            map,
            vec![MemberSpec::new("key", key), MemberSpec::new("value", value)],
        );
        map
    }

    /// Makes a list or map sparse.
    fn sparse(&mut self, shape: ShapeRef) -> ShapeRef {
        let root = self.builder.root(shape);
        root.flags = root.flags.with(MemberFlags::SPARSE);
        shape
    }

    fn scalars(&mut self) {
        let kinds = [
            ("byte", ShapeKind::Byte),
            ("short", ShapeKind::Short),
            ("integer", ShapeKind::Integer),
            ("long", ShapeKind::Long),
            ("float", ShapeKind::Float),
            ("double", ShapeKind::Double),
            ("bigInteger", ShapeKind::BigInteger),
            ("bigDecimal", ShapeKind::BigDecimal),
            ("boolean", ShapeKind::Boolean),
            ("string", ShapeKind::String),
            ("suit", ShapeKind::Enum),
            ("rank", ShapeKind::IntEnum),
            ("blob", ShapeKind::Blob),
            ("time", ShapeKind::Timestamp),
            ("dateTime", ShapeKind::Timestamp),
            ("epochSeconds", ShapeKind::Timestamp),
            ("httpDate", ShapeKind::Timestamp),
            ("document", ShapeKind::Document),
        ];
        let mut members = Vec::new();
        for (name, kind) in kinds {
            let target = self.shape(kind, &format!("The_{name}"));
            members.push(MemberSpec::new(name, target));
        }
        let formats = [
            (14, TimestampFormat::DateTime),
            (15, TimestampFormat::EpochSeconds),
            (16, TimestampFormat::HttpDate),
        ];
        for (ordinal, format) in formats {
            members[ordinal].timestamp_format = Some(format);
        }
        self.structure("Scalars", members);
    }

    fn node(&mut self) -> ShapeRef {
        let node = self.shape(ShapeKind::Structure, "Node");
        let choice = self.shape(ShapeKind::Union, "Choice");
        let nodes = self.list("Nodes", node);
        let nodes_by_key = self.map("NodesByKey", node);
        let choices = self.list("Choices", choice);
        let empty = self.structure("Empty", Vec::new());
        let (string, long) = (self.string, self.long);
        self.members(
            node,
            vec![
                MemberSpec::new("name", string).flag(MemberFlags::REQUIRED),
                MemberSpec::new("weight", long),
                MemberSpec::new("left", node),
                MemberSpec::new("right", node),
                MemberSpec::new("children", nodes),
                MemberSpec::new("byKey", nodes_by_key),
                MemberSpec::new("choice", choice),
                MemberSpec::new("choices", choices),
            ],
        );
        self.members(
            choice,
            vec![
                MemberSpec::new("text", string),
                MemberSpec::new("number", long),
                MemberSpec::new("node", node),
                MemberSpec::new("list", choices),
                MemberSpec::new("empty", empty),
            ],
        );
        node
    }

    fn collections(&mut self, node: ShapeRef) {
        let (string, integers, long, strings) =
            (self.string, self.integers, self.long, self.strings);
        let sparse = self.list("SparseStrings", string);
        let sparse = self.sparse(sparse);
        let matrix = self.list("Matrix", integers);
        let counts = self.map("Counts", long);
        let sparse_counts = self.map("SparseCounts", long);
        let sparse_counts = self.sparse(sparse_counts);
        let nodes = self.map("NodeMap", node);
        let blob = self.shape(ShapeKind::Blob, "Blob");
        let blobs = self.list("Blobs", blob);
        let times = self.shape(ShapeKind::List, "Times");
        let timestamp = self.timestamp;
        self.builder.member(
            times,
            MemberSpec::new("member", timestamp).timestamp_format(TimestampFormat::HttpDate),
        );
        let document = self.shape(ShapeKind::Document, "Document");
        let documents = self.list("Documents", document);
        let documents_by_key = self.map("DocumentsByKey", document);
        let sparse_nodes = self.list("SparseNodes", node);
        let sparse_nodes = self.sparse(sparse_nodes);
        let grouped = self.map("Grouped", strings);
        let boolean = self.shape(ShapeKind::Boolean, "Boolean");
        let booleans = self.list("Booleans", boolean);
        let double = self.shape(ShapeKind::Double, "Double");
        let doubles = self.map("Doubles", double);
        self.structure(
            "Collections",
            vec![
                MemberSpec::new("dense", strings),
                MemberSpec::new("sparse", sparse),
                MemberSpec::new("matrix", matrix),
                MemberSpec::new("counts", counts),
                MemberSpec::new("sparseCounts", sparse_counts),
                MemberSpec::new("nodes", nodes),
                MemberSpec::new("blobs", blobs),
                MemberSpec::new("times", times),
                MemberSpec::new("documents", documents),
                MemberSpec::new("sparseNodes", sparse_nodes),
                MemberSpec::new("grouped", grouped),
                MemberSpec::new("booleans", booleans),
                MemberSpec::new("doubles", doubles),
                MemberSpec::new("documentsByKey", documents_by_key),
            ],
        );
    }

    fn wide(&mut self) {
        let wide = self.shape(ShapeKind::Structure, "Wide");
        let (long, integers) = (self.long, self.integers);
        for ordinal in 0..WIDE {
            self.builder
                .member(wide, MemberSpec::new(format!("number{ordinal}"), long));
        }
        self.members(
            wide,
            vec![
                MemberSpec::new("inner", wide),
                MemberSpec::new("list", integers),
            ],
        );
    }

    fn strict(&mut self) {
        let strict = self.shape(ShapeKind::Structure, "Strict");
        let items = self.list("Stricts", strict);
        let (string, strings) = (self.string, self.strings);
        self.members(
            strict,
            vec![
                MemberSpec::new("id", string).flag(MemberFlags::REQUIRED),
                MemberSpec::new("tags", strings).flag(MemberFlags::REQUIRED),
                MemberSpec::new("note", string),
                MemberSpec::new("items", items),
            ],
        );
    }

    fn named(&mut self) {
        let string = self.string;
        self.structure(
            "Named",
            vec![
                MemberSpec::new("cityId", string)
                    .json_name("city id")
                    .xml_name("CityId"),
                MemberSpec::new("plain", string),
                MemberSpec::new("quoted", string).json_name("a\"b\\c\u{e9}"),
                // Two members that swap their names in JSON.
                MemberSpec::new("first", string).json_name("second"),
                MemberSpec::new("second", string).json_name("first"),
                MemberSpec::new("aNameLongerThanThirtyTwoBytesSoThatNoWindowHoldsIt", string),
            ],
        );
        self.structure(
            "Line",
            vec![
                MemberSpec::new("key", string),
                MemberSpec::new("value", string),
            ],
        );
    }

    /// XML's traits: attributes, flattened lists and maps, namespaces.
    fn bucket(&mut self) {
        let (string, long, timestamp, strings) =
            (self.string, self.long, self.timestamp, self.strings);
        let grantee = self.structure(
            "Grantee",
            vec![
                MemberSpec::new("displayName", string).xml_name("DisplayName"),
                // Declared late, written first.
                MemberSpec::new("kind", string)
                    .xml_name("xsi:type")
                    .flag(MemberFlags::XML_ATTRIBUTE),
                MemberSpec::new("size", long).flag(MemberFlags::XML_ATTRIBUTE),
            ],
        );
        let entry = self.structure(
            "Entry",
            vec![
                MemberSpec::new("key", string).xml_name("Key"),
                MemberSpec::new("size", long).xml_name("Size"),
            ],
        );
        let entries = self.list("Entries", entry);
        let parts = self.shape(ShapeKind::List, "Parts");
        self.builder
            .member(parts, MemberSpec::new("member", long).xml_name("Part"));
        let tags = self.map("Tags", string);
        let labels = self.shape(ShapeKind::Map, "Labels");
        self.members(
            labels,
            vec![
                MemberSpec::new("key", string).xml_name("K"),
                MemberSpec::new("value", string).xml_name("V"),
            ],
        );
        let bucket = self.structure(
            "Bucket",
            vec![
                MemberSpec::new("name", string).xml_name("Name"),
                MemberSpec::new("owner", grantee)
                    .xml_name("Owner")
                    .xml_namespace(Some("xsi"), "http://www.w3.org/2001/XMLSchema-instance"),
                MemberSpec::new("contents", entries)
                    .xml_name("Contents")
                    .flag(MemberFlags::XML_FLATTENED),
                MemberSpec::new("prefixes", strings)
                    .xml_name("Prefix")
                    .flag(MemberFlags::XML_FLATTENED),
                MemberSpec::new("parts", parts).xml_name("Parts"),
                MemberSpec::new("tags", tags).xml_name("Tags"),
                MemberSpec::new("labels", labels)
                    .xml_name("Label")
                    .flag(MemberFlags::XML_FLATTENED),
                MemberSpec::new("created", timestamp).xml_name("Created"),
                MemberSpec::new("qualified", string)
                    .xml_name("p:Qualified")
                    .xml_namespace(Some("p"), "http://example.com/p?a&b"),
            ],
        );
        self.builder.root(bucket).xml_namespace = Some((None, "http://example.com/".to_owned()));
    }

    fn query(&mut self, node: ShapeRef) {
        let (string, long, strings) = (self.string, self.long, self.strings);
        let attributes = self.map("Attributes", long);
        let renamed = self.shape(ShapeKind::List, "Renamed");
        self.builder
            .member(renamed, MemberSpec::new("member", long).xml_name("item"));
        let nodes = self.list("QueryNodes", node);
        self.structure(
            "QueryInput",
            vec![
                MemberSpec::new("name", string).xml_name("Name"),
                MemberSpec::new("foo", strings).xml_name("Foo"),
                MemberSpec::new("flat", strings)
                    .xml_name("Flat")
                    .flag(MemberFlags::XML_FLATTENED),
                MemberSpec::new("renamed", renamed),
                MemberSpec::new("map", attributes).xml_name("Map"),
                MemberSpec::new("flatMap", attributes)
                    .xml_name("FlatMap")
                    .flag(MemberFlags::XML_FLATTENED),
                MemberSpec::new("node", node).xml_name("Node"),
                MemberSpec::new("nodes", nodes).xml_name("Nodes"),
            ],
        );
    }

    /// A structure whose members travel in all parts of an HTTP message.
    fn http(&mut self, node: ShapeRef) {
        let (string, integer, timestamp, strings) =
            (self.string, self.integer, self.timestamp, self.strings);
        let meta = self.map("Meta", string);
        let filters = self.map("Filters", strings);
        self.structure(
            "PutThing",
            vec![
                MemberSpec::new("id", string)
                    .flag(MemberFlags::REQUIRED)
                    .location(Location::Label, ""),
                MemberSpec::new("title", string),
                MemberSpec::new("etag", string).location(Location::Header, "ETag"),
                MemberSpec::new("since", timestamp).location(Location::Header, "X-Since"),
                MemberSpec::new("tags", strings).location(Location::Header, "X-Tags"),
                MemberSpec::new("node", node).flag(MemberFlags::REQUIRED),
                MemberSpec::new("meta", meta).location(Location::PrefixHeaders, "X-Meta-"),
                MemberSpec::new("limit", integer).location(Location::Query, "limit"),
                MemberSpec::new("filters", filters).location(Location::QueryParams, ""),
                MemberSpec::new("status", integer).location(Location::StatusCode, ""),
            ],
        );
        let blob = self.shape(ShapeKind::Blob, "PayloadBlob");
        for (name, payload) in [("PutBlob", blob), ("PutNode", node)] {
            self.structure(
                name,
                vec![
                    MemberSpec::new("kind", string).location(Location::Header, "X-Kind"),
                    MemberSpec::new("payload", payload).location(Location::Payload, ""),
                ],
            );
        }
    }
}
