//! Reports of storms.

use super::*;

fn point(at: &str, latitude: f64) -> Value {
    map([
        ("at", instant(at)),
        (
            "position",
            map([("latitude", latitude.into()), ("longitude", 7.0.into())]),
        ),
    ])
}

/// A report without a fault.
fn report() -> Map {
    let track = vec![
        point("2026-11-01T10:00:00Z", 58.0),
        point("2026-11-01T12:00:00Z", 59.5),
    ];
    Map::from_iter([
        ("name", Value::from("Ylva")),
        ("severity", 3.into()),
        ("track", track.into()),
        ("affectedCities", list(["oslo"])),
        ("attachment", vec![1_u8, 2, 3].into()),
    ])
}

async fn reported(fixture: &Fixture, wire: ProtocolKind, input: Map) -> Value {
    fixture.call_over(wire, "ReportStorm", input).await.unwrap()["stormId"].clone()
}

#[tokio::test]
async fn storms_are_counted() {
    let fixture = &Fixture::new().await;
    for (wire, id) in WIRES
        .into_iter()
        .zip(["storm-2026-1", "storm-2026-2", "storm-2026-3"])
    {
        let mut input = report();
        input.insert("clientToken", id);
        assert_eq!(reported(fixture, wire, input.clone()).await, id.into());
        // The same report again is the same storm.
        for wire in WIRES {
            assert_eq!(reported(fixture, wire, input.clone()).await, id.into());
        }
    }
    // Without a token each report counts.
    for id in ["storm-2026-4", "storm-2026-5"] {
        let id = Value::from(id);
        assert_eq!(reported(fixture, ProtocolKind::XmlRpc, report()).await, id);
    }
    let year = [("cityId", "oslo".into()), ("year", 2026.into())];
    let answer = fixture.call("GetStatistics", year).await.unwrap();
    assert_eq!(answer["notes"]["storms"].as_list().unwrap().len(), 5);
    let newest = map([
        ("stormId", "storm-2026-5".into()),
        ("name", "Ylva".into()),
        ("severity", 3.into()),
    ]);
    assert_eq!(answer["notes"]["storms"][0], newest);
    let year = [("cityId", "kyoto".into()), ("year", 2026.into())];
    let answer = fixture.call("GetStatistics", year).await.unwrap();
    assert_eq!(answer["notes"]["storms"], list([]));
}

#[tokio::test]
async fn accepted_reports_stay_accepted() {
    let fixture = &Fixture::new().await;
    let mut input = report();
    input.insert("clientToken", "t");
    let first = reported(fixture, ProtocolKind::RestJson1, input.clone()).await;
    let oslo = [("cityId", "oslo".into())];
    fixture.call("DeleteCity", oslo).await.unwrap();
    let again = reported(fixture, ProtocolKind::RestJson1, input).await;
    assert_eq!(first, again);
}

#[tokio::test]
async fn invalid_reports_list_problems() {
    let fixture = &Fixture::new().await;
    let mut known = report();
    known.insert("clientToken", "known");
    reported(fixture, ProtocolKind::RestJson1, known).await;

    let backwards = vec![
        point("2026-11-01T12:00:00Z", 58.0),
        point("2026-11-01T10:00:00Z", 59.5),
    ];
    let wrong: [(&str, Value, &str); 11] = [
        ("name", "".into(), "expected 1 to 64 characters"),
        ("name", "x".repeat(65).into(), "expected 1 to 64 characters"),
        ("name", "Other".into(), ""),
        (
            "severity",
            0.into(),
            "Member must satisfy enum value set: [1, 2, 3]",
        ),
        ("track", list([]), "at least one point is needed"),
        (
            "track",
            backwards.into(),
            "the points are not in chronological order",
        ),
        (
            "track",
            vec![point("2026-11-01T12:00:00Z", 90.5)].into(),
            "Member must be between -90 and 90",
        ),
        (
            "track",
            vec![point("2026-11-01T12:00:00Z", f64::NAN)].into(),
            "Member must be between -90 and 90",
        ),
        (
            "affectedCities",
            list(["atlantis"]),
            "there is no city \"atlantis\"",
        ),
        (
            "affectedCities",
            list(["oslo", "kyoto", "oslo"]),
            "Member must have unique values",
        ),
        (
            "clientToken",
            "x".repeat(129).into(),
            "expected at most 128 bytes",
        ),
    ];
    for (member, value, problem) in wrong {
        let mut input = report();
        input.insert(member, value.clone());
        let (member, problem) = if problem.is_empty() {
            input.insert("clientToken", "known");
            ("clientToken", "already used with a different report")
        } else {
            (member, problem)
        };
        for wire in WIRES {
            let answer = fixture.call_over(wire, "ReportStorm", input.clone());
            if problem.starts_with("Member must") {
                // The model's own constraints come before the handler.
                let path = match member {
                    "track" => "/track/0/position/latitude".to_owned(),
                    member => format!("/{member}"),
                };
                assert_refused(answer.await, &path, problem);
                continue;
            }
            let fault = answer.await.unwrap_err();
            assert_eq!(fault.shape(), "example.weather#InvalidReport", "{fault}");
            let problems = map([(member, problem.into())]);
            assert_eq!(
                fault.details().get("problems"),
                Some(&problems),
                "{member} over {wire}"
            );
        }
    }
    // None of them was counted, nor has used up a token.
    let next = reported(fixture, ProtocolKind::RestJson1, report()).await;
    assert_eq!(next, "storm-2026-2".into());
}

#[tokio::test]
async fn all_that_is_wrong_is_told_at_once() {
    let fixture = &Fixture::new().await;
    let input = [
        ("name", "".into()),
        ("severity", 3.into()),
        ("track", list([])),
        ("affectedCities", list(["atlantis"])),
    ];
    let fault = fixture.call("ReportStorm", input).await.unwrap_err();
    assert_eq!(fault.message(), "the report has nothing to go by");
    let problems = fault
        .details()
        .get("problems")
        .and_then(Value::as_map)
        .unwrap();
    let members: Vec<&str> = problems.keys().collect();
    assert_eq!(members, ["name", "track", "affectedCities"]);
}
