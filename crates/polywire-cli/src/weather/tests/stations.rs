//! Tests of stations, images and observations.

use super::*;

async fn found<const N: usize>(
    fixture: &Fixture,
    input: [(&'static str, Value); N],
) -> Vec<String> {
    let mut input = Map::from_iter(input);
    if !input.contains_key("text") {
        // Every identifier has one.
        input.insert("text", "-");
    }
    let mut answers = Vec::new();
    for wire in WIRES {
        let answer = fixture.call_over(wire, "SearchStations", input.clone());
        let answer = answer.await.unwrap();
        assert_eq!(answer["searched"], 3.into());
        let stations = answer["stations"].as_list().unwrap().iter();
        let ids = stations.map(|station| station["stationId"].as_str().unwrap().to_owned());
        answers.push(ids.collect::<Vec<_>>());
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
    answers.remove(0)
}

const KYOTO: &str = "kyoto-nakagyo";
const OSLO: &str = "oslo-blindern";
const QUITO: &str = "quito-inaquito";

#[tokio::test]
async fn stations_by_their_members() {
    let fixture = &Fixture::new().await;
    assert_eq!(found(fixture, []).await, [KYOTO, OSLO, QUITO]);
    assert_eq!(found(fixture, [("text", "BLINDern".into())]).await, [OSLO]);
    assert_eq!(found(fixture, [("text", "京都".into())]).await, [KYOTO]);
    assert_eq!(found(fixture, [("text", "ñaq".into())]).await, [QUITO]);
    let automatic = list(["automatic", "ship"]);
    assert_eq!(found(fixture, [("kinds", automatic)]).await, [KYOTO, QUITO]);
    assert_eq!(found(fixture, [("kinds", list(["ship"]))]).await, [""; 0]);
    assert_eq!(
        found(fixture, [("minElevation", 94.into())]).await,
        [OSLO, QUITO]
    );
    assert_eq!(found(fixture, [("active", false.into())]).await, [QUITO]);
    assert_eq!(found(fixture, [("maxLatitude", 0.5.into())]).await, [QUITO]);
    let since = [("since", instant("2026-11-01T00:00:00Z"))];
    assert_eq!(found(fixture, since).await, [KYOTO, OSLO]);
}

#[tokio::test]
async fn stations_by_conditions() {
    let fixture = &Fixture::new().await;
    let condition = |name, values| [("parameters", map([(name, values)]))];
    let wind = condition("sensor", list(["wind"]));
    assert_eq!(found(fixture, wind).await, [OSLO, QUITO]);
    let both = condition("sensor", list(["wind", "snow"]));
    assert_eq!(found(fixture, both).await, [OSLO]);
    assert_eq!(
        found(fixture, condition("owner", list(["jma"]))).await,
        [KYOTO]
    );
    assert_eq!(
        found(fixture, condition("altar", list(["jma"]))).await,
        [""; 0]
    );
}

#[tokio::test]
async fn names_come_in_the_best_language() {
    let fixture = &Fixture::new().await;
    for (languages, name) in [
        (list(["ja", "en"]), "京都中京"),
        (list(["sv", "JA"]), "京都中京"),
        (list(["sv"]), "Kyoto Nakagyō"),
        (list([]), "Kyoto Nakagyō"),
    ] {
        let input = [("text", "kyoto".into()), ("languages", languages)];
        let answer = fixture.call("SearchStations", input).await.unwrap();
        assert_eq!(answer["stations"][0]["name"], name.into());
    }
}

#[tokio::test]
async fn search_requires_a_text() {
    let fixture = &Fixture::new().await;
    for text in [String::new(), "x".repeat(201)] {
        let answer = fixture.call("SearchStations", [("text", text.into())]);
        assert_refused(answer.await, "/text", "length between 1 and 200");
    }
}

#[tokio::test]
async fn pictures_over_every_wire() {
    let fixture = &Fixture::new().await;
    let mut pictures = Vec::new();
    for wire in WIRES {
        let input = Map::from_iter([("stationId", KYOTO)]);
        let answer = fixture.call_over(wire, "GetStationImage", input);
        pictures.push(answer.await.unwrap());
    }
    assert_eq!(pictures[0], pictures[1]);
    assert_eq!(pictures[0], pictures[2]);
    assert_eq!(pictures[0]["width"], 16.into());
    assert_eq!(pictures[0]["metadata"]["camera"], "roof".into());
    let image = pictures[0]["image"].as_blob().unwrap();
    assert!(image.starts_with(b"\x89PNG\r\n\x1a\n"));

    let head = fixture.head("GetStationImage", [("stationId", OSLO.into())]);
    let head = head.await;
    assert_eq!(head.header("content-type"), "image/png");
    assert_eq!(head.header("x-image-width"), "1");
    assert_eq!(head.header("x-meta-exposure"), "1/250");
    assert_eq!(
        head.header("last-modified"),
        "Sun, 01 Nov 2026 11:45:00 GMT"
    );
}

#[tokio::test]
async fn pictures_that_the_caller_has_already() {
    let fixture = &Fixture::new().await;
    for (since, is_new) in [
        ("2026-11-01T11:44:59Z", true),
        ("2026-11-01T11:45:00Z", false),
        ("2026-11-01T12:00:00Z", false),
    ] {
        let input = [
            ("stationId", OSLO.into()),
            ("ifModifiedSince", instant(since)),
        ];
        let answer = fixture.call("GetStationImage", input).await;
        if is_new {
            assert!(answer.is_ok());
        } else {
            assert_no_such(answer, "station", OSLO);
        }
    }
}

fn observation(token: Option<&str>, reading: Value) -> Map {
    let mut input = Map::from_iter([
        ("stationId", Value::from(QUITO)),
        ("observedAt", instant("2026-11-01T11:59:00Z")),
        ("reading", reading),
        ("quality", 2.into()),
    ]);
    if let Some(token) = token {
        input.insert("clientToken", token);
    }
    input
}

#[tokio::test]
async fn every_kind_of_reading() {
    let fixture = &Fixture::new().await;
    let decimal = "12.340".parse().map(Value::BigDecimal).unwrap();
    let wind = map([("speed", 3.5.into()), ("direction", 359.into())]);
    let readings = [
        ("temperature", (-1.5_f32).into()),
        ("pressure", 1013.25.into()),
        ("humidity", 100.into()),
        ("rainfall", decimal),
        ("wind", wind),
        ("sky", "thunder".into()),
        ("raw", vec![0_u8, 255, 10].into()),
        ("asleep", map([])),
    ];
    let mut filed = 0;
    for (name, value) in readings {
        for wire in WIRES {
            let reading = map([(name, value.clone())]);
            let input = observation(None, reading.clone());
            let answer = fixture.call_over(wire, "PutObservation", input);
            let answer = answer.await.unwrap();
            filed += 1;
            assert_eq!(answer["reading"], reading, "{name} over {wire}");
            assert_eq!(answer["status"], 201.into());
            assert_eq!(
                answer["observationId"],
                (20_261_101_000_000_i64 + filed).into()
            );
        }
    }
}

#[tokio::test]
async fn repeated_observation() {
    let fixture = &Fixture::new().await;
    let cold = || map([("temperature", (-3.0_f32).into())]);
    let mut statuses = Vec::new();
    // A token identifies the same call with every protocol.
    for wire in WIRES {
        let input = observation(Some("once"), cold());
        let answer = fixture.call_over(wire, "PutObservation", input);
        let answer = answer.await.unwrap();
        assert_eq!(answer["observationId"], 20_261_101_000_001_i64.into());
        assert_eq!(answer["reading"], cold());
        statuses.push(answer["status"].as_i64().unwrap());
    }
    assert_eq!(statuses, [201, 200, 200]);

    let warm = map([("temperature", 3.0_f32.into())]);
    for wire in WIRES {
        let input = observation(Some("once"), warm.clone());
        let answer = fixture.call_over(wire, "PutObservation", input);
        assert_invalid(answer.await, "clientToken: expected a new token");
    }
    let input = observation(Some(&"x".repeat(129)), warm);
    let answer = fixture.call_over(ProtocolKind::RpcV2Cbor, "PutObservation", input);
    assert_invalid(answer.await, "clientToken: expected a token of at most 128");
}

#[tokio::test]
async fn invalid_observation() {
    let fixture = &Fixture::new().await;
    let mut input = observation(None, map([("humidity", 1.into())]));
    input.insert("quality", 4);
    let answer = fixture.call_over(ProtocolKind::XmlRpc, "PutObservation", input);
    assert_refused(answer.await, "/quality", "[1, 2, 3]");

    let mut input = observation(None, map([("humidity", 1.into())]));
    input.insert("observedAt", Timestamp::new(1 << 50, 0));
    let answer = fixture.call_over(ProtocolKind::RpcV2Cbor, "PutObservation", input);
    assert_invalid(answer.await, "observedAt: expected a time in");
}

#[tokio::test]
async fn stored_observations_are_visible() {
    let fixture = &Fixture::new().await;
    let since = || [("since", instant("2026-11-01T11:50:00Z"))];
    assert_eq!(found(fixture, since()).await, [""; 0]);
    let year = || [("cityId", "quito".into()), ("year", 2026.into())];
    let before = fixture.call("GetStatistics", year()).await.unwrap();
    assert_eq!(before["rainfallByMonth"]["2026-12"], Value::Null);
    assert_eq!(before["notes"]["latest"], list([]));

    let input = observation(None, map([("humidity", 50.into())]));
    let answer = fixture.call_over(ProtocolKind::RestJson1, "PutObservation", input);
    answer.await.unwrap();
    assert_eq!(found(fixture, since()).await, [QUITO]);
    let after = fixture.call("GetStatistics", year()).await.unwrap();
    let count = |answer: &Value| answer["observations"].as_i64().unwrap();
    assert_eq!(count(&after), count(&before) + 1);
    let latest = map([
        ("observationId", 20_261_101_000_001_i64.into()),
        ("stationId", QUITO.into()),
        ("observedAt", "2026-11-01T11:59:00Z".into()),
    ]);
    assert_eq!(after["notes"]["latest"], vec![latest].into());
}
