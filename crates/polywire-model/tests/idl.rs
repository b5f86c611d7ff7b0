//! What the IDL means, feature by feature.

#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use polywire_model::{Lifecycle, Loader, Model, Node, Relation, ShapeType, ast};

fn model(body: &str) -> Model {
    let text = format!("$version: \"2\"\nnamespace a\n{body}\n");
    let assembled = Loader::new().add_text("a.smithy", text).assemble();
    let assembled = assembled.unwrap_or_else(|error| panic!("{error}"));
    // Short names are easier to read here than those of constants.
    let warnings = assembled.warnings.iter();
    let warnings = warnings.filter(|warning| warning.code != "EnumShape");
    let warnings: Vec<String> = warnings.map(ToString::to_string).collect();
    assert!(warnings.is_empty(), "{}", warnings.join("\n"));
    same_as_ast(&assembled.model);
    assembled.model
}

/// Every model here is written as AST and read again.
fn same_as_ast(model: &Model) {
    let text = ast::write(model).to_json_pretty();
    let again = Loader::new()
        .add_text("a.json", text.as_str())
        .assemble()
        .unwrap()
        .model;
    for (shape, other) in model.shapes().zip(again.shapes()) {
        assert_eq!(shape.traits(), other.traits(), "{}", shape.id());
        assert_eq!(shape.members(), other.members(), "{}", shape.id());
        let origins = |shape: &polywire_model::Shape| -> Vec<bool> {
            shape
                .members()
                .iter()
                .map(|member| member.is_inherited())
                .collect()
        };
        assert_eq!(origins(shape), origins(other), "{}", shape.id());
    }
    assert_eq!(text, ast::write(&again).to_json_pretty());
}

fn names(model: &Model, id: &str) -> Vec<String> {
    let members = model.get(id).unwrap().members();
    members
        .iter()
        .map(|member| format!("{}:{}", member.name(), member.target().name()))
        .collect()
}

#[test]
fn every_simple_shape() {
    let types = [
        "bigDecimal",
        "bigInteger",
        "blob",
        "boolean",
        "byte",
        "document",
        "double",
        "float",
        "integer",
        "long",
        "short",
        "string",
        "timestamp",
    ];
    let body: String = types
        .iter()
        .map(|name| format!("{name} {name}Shape\n"))
        .collect();
    let model = model(&body);
    for name in types {
        let shape = model.get(&format!("a#{name}Shape")).unwrap();
        assert_eq!(shape.shape_type().name(), name);
        assert!(shape.shape_type().is_simple());
    }
}

#[test]
fn names_are_found_in_uses_then_here_then_in_the_prelude() {
    let mut loader = Loader::new();
    loader.add_text(
        "a.smithy",
        "$version: \"2\"\nnamespace a\nuse b#Long\nstructure S { s: String, l: Long, i: Integer, c: b#Integer }\n\
         string String\n",
    );
    loader.add_text(
        "b.smithy",
        "$version: \"2\"\nnamespace b\nlong Long\ninteger Integer\n",
    );
    let model = loader.assemble().unwrap().model;
    let targets: Vec<&str> = model
        .get("a#S")
        .unwrap()
        .members()
        .iter()
        .map(|m| m.target().as_str())
        .collect();
    assert_eq!(
        targets,
        ["a#String", "b#Long", "smithy.api#Integer", "b#Integer"]
    );
}

#[test]
fn names_may_be_defined_in_ast_files() {
    let mut loader = Loader::new();
    loader.add_text(
        "a.smithy",
        "$version: \"2\"\nnamespace a\nstructure S { c: City }\n",
    );
    loader.add_text(
        "b.json",
        r#"{"smithy": "2.0", "shapes": {"a#City": {"type": "string"}}}"#,
    );
    let model = loader.assemble().unwrap().model;
    assert_eq!(
        model
            .get("a#S")
            .unwrap()
            .member("c")
            .unwrap()
            .target()
            .as_str(),
        "a#City"
    );
}

#[test]
fn doc_comments_become_documentation() {
    let model = model(
        "/// One\n///   two\n///\n/// three\n// not this\n@sensitive\nstructure S {\n    /// Of m\n    m: String\n    /// lost\n}\n\n/// Of E\nenum E {\n    /// Of A\n    A\n}",
    );
    let docs = |id: &str| {
        model
            .get(id)
            .unwrap()
            .traits()
            .documentation()
            .unwrap()
            .to_owned()
    };
    assert_eq!(docs("a#S"), "One\n  two\n\nthree");
    assert_eq!(docs("a#E"), "Of E");
    let of = |id: &str, member: &str| {
        model
            .get(id)
            .unwrap()
            .member(member)
            .unwrap()
            .traits()
            .documentation()
            .unwrap()
            .to_owned()
    };
    assert_eq!(of("a#S", "m"), "Of m");
    assert_eq!(of("a#E", "A"), "Of A");
}

#[test]
fn enums_have_values() {
    let model = model(
        "enum E {\n A, B = \"bee\"\n @enumValue(\"sea\") C }\nintEnum I {\n ONE = 1\n TWO = -2\n }",
    );
    let values = |id: &str| -> Vec<String> {
        let members = model.get(id).unwrap().members();
        members
            .iter()
            .map(|m| m.traits().enum_value().unwrap().to_json())
            .collect()
    };
    assert_eq!(values("a#E"), ["\"A\"", "\"bee\"", "\"sea\""]);
    assert_eq!(values("a#I"), ["1", "-2"]);
    assert_eq!(names(&model, "a#E"), ["A:Unit", "B:Unit", "C:Unit"]);
}

#[test]
fn defaults_are_traits() {
    let model = model(
        "structure S {\n  a: Integer = 1\n  b: String = \"x\"\n  c: Names = []\n  d: Integer = null\n  e: E = \"A\"\n  f: Boolean = true\n}\nlist Names { member: String }\nenum E { A }",
    );
    let values: Vec<String> = model
        .get("a#S")
        .unwrap()
        .members()
        .iter()
        .map(|member| member.traits().default_value().unwrap().to_json())
        .collect();
    assert_eq!(values, ["1", "\"x\"", "[]", "null", "\"A\"", "true"]);
}

/// One value of each kind that a shape may have as its default.
#[test]
fn defaults_of_every_type() {
    let body: String = [
        ("BigDecimal", "1e400"),
        ("BigDecimal", "0.1"),
        ("BigInteger", "123456789012345678901234567890"),
        ("BigInteger", "-1"),
        ("Blob", "\"aGk=\""),
        ("Blob", "\"\""),
        ("Boolean", "false"),
        ("Byte", "-128"),
        ("Document", "{}"),
        ("Document", "[]"),
        ("Document", "\"x\""),
        ("Document", "1.5"),
        ("Double", "1"),
        ("Double", "\"NaN\""),
        ("E", "\"b\""),
        ("Float", "\"-Infinity\""),
        ("I", "2"),
        ("Integer", "2147483647"),
        ("L", "[]"),
        ("Long", "-9223372036854775808"),
        ("M", "{}"),
        ("Short", "1000"),
        ("String", "\"\""),
        ("Timestamp", "0"),
        ("Timestamp", "\"1985-04-12T23:20:50.52Z\""),
        ("HttpDate", "\"Sun, 06 Nov 1994 08:49:37 GMT\""),
    ]
    .iter()
    .enumerate()
    .map(|(at, (target, value))| format!("m{at}: {target} = {value}\n"))
    .collect();
    let model = model(&format!(
        "structure S {{\n{body}}}\nlist L {{ member: String }}\nmap M {{ key: String, value: String }}\n\
         enum E {{ A, B = \"b\"\n }}\nintEnum I {{ TWO = 2\n }}\n\
         @default(3)\ninteger Three\n\
         @timestampFormat(\"http-date\")\ntimestamp HttpDate"
    ));
    assert_eq!(model.get("a#S").unwrap().members().len(), 26);
}

#[test]
fn inline_input_and_output() {
    let text = "$version: \"2\"\n$operationInputSuffix: \"Request\"\n$operationOutputSuffix: \"Response\"\nnamespace a\n\
        operation Get {\n    input := {\n        a: String\n    }\n    /// not this\n    output :=\n        /// An output\n        @sensitive\n        with [M] {\n        b: String\n    }\n    errors: [E]\n}\n\
        @mixin\nstructure M { m: Integer }\n@error(\"client\")\nstructure E {}\noperation Nothing {}\n";
    let model = Loader::new()
        .add_text("a.smithy", text)
        .assemble()
        .unwrap()
        .model;
    let operation = model.get("a#Get").unwrap().as_operation().unwrap();
    assert_eq!(operation.input().as_str(), "a#GetRequest");
    assert_eq!(operation.output().as_str(), "a#GetResponse");
    assert_eq!(operation.errors()[0].as_str(), "a#E");
    assert!(model.get("a#GetRequest").unwrap().traits().is_input());
    let output = model.get("a#GetResponse").unwrap();
    assert!(output.traits().is_output() && output.traits().is_sensitive());
    assert_eq!(output.traits().documentation(), Some("An output"));
    assert_eq!(names(&model, "a#GetResponse"), ["m:Integer", "b:String"]);
    let nothing = model.get("a#Nothing").unwrap().as_operation().unwrap();
    assert_eq!(nothing.input().as_str(), "smithy.api#Unit");
}

#[test]
fn mixins_are_flattened_in_order() {
    let model = model(
        r#"
        @mixin
        @documentation("of A")
        @sensitive
        structure A {
            @required
            @documentation("of a")
            a: String
            x: Integer
        }

        @mixin(localTraits: [internal])
        @internal
        structure B with [A] {
            b: String
        }

        @documentation("of C")
        structure C with [B] {
            c: String
            @documentation("of a in C")
            $a
        }

        apply C$x @clientOptional
        apply A$x @tags(["from", "A"])
        apply A @tags(["one"])
        apply C @tags(["two"])
        "#,
    );
    assert_eq!(
        names(&model, "a#C"),
        ["a:String", "x:Integer", "b:String", "c:String"]
    );
    let shape = model.get("a#C").unwrap();
    assert_eq!(shape.traits().documentation(), Some("of C"));
    assert!(shape.traits().is_sensitive());
    assert!(!shape.traits().has("smithy.api#internal") && !shape.traits().is_mixin());
    // What is written on the shape itself wins over what is inherited.
    assert_eq!(
        shape.traits().get("smithy.api#tags").unwrap().to_json(),
        "[\"two\"]"
    );
    let a = shape.member("a").unwrap();
    assert_eq!(a.traits().documentation(), Some("of a in C"));
    assert!(a.traits().is_required() && a.is_inherited());
    assert_eq!(a.origin().unwrap().as_str(), "a#B");
    assert_eq!(a.id().as_str(), "a#C$a");
    let x = shape.member("x").unwrap();
    assert!(x.traits().is_client_optional() && x.traits().has("smithy.api#tags"));
    assert!(!shape.member("c").unwrap().is_inherited());

    let written = ast::write(&model);
    let shapes = written.get("shapes").unwrap();
    let apply = shapes.get("a#C$x").unwrap();
    assert_eq!(
        apply.to_json(),
        r#"{"type":"apply","traits":{"smithy.api#clientOptional":{}}}"#
    );
    let members = shapes.get("a#C").unwrap().get("members").unwrap();
    assert_eq!(members.as_object().unwrap().len(), 1);
}

/// Long documentation on a mixin must not be copied for each of its users.
#[test]
fn values_of_traits_are_shared_with_the_users_of_a_mixin() {
    let model = model(
        "@mixin\n@tags([\"x\"])\nstructure M {\n    /// Long\n    m: String\n}\nstructure A with [M] {}\nstructure B with [M] {}\napply B$m @documentation(\"Own\")\napply B$m @since(\"1\")",
    );
    let docs = |id: &str| {
        let member = model.get(id).unwrap().member("m").unwrap();
        member.traits().get("smithy.api#documentation").unwrap()
    };
    let tags = |id: &str| model.get(id).unwrap().traits().get("smithy.api#tags");
    assert!(std::ptr::eq(docs("a#A"), docs("a#M")));
    for id in ["a#A", "a#B"] {
        assert!(std::ptr::eq(tags(id).unwrap(), tags("a#M").unwrap()));
    }
    assert_eq!(docs("a#B").as_str(), Some("Own"));
    assert_eq!(docs("a#M").as_str(), Some("Long"));
}

#[test]
fn mixins_of_every_kind() {
    let model = model(
        r#"
        @mixin
        @length(max: 3)
        string Short
        string Code with [Short]
        @mixin
        list Names { member: String }
        list MoreNames with [Names] {}
        @mixin
        enum Base { A }
        enum Full with [Base] { B }
        @mixin
        operation Common { errors: [Broken] }
        operation Get with [Common] { errors: [Missing] }
        @mixin
        service BaseService { version: "1", errors: [Broken] }
        service Weather with [BaseService] { operations: [Get] }
        @error("server")
        structure Broken {}
        @error("client")
        structure Missing {}
        "#,
    );
    assert_eq!(
        model.get("a#Code").unwrap().traits().length().unwrap().max,
        Some(3)
    );
    assert_eq!(names(&model, "a#MoreNames"), ["member:String"]);
    assert_eq!(names(&model, "a#Full"), ["A:Unit", "B:Unit"]);
    let get = model.get("a#Get").unwrap();
    let errors: Vec<&str> = get
        .as_operation()
        .unwrap()
        .errors()
        .iter()
        .map(|e| e.name())
        .collect();
    assert_eq!(errors, ["Broken", "Missing"]);
    let service = model.get("a#Weather").unwrap().as_service().unwrap();
    assert_eq!((service.version(), service.errors().len()), ("1", 1));
    let closure = model.closure("a#Weather").unwrap();
    let errors: Vec<&str> = closure.errors(get).iter().map(|e| e.id().name()).collect();
    assert_eq!(errors, ["Broken", "Missing"]);
    // The AST holds what each shape adds, not what it inherits.
    let written = ast::write(&model);
    let weather = written.get("shapes").unwrap().get("a#Weather").unwrap();
    assert!(weather.get("version").is_none() && weather.get("errors").is_none());
}

#[test]
fn resources_and_elided_members() {
    let model = model(
        r#"
        resource City {
            identifiers: { cityId: CityId }
            properties: { name: String, size: Integer }
            create: CreateCity
            read: GetCity
            list: ListCities
            operations: [Paint]
            collectionOperations: [Count]
            resources: [Street]
        }
        resource Street { identifiers: { cityId: CityId, streetId: String } }
        string CityId
        operation CreateCity { input := for City { $name = "x"
            $size } output := for City { @required $cityId } }
        @readonly
        operation GetCity { input := for City { @required $cityId } output := for City { $name } }
        @readonly
        operation ListCities {}
        operation Paint { input := for City with [Colored] { @required $cityId, $color } }
        operation Count {}
        @mixin
        structure Colored { color: String }
        apply PaintInput$color @notProperty
        service Map { version: "1", resources: [City] }
        "#,
    );
    assert_eq!(
        names(&model, "a#CreateCityInput"),
        ["name:String", "size:Integer"]
    );
    assert_eq!(names(&model, "a#CreateCityOutput"), ["cityId:CityId"]);
    assert_eq!(
        names(&model, "a#PaintInput"),
        ["color:String", "cityId:CityId"]
    );
    let city = model.get("a#City").unwrap().as_resource().unwrap();
    assert_eq!(city.lifecycle(Lifecycle::Read).unwrap().name(), "GetCity");
    assert!(city.lifecycle(Lifecycle::Delete).is_none());
    let closure = model.closure("a#Map").unwrap();
    let operations: Vec<&str> = closure.operations().iter().map(|o| o.id().name()).collect();
    assert_eq!(
        operations,
        ["CreateCity", "GetCity", "ListCities", "Paint", "Count"]
    );
    let resources: Vec<&str> = closure.resources().iter().map(|r| r.id().name()).collect();
    assert_eq!(resources, ["City", "Street"]);
    let shapes: Vec<&str> = closure.shapes().map(|s| s.id().as_str()).collect();
    assert!(shapes.contains(&"a#CityId") && shapes.contains(&"smithy.api#Integer"));
    assert!(!shapes.contains(&"a#Colored"));
    let neighbors = model.neighbors(model.get("a#City").unwrap());
    let resources = neighbors
        .iter()
        .filter(|(relation, _)| *relation == Relation::Resource);
    assert_eq!(resources.count(), 1);
}

#[test]
fn traits_of_every_form() {
    let model = model(
        r#"
        use b#Nothing
        @trait
        structure note { text: String, level: Integer }
        @trait
        list marks { member: String }
        @trait
        map table { key: String, value: String }
        @note(text: "x", level: 1)
        @marks
        @table()
        @tags(["a"])
        @tags(["b"])
        @idRef(selector: "*")
        string S
        apply S { @sensitive @since("1") }
        @note("text": """
            a
              b
            """)
        string T
        @examples([{ title: "t", input: { a: 1.50, b: [null, true] }, output: {} }])
        operation O { input := { a: Double, b: Document } }
        "#
        .replace("use b#Nothing", "")
        .as_str(),
    );
    let traits = model.get("a#S").unwrap().traits();
    let json = |id: &str| traits.get(id).unwrap().to_json();
    assert_eq!(json("a#note"), r#"{"text":"x","level":1}"#);
    assert_eq!(json("a#marks"), "[]");
    assert_eq!(json("a#table"), "{}");
    assert_eq!(json("smithy.api#tags"), r#"["a","b"]"#);
    assert!(traits.is_sensitive());
    let text = model.get("a#T").unwrap().traits().get("a#note").unwrap();
    assert_eq!(text.get("text").and_then(Node::as_str), Some("a\n  b\n"));
    let examples = model.get("a#O").unwrap().traits().examples();
    assert_eq!(
        examples[0].input.unwrap().to_json(),
        r#"{"a":1.50,"b":[null,true]}"#
    );
}

#[test]
fn shape_ids_in_values_become_absolute() {
    let text = "$version: \"2\"\nmetadata suppressions = [{ id: \"X\", namespace: \"a\" }]\nmetadata suppressions = [{ id: \"Y\", namespace: \"a\" }]\nnamespace a\n\
        use aws.protocols#restJson1\n@httpBasicAuth\n@auth([httpBasicAuth])\nservice S { version: \"1\" }\n\
        @references([{ resource: R, service: S }])\nstructure T { @idRef(selector: \"*\") m: String }\n\
        resource R {}\n@trait\nlist ids { member: String }\n@ids([T, T$m, restJson1, String, a#T])\nstring U\n";
    let assembled = Loader::new().add_text("a.smithy", text).assemble().unwrap();
    assert!(assembled.warnings.is_empty(), "{:?}", assembled.warnings);
    let model = assembled.model;
    let ids = model.get("a#U").unwrap().traits().get("a#ids").unwrap();
    assert_eq!(
        ids.to_json(),
        r#"["a#T","a#T$m","aws.protocols#restJson1","smithy.api#String","a#T"]"#
    );
    assert_eq!(
        model
            .metadata()
            .get("suppressions")
            .unwrap()
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn the_same_definition_twice_is_one() {
    let text =
        "$version: \"2\"\nnamespace a\n@length(min: 1)\nstring S\nstructure T { @required s: S }\n";
    let mut loader = Loader::new();
    loader
        .add_text("one.smithy", text)
        .add_text("two.smithy", text);
    let model = loader.assemble().unwrap().model;
    assert_eq!(model.len(), 2);
    // In another form, too.
    loader.add_text("three.json", ast::write(&model).to_json());
    assert_eq!(loader.assemble().unwrap().model.len(), 2);
}

#[test]
fn commas_comments_and_crlf_are_space() {
    let text = ",,\r\n// c\r\n$version: \"2.0\" // d\r\n,namespace a,\r\nstructure S{,a:String,,b:Integer=1,}\r\n// end";
    let model = Loader::new()
        .add_text("a.smithy", text)
        .assemble()
        .unwrap()
        .model;
    assert_eq!(names(&model, "a#S"), ["a:String", "b:Integer"]);
    assert_eq!(model.get("a#S").unwrap().shape_type(), ShapeType::Structure);
}

#[test]
fn maps_have_their_key_first() {
    let model = model("map M { value: Integer, key: String }");
    assert_eq!(names(&model, "a#M"), ["key:String", "value:Integer"]);
}

#[test]
fn keywords_are_names_like_any_other() {
    let model = model(
        "structure structure {\n    structure: string\n    apply: list\n    with: map\n    true: union\n}\nstring string\nlist list { member: string }\nmap map { key: string, value: string }\nunion union { for: string }",
    );
    assert_eq!(
        names(&model, "a#structure"),
        ["structure:string", "apply:list", "with:map", "true:union"]
    );
}

/// Arrays, lists of ids and enums hold words, which may stand in column 1.
#[test]
fn keywords_are_words_in_brackets_like_any_other() {
    for words in [
        "list\nstring",
        "list string",
        "list, string",
        "structure Foo\nstring Bar",
        "apply\nlist\nFoo",
        "metadata a",
    ] {
        let expected: Vec<&str> = words
            .split([' ', '\n', ','])
            .filter(|w| !w.is_empty())
            .collect();
        let operations: String = expected
            .iter()
            .map(|name| format!("operation {name} {{}}\n"))
            .collect();
        let model = model(&format!(
            "enum E {{\n{words}\n}}\nservice S {{ operations: [\n{words}\n] }}\n{operations}\n\
             operation Last {{ errors: [\nenum\nmap\n] }}\n\
             @error(\"client\") structure enum {{}}\n@error(\"client\") structure map {{}}",
        ));
        let names: Vec<&str> = model
            .get("a#E")
            .unwrap()
            .members()
            .iter()
            .map(|m| m.name())
            .collect();
        assert_eq!(names, expected, "{words}");
        let service = model.get("a#S").unwrap().as_service().unwrap();
        let names: Vec<&str> = service.operations().iter().map(|id| id.name()).collect();
        assert_eq!(names, expected, "{words}");
        let last = model.get("a#Last").unwrap().as_operation().unwrap();
        assert_eq!(last.errors().len(), 2);
    }
    // An enum may also have values, traits and comments between such words.
    let model = model("enum E {\nlist string = \"x\"\n@tags([\"x\"]) structure /// no\nunion }");
    assert_eq!(model.get("a#E").unwrap().members().len(), 4);
}

#[test]
fn bundled_definitions_can_be_extended() {
    let model = model("apply smithy.framework#ValidationException @httpError(422)");
    let shape = model
        .defined("smithy.framework#ValidationException")
        .unwrap();
    assert_eq!(shape.traits().http_error(), Some(422));
    assert!(model.is_bundled("aws.protocols#restJson1"));
}

#[test]
fn a_doc_comment_behind_a_statement_documents_nothing() {
    let model = model(
        "string A /// of A\nstring B /// of B\n/// C\nstring C\nenum E {\n ONE = \"1\" /// one\n \
         TWO = \"2\" /// two\n /// Three\n THREE = \"3\"\n}\n/// of none\napply A @sensitive\n\
         structure S {\n a: String /// b\n b: String\n}",
    );
    let docs = |id: &str| model.get(id).unwrap().traits().documentation();
    assert_eq!([docs("a#A"), docs("a#B")], [None, None]);
    assert_eq!(docs("a#C"), Some("C"));
    let member = |id: &str, name: &str| {
        let member = model.get(id).unwrap().member(name).unwrap();
        member.traits().documentation().map(str::to_owned)
    };
    assert_eq!([member("a#E", "ONE"), member("a#E", "TWO")], [None, None]);
    assert_eq!(member("a#E", "THREE").as_deref(), Some("Three"));
    // No line break has to follow a member without a value.
    assert_eq!(member("a#S", "b").as_deref(), Some("b"));
}
